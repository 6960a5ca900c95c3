import { type ObjectSchema, signals } from '../server/define-tool.ts';
import { isObject, type Members } from '../server/schema.ts';

/**
 * A value without the members that its schema does not declare, at any depth. Maps (`additionalProperties`), and objects and
 * lists that the schema does not describe, are kept whole. The signals of an empty result or a failure are never a source's.
 */
export function declared(value: unknown, schema: ObjectSchema): unknown {
  return reduced(value, [withoutSignals(schema)]);
}

/** A schema without the signals of an empty result or a failure, as far as they are the standard ones. */
export function withoutSignals(schema: ObjectSchema): Members {
  const known: Members = signals;
  const own = Object.entries(schema.properties).filter(
    ([name, member]) => !Object.hasOwn(known, name) || JSON.stringify(member) !== JSON.stringify(known[name]),
  );
  return { ...schema, properties: Object.fromEntries(own) };
}

/** A value with the members that at least one of the schemas declares. */
function reduced(value: unknown, schemas: readonly Members[]): unknown {
  const parts = schemas.flatMap(alternativesOf);
  if (parts.some(({ $ref }) => $ref !== undefined)) return value;
  if (Array.isArray(value)) {
    const items = parts.flatMap((part) => (isObject(part.items) ? [part.items] : []));
    return items.length === 0 ? value : value.map((item) => reduced(item, items));
  }
  const describing = parts.filter(({ properties, additionalProperties: further }) => properties ?? further);
  if (!isObject(value) || describing.length === 0) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const own = describing.flatMap((part) => memberSchema(part, name));
    return own.length === 0 ? [] : [[name, reduced(member, own)]];
  });
  return Object.fromEntries(members);
}

/** A schema and those that it combines. */
export function alternativesOf(schema: Members): readonly Members[] {
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flat().filter(isObject);
  return [schema, ...parts.flatMap(alternativesOf)];
}

/** The schema of a member; none if it is not declared. */
export function memberSchema(
  { properties, additionalProperties: further }: Members,
  name: string,
): readonly Members[] {
  const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : further;
  if (own === true) return [{}];
  return isObject(own) ? [own] : [];
}

/** What each request has kept in this run; undefined: the whole answer. */
const recorded = new Map<string, (ObjectSchema | undefined)[]>();

/**
 * What is recorded of an answer: the members that the tools keep that have asked this question in this run.
 *
 * @param schema of the members that this tool keeps; undefined: it keeps all
 */
export function recordable(request: object, whole: unknown, schema: ObjectSchema | undefined): unknown {
  const key = JSON.stringify(request);
  const schemas = [...(recorded.get(key) ?? []), schema];
  recorded.set(key, schemas);
  const known = schemas.flatMap((one) => (one ? [withoutSignals(one)] : []));
  return known.length < schemas.length ? whole : reduced(whole, known);
}
