import {
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  objectOr,
  requiredOf,
  typesOf,
} from 'market-mcp-contract/json';
import { isContainerType, withKnownValues } from './openapi-keywords.ts';

/** A schema that also accepts null. */
export function nullable(schema: JsonObject): JsonObject {
  if (isNullable(schema)) return schema;
  const types = typesOf(schema);
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  // A schema without a type accepts null already.
  if (types.length === 0) return schema;
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
  };
}

export function isNullable({ type, anyOf }: JsonObject): boolean {
  if (Array.isArray(anyOf)) return anyOf.some((variant) => isObject(variant) && variant.type === 'null');
  return [type ?? []].flat().includes('null');
}

/**
 * Combines alternatives into one schema. Objects become one object that requires what all of them
 * require; scalars become a list of types. Alternatives that cannot be combined stay in `anyOf` for an output; an input
 * takes the first object, or the first alternative.
 */
export function unionOf(variants: readonly JsonObject[], side: 'input' | 'output'): JsonObject {
  const isEmpty = variants.some(isOnlyNull);
  const otherVariants = variants.filter((variant) => !isOnlyNull(variant));
  const real = [...new Map(otherVariants.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [first = {}] = real;
  const united = (): JsonObject => {
    if (real.length < 2) return first;
    if (real.every(isObjectSchema)) return unitedObjects(real, side);
    if (real.every((schema) => hasOneType('array', schema)))
      return {
        ...first,
        items: unionOf(
          real.map(({ items }) => objectOr(items)),
          side,
        ),
      };
    if (real.every(isScalarSchema)) return unitedScalars(real);
    if (side === 'output') return sideBySide(real);
    return real.find(isObjectSchema) ?? first;
  };
  return isEmpty ? nullable(united()) : united();
}

function unitedObjects(variants: readonly JsonObject[], side: 'input' | 'output'): JsonObject {
  const members = variants.map(membersOf);
  const names = [...new Set(members.flatMap((properties) => Object.keys(properties)))];
  const properties = names.map((name) => {
    const versions = members
      .filter((properties) => Object.hasOwn(properties, name))
      .map((properties) => properties[name] as JsonObject);
    return [name, unionOf(versions, side)];
  });
  const required = names.filter((name) => variants.every((variant) => requiredOf(variant).includes(name)));
  const { description: _, ...rest } = variants[0] ?? {};
  return {
    ...rest,
    type: variants.some(isNullable) && side === 'output' ? ['object', 'null'] : 'object',
    ...(names.length > 0 && { properties: Object.fromEntries(properties), required }),
  };
}

function unitedScalars(variants: readonly JsonObject[]): JsonObject {
  const types = [...new Set(variants.flatMap(({ type }) => [type ?? []].flat()))];
  const lists = variants
    .filter((variant) => Array.isArray(variant.enum))
    .map((variant) => variant.enum as Json[]);
  const values = [...new Set(lists.flat())];
  const isClosed = lists.length === variants.length;
  const described = variants.find(({ description }) => description !== undefined);
  const united = {
    ...(types.length > 0 && { type: types.length === 1 ? (types[0] as string) : (types as string[]) }),
    ...(described && { description: described.description as string }),
    ...(isClosed && { enum: values }),
  };
  if (isClosed) return united;
  return withKnownValues({ type: united.type ?? null, enum: values }, united);
}

function sideBySide(variants: readonly JsonObject[]): JsonObject {
  // A schema without a type accepts anything, and so does the union.
  if (variants.some((variant) => variant.type === undefined && variant.anyOf === undefined)) return {};
  return { anyOf: variants.flatMap((variant) => (Array.isArray(variant.anyOf) ? variant.anyOf : [variant])) };
}

function isOnlyNull({ type, enum: values }: JsonObject): boolean {
  return (
    type === 'null' ||
    (Array.isArray(type) && type.every((name) => name === 'null') && type.length > 0) ||
    (Array.isArray(values) && values.length > 0 && values.every((value) => value === null))
  );
}

function isObjectSchema(schema: JsonObject): boolean {
  return hasOneType('object', schema);
}

/** Whether a schema has one type besides null. */
function hasOneType(typeName: string, schema: JsonObject): boolean {
  const types = typesOf(schema).filter((type) => type !== 'null');
  return schema.anyOf === undefined && types.length === 1 && types[0] === typeName;
}

function isScalarSchema(schema: JsonObject): boolean {
  const types = typesOf(schema);
  return (
    schema.anyOf === undefined && types.length > 0 && !types.some((type) => isContainerType(String(type)))
  );
}
