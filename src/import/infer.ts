import { isObject } from '../contract/json.ts';
import type { Json, JsonObject } from '../contract/model.ts';

/**
 * Infers the JSON Schema of a position in JSON documents from all values seen there. It accepts every one of them:
 * types are united, a member is required if no object lacked it, and null is allowed if it was seen.
 *
 * @param name of the position, for its description; absent if it has none, as in lists
 */
export function schemaOfValues(values: readonly Json[], name?: string): JsonObject {
  const present = values.filter((value) => value !== null);
  const types = typesOf(present);
  const nullable = present.length < values.length;
  const union = nullable && types.length > 0 ? [...types, 'null'] : types;
  const texts = present.filter((value) => typeof value === 'string');
  const [allowed, format] = texts.length === present.length ? [enumOf(texts), formatOf(texts)] : [];
  return {
    ...(union.length > 0 && { type: union.length === 1 ? (union[0] as string) : union }),
    ...(name !== undefined && {
      description: toDo(name, { isUnknown: types.length === 0, isGuess: allowed !== undefined }),
    }),
    ...(allowed && { enum: nullable ? [...allowed, null] : allowed }),
    ...(format && { format }),
    ...(types.includes('object') && inferMembers(present.filter(isObject))),
    ...(types.includes('array') && { items: schemaOfValues(present.filter(isArray).flat()) }),
  };
}

/** `properties` and `required` of objects; `additionalProperties` if their keys are data, such as dates. */
export function inferMembers(objects: readonly JsonObject[], { mayBeMap = true } = {}): JsonObject {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  if (mayBeMap && keysAreData(names)) {
    return { additionalProperties: schemaOfValues(objects.flatMap((object) => Object.values(object))) };
  }
  const valuesOf = (name: string) =>
    objects.flatMap((object) => (Object.hasOwn(object, name) ? [object[name] as Json] : []));
  return {
    properties: Object.fromEntries(names.map((name) => [name, schemaOfValues(valuesOf(name), name)])),
    required: names.filter((name) => objects.every((object) => Object.hasOwn(object, name))),
  };
}

/** `string`, `integer`, …: each type that was seen, once; `number` includes `integer`. */
function typesOf(values: readonly Json[]): readonly string[] {
  const types = new Set(values.map(typeOf));
  if (types.has('number')) types.delete('integer');
  return [...types].sort();
}

function typeOf(value: Json): string {
  if (isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** A closed list is guessed from at least `least` values with at most `maxDistinct` distinct ones. */
const guess = { least: 6, maxDistinct: 5, leastOfEach: 2 };

/** The allowed values of a text that looks like an enumeration: each value was seen several times. */
function enumOf(texts: readonly string[]): readonly string[] | undefined {
  if (texts.length < guess.least) return undefined;
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const isClosed =
    counts.size > 1 &&
    counts.size <= guess.maxDistinct &&
    [...counts].every(([text, count]) => count >= guess.leastOfEach && /^[A-Za-z][\w-]{0,30}$/.test(text));
  return isClosed ? [...counts.keys()].sort() : undefined;
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const date = /^\d{4}-\d\d-\d\d$/;

/** RFC 3339, as validators read it: a time needs a zone. */
function formatOf(texts: readonly string[]): string | undefined {
  if (texts.length === 0) return undefined;
  const all = (pattern: RegExp) =>
    texts.every((text) => pattern.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10))));
  if (all(dateTime) && texts.every((text) => !Number.isNaN(Date.parse(text)))) return 'date-time';
  return all(date) ? 'date' : undefined;
}

/** Numbers, dates and ids, which are not names of members. */
const dataKey = /^(?:-?\d[\d.:TZ+ -]*|[0-9a-f]{8}-[0-9a-f-]{27}|(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{16,})$/i;

function keysAreData(names: readonly string[]): boolean {
  return names.length > 1 && names.every((name) => dataKey.test(name));
}

/** Rule `tool.to-do` reports descriptions that start like this. */
export function toDo(name: string, { isUnknown = false, isGuess = false } = {}): string {
  const type = isUnknown ? ', and its type: the samples contain no value' : '';
  const values = isGuess ? ' The samples contain only these values: are there others?' : '';
  return `TODO: what ${name} means, with its unit${type}.${values}`;
}
