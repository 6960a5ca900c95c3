import { isObject } from '../../contract/json.ts';
import type { Json, JsonObject } from '../../contract/model.ts';

/** A schema that also accepts null. */
export function nullable(schema: JsonObject): JsonObject {
  if (isNullable(schema)) return schema;
  const types = [schema.type ?? []].flat() as readonly string[];
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
  if (Array.isArray(anyOf)) return anyOf.some((one) => isObject(one) && one.type === 'null');
  return [type ?? []].flat().includes('null');
}

/**
 * Combines alternatives into one schema. Objects become one object that requires what all of them
 * require; scalars become a list of types. Alternatives that cannot be combined stay in `anyOf` for an output; an input
 * takes the first object, or the first alternative.
 */
export function unionOf(variants: readonly JsonObject[], side: 'input' | 'output'): JsonObject {
  const isEmpty = variants.some(isOnlyNull);
  const real = distinct(variants.filter((variant) => !isOnlyNull(variant)));
  const [first = {}] = real;
  const merged =
    real.length < 2
      ? first
      : real.every(isObjectSchema)
        ? unitedObjects(real, side)
        : real.every(isArraySchema)
          ? { ...first, items: unionOf(real.map(itemsOf), side) }
          : real.every(isScalar)
            ? unitedScalars(real)
            : side === 'output'
              ? sideBySide(real)
              : (real.find(isObjectSchema) ?? first);
  return isEmpty ? nullable(merged) : merged;
}

function unitedObjects(variants: readonly JsonObject[], side: 'input' | 'output'): JsonObject {
  const members = variants.map(({ properties }) => (isObject(properties) ? properties : {}));
  const names = [...new Set(members.flatMap((one) => Object.keys(one)))];
  const properties = names.map((name) => {
    const versions = members.flatMap((one) => (Object.hasOwn(one, name) ? [one[name] as JsonObject] : []));
    return [name, unionOf(versions, side)];
  });
  const required = names.filter((name) =>
    variants.every((variant) => Array.isArray(variant.required) && variant.required.includes(name)),
  );
  const { description: _, ...rest } = variants[0] ?? {};
  return {
    ...rest,
    type: variants.some(isNullable) && side === 'output' ? ['object', 'null'] : 'object',
    ...(names.length > 0 && { properties: Object.fromEntries(properties), required }),
  };
}

function unitedScalars(variants: readonly JsonObject[]): JsonObject {
  const types = [...new Set(variants.flatMap(({ type }) => [type ?? []].flat()))];
  const lists = variants.map((variant) => variant.enum);
  const values = lists.every((list) => Array.isArray(list)) ? [...new Set(lists.flat() as Json[])] : [];
  const described = variants.find(({ description }) => description !== undefined);
  return {
    ...(types.length > 0 && { type: types.length === 1 ? (types[0] as string) : (types as string[]) }),
    ...(described && { description: described.description as string }),
    ...(values.length > 0 && { enum: values }),
  };
}

function sideBySide(variants: readonly JsonObject[]): JsonObject {
  // A schema without a type accepts anything, and so does the union.
  return variants.some((variant) => variant.type === undefined && variant.anyOf === undefined)
    ? {}
    : { anyOf: variants.flatMap((variant) => (Array.isArray(variant.anyOf) ? variant.anyOf : [variant])) };
}

function itemsOf({ items }: JsonObject): JsonObject {
  return isObject(items) ? items : {};
}

function isOnlyNull({ type, enum: values }: JsonObject): boolean {
  return (
    type === 'null' ||
    (Array.isArray(type) && type.every((one) => one === 'null') && type.length > 0) ||
    (Array.isArray(values) && values.length > 0 && values.every((value) => value === null))
  );
}

function isObjectSchema({ type, anyOf }: JsonObject): boolean {
  return anyOf === undefined && only(type) === 'object';
}

function isArraySchema({ type, anyOf }: JsonObject): boolean {
  return anyOf === undefined && only(type) === 'array';
}

function isScalar({ type, anyOf }: JsonObject): boolean {
  const types = [type ?? []].flat() as readonly string[];
  return anyOf === undefined && types.length > 0 && !types.some((one) => one === 'object' || one === 'array');
}

/** The only type besides null. */
function only(type: Json | undefined): unknown {
  const types = [type ?? []].flat().filter((one) => one !== 'null');
  return types.length === 1 ? types[0] : undefined;
}

function distinct(schemas: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}
