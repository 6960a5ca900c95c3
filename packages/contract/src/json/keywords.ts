import { isObject } from './json.ts';
import type { Json, JsonObject } from './value.ts';

/** The types that a schema names; `nullable: true` counts as `null`. Empty if it names none. */
export function typesOf(schema: JsonObject): readonly Json[] {
  const types = asList(schema.type);
  if (schema.nullable === true && !types.includes('null')) return [...types, 'null'];
  return types;
}

function asList(type: Json | undefined): readonly Json[] {
  if (type === undefined) return [];
  return Array.isArray(type) ? type : [type];
}

/** The value of `properties`; empty if there is none. */
export function membersOf(schema: unknown): JsonObject {
  if (isObject(schema) && isObject(schema.properties)) return schema.properties;
  return {};
}

/** The members of `properties` that are schemas, as [name, schema]. */
export function propertiesOf(schema: unknown): readonly (readonly [string, JsonObject])[] {
  return Object.entries(membersOf(schema)).filter((entry): entry is [string, JsonObject] =>
    isObject(entry[1]),
  );
}

/** The names in `required`. */
export function requiredOf(schema: unknown): readonly string[] {
  if (isObject(schema) && Array.isArray(schema.required))
    return schema.required.filter((name): name is string => typeof name === 'string');
  return [];
}

/** A name for a schema that is examined separately; no other property has it. */
export const aloneName = '\0alone';

/** A schema for `{ [name]: value }`: one property, with the parts of its root that it may refer to. */
export function propertyAlone(root: JsonObject, name: string, property: Json): JsonObject {
  const { definitions, $defs } = root;
  const refersToOthers = JSON.stringify([property, definitions, $defs]).includes('"#/properties/');
  const siblingProperties = refersToOthers ? propertiesOf(root) : [];
  return {
    type: 'object',
    properties: Object.fromEntries([...siblingProperties, [name, property]]),
    ...(definitions !== undefined && { definitions }),
    ...($defs !== undefined && { $defs }),
  };
}
