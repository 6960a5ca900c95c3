import { isObject, type JsonObject, objectOr, requiredOf, typesOf } from 'market-mcp-contract/json';

/** A parameter, or a field of the answer. */
export interface FieldMember {
  readonly name: string;
  /** `string`, `number|null`, `object[]` */
  readonly type: string;
  readonly required: boolean;
  readonly description: string | null;
}

/** The properties of an object schema, without their members. */
export function fieldMembers(root: JsonObject): readonly FieldMember[] {
  return Object.entries(objectOr(root.properties)).map(([name, property]) => {
    const schema = objectOr(property);
    const { description } = schema;
    return {
      name,
      type: typeOf(schema),
      required: requiredOf(root).includes(name),
      description: typeof description === 'string' ? description : null,
    };
  });
}

function typeOf(schema: JsonObject): string {
  const types = typesOf(schema).map((type) => {
    if (type !== 'array' || !isObject(schema.items)) return String(type);
    return `${typeOf(schema.items)}[]`;
  });
  return types.length === 0 ? 'any' : types.join('|');
}
