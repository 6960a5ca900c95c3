import { signals } from 'market-mcp-contract/definition';
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
import { parseFieldName } from '../model/names.ts';
import { blankTextTypes, schemaOfValues } from './infer.ts';

/**
 * A schema that also accepts a value, changed only where it rejects it: types are added, and members that are missing in the
 * value are no longer required. References and `allOf` stay unchanged.
 */
export function widened(schema: JsonObject, value: Json): JsonObject {
  return admitting(schema, [value], false);
}

/** A schema that also accepts each of these values, as `widened`, and declares their members. Maps and free objects stay unchanged. */
export function extended(schema: JsonObject, values: readonly Json[]): JsonObject {
  return admitting(schema, values, true);
}

function admitting(schema: JsonObject, values: readonly Json[], declares: boolean): JsonObject {
  if (schema.$ref !== undefined) return schema;
  if (declares && isOpen(schema)) return narrowed(schema, values);
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: values.reduce(alternatives, schema.anyOf) };
  const typedSchema = values.reduce(withType, schema);
  const items = values.flatMap((value) => (Array.isArray(value) ? (value as readonly Json[]) : []));
  const scalars = values.filter((value) => typeof value !== 'object' || value === null);
  const widenedSchema = widenMembers(
    scalars.reduce(widenEnum, typedSchema),
    values.filter(isObject),
    declares,
  );
  if (isObject(typedSchema.items))
    return { ...widenedSchema, items: admitting(typedSchema.items, items, declares) };
  return widenedSchema;
}

/** Returns whether a schema describes a member that was an empty text in every response. */
function isOpen({ type, properties, items, additionalProperties }: JsonObject): boolean {
  const types: readonly Json[] = [type ?? []].flat();
  return (
    blankTextTypes.every((openType) => types.includes(openType)) &&
    !properties &&
    !items &&
    !additionalProperties
  );
}

/** The schema of a member that was an empty text, and is one of these values now. */
function narrowed(schema: JsonObject, values: readonly Json[]): JsonObject {
  if (values.every((value) => value === '' || value === null)) return schema;
  const { type: _, ...keywords } = schema;
  const { type = null, ...inferred } = schemaOfValues(['', ...values]);
  return { ...inferred, ...keywords, type: [...new Set([type, 'null'].flat())] as readonly string[] };
}

function withType(schema: JsonObject, value: Json): JsonObject {
  const types = typesOf(schema);
  if (types.length === 0 || types.some((type) => hasJsonType(value, type))) return schema;
  const { type: inferredType = 'null', ...inferred } = schemaOfValues([value]);
  // Each number is one of these, also a whole one.
  const otherTypes = inferredType === 'number' ? types.filter((type) => type !== 'integer') : types;
  const allTypes = [...new Set([...otherTypes, inferredType].flat())] as readonly string[];
  return { ...inferred, ...schema, type: allTypes.length === 1 ? (allTypes[0] ?? 'null') : allTypes };
}

function hasJsonType(value: Json, type: Json): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'object') return isObject(value);
  return typeof value === type;
}

function widenMembers(schema: JsonObject, objects: readonly JsonObject[], declares: boolean): JsonObject {
  if (objects.length === 0) return schema;
  const properties = membersOf(schema);
  const mapSchema = schema.additionalProperties;
  const valuesOf = (name: string) =>
    objects.filter((object) => Object.hasOwn(object, name)).map((object) => object[name] as Json);
  const changed = Object.entries(properties).map(([name, member]) => [
    name,
    valuesOf(name).length === 0 ? member : admitting(objectOr(member), valuesOf(name), declares),
  ]);
  const otherMembers = objects
    .flatMap(Object.entries<Json>)
    .filter(([name]) => !Object.hasOwn(properties, name));
  const isRecord = declares && changed.length > 0 && (mapSchema === undefined || mapSchema === true);
  const fresh = [...new Set(otherMembers.map(([name]) => name))].filter(
    (name) => isRecord && !Object.hasOwn(signals, name) && parseFieldName(name, '').ok,
  );
  const added = fresh.map((name) => [name, schemaOfValues(valuesOf(name), { name })]);
  return {
    ...schema,
    ...(changed.length > 0 && { properties: Object.fromEntries([...changed, ...added]) }),
    ...(schema.required !== undefined && {
      required: requiredOf(schema).filter((name) => objects.every((object) => Object.hasOwn(object, name))),
    }),
    ...(isObject(mapSchema) && {
      additionalProperties: admitting(
        mapSchema,
        otherMembers.map(([, value]) => value),
        declares,
      ),
    }),
  };
}

/** A schema without its list of values if a value is not in it: the next answer may have another one. Null is added to the list. */
function widenEnum(schema: JsonObject, value: Json): JsonObject {
  const { enum: listed, const: only, ...keywords } = schema;
  if (listed === undefined && only === undefined) return schema;
  const values = (only === undefined ? listed : [only]) as readonly Json[];
  if (values.includes(value)) return schema;
  if (value === null) return { ...keywords, enum: [...values, null] };
  if (schema.type === undefined) return { ...schemaOfValues([...values, value]), ...keywords };
  return keywords;
}

/** The alternatives, of which one accepts the value: the one of its kind is widened, else there is a further one. */
function alternatives(variants: readonly Json[], value: Json): readonly Json[] {
  const schemas = variants.map((schema) => objectOr(schema));
  if (schemas.some((schema) => clientMismatches(schema, value, '').length === 0)) return schemas;
  const near = schemas.findIndex((schema) => typesOf(schema).some((type) => hasJsonType(value, type)));
  if (near < 0) return [...schemas, schemaOfValues([value])];
  return schemas.with(near, widened(schemas[near] ?? {}, value));
}
