import {
  clientMismatches,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  objectOr,
  requiredOf,
  typesOf,
} from 'market-mcp-contract/json';
import { schemaOfValues } from './infer.ts';

/**
 * A schema that also accepts a value, changed only where it rejects it: types are added, and members that are missing in the
 * value are no longer required. References and `allOf` stay as they are.
 */
export function widened(schema: JsonObject, value: Json): JsonObject {
  if (schema.$ref !== undefined) return schema;
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: alternatives(schema.anyOf, value) };
  const own = withType(schema, value);
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    return isObject(own.items) ? { ...own, items: items.reduce(widened, own.items) } : own;
  }
  return isObject(value) ? withMembers(own, value) : withValue(own, value);
}

function withType(schema: JsonObject, value: Json): JsonObject {
  const types = typesOf(schema);
  if (types.length === 0 || types.some((type) => isOfType(value, type))) return schema;
  const { type: seen = 'null', ...inferred } = schemaOfValues([value]);
  // Each number is one of these, also a whole one.
  const others = seen === 'number' ? types.filter((type) => type !== 'integer') : types;
  const all = [...new Set([...others, seen].flat())] as readonly string[];
  return { ...inferred, ...schema, type: all.length === 1 ? (all[0] ?? 'null') : all };
}

function isOfType(value: Json, type: Json): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  return type === 'object' ? isObject(value) : typeof value === type;
}

function withMembers(schema: JsonObject, value: JsonObject): JsonObject {
  const properties = membersOf(schema);
  const further = schema.additionalProperties;
  const names = Object.keys(value);
  const changed = Object.entries(properties).map(([name, member]) => {
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    return [name, own === undefined ? member : widened(objectOr(member), own)];
  });
  const others = names.filter((name) => !Object.hasOwn(properties, name));
  return {
    ...schema,
    ...(changed.length > 0 && { properties: Object.fromEntries(changed) }),
    ...(schema.required !== undefined && {
      required: requiredOf(schema).filter((name) => Object.hasOwn(value, name)),
    }),
    ...(isObject(further) && {
      additionalProperties: others.map((name) => value[name] ?? null).reduce(widened, further),
    }),
  };
}

function withValue(schema: JsonObject, value: Json): JsonObject {
  const { enum: listed, const: only, ...others } = schema;
  const allowed = Array.isArray(listed) ? (listed as readonly Json[]) : only === undefined ? null : [only];
  return allowed === null || allowed.includes(value) ? schema : { ...others, enum: [...allowed, value] };
}

/** The alternatives, of which one accepts the value: the one of its kind is widened, else there is a further one. */
function alternatives(given: readonly Json[], value: Json): readonly JsonObject[] {
  const all = given.map((one) => objectOr(one));
  if (all.some((one) => clientMismatches(one, value, '').length === 0)) return all;
  const near = all.findIndex((one) => typesOf(one).some((type) => isOfType(value, type)));
  return near < 0 ? [...all, schemaOfValues([value])] : all.with(near, widened(all[near] ?? {}, value));
}
