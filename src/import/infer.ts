import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import { keysAreData } from './maps.ts';
import { areWhole } from './numbers.ts';
import { fieldToDo } from './to-do.ts';

/** What is known of all positions. */
export interface Known {
  /** Values of the inputs of the tool. */
  readonly inputs: ReadonlySet<string>;
  /** Texts that are integers in the answers, which JavaScript would round. */
  readonly largeIntegers: ReadonlySet<string>;
}

/** What is known of a position besides its values. */
export interface Position {
  /** The name of the member, for its description; absent if it has none, as in lists. */
  readonly name?: string;
  /** The position is a whole answer. */
  readonly isRoot?: boolean;
  readonly known?: Known;
  /** The name of the list or map that contains the values; null in a list of lists, whose items may mean different things. */
  readonly parent?: string | null;
}

const nothingKnown: Known = { inputs: new Set(), largeIntegers: new Set() };

/**
 * Infers the JSON Schema of a position in JSON documents from all values seen there. It accepts every one of them:
 * types are united, a member is required if no object lacked it, and null is allowed if it was seen.
 */
export function schemaOfValues(values: readonly Json[], position: Position = {}): JsonObject {
  const { name, parent = '', known = nothingKnown } = position;
  const present = values.filter((value) => value !== null);
  const types = typesOf(present, name ?? parent, known);
  const nullable = present.length < values.length;
  const union = nullable && types.length > 0 ? [...types, 'null'] : types;
  const texts = present.filter((value) => typeof value === 'string');
  const [allowed, format] = texts.length === present.length ? [enumOf(texts), formatOf(texts)] : [];
  const lists = present.filter(isArray);
  const isNested = parent === null || lists.flat().some(isArray);
  return {
    ...(union.length > 0 && { type: union.length === 1 ? (union[0] as string) : union }),
    ...(name !== undefined && {
      description: fieldToDo(name, { isUnknown: types.length === 0, isGuess: allowed !== undefined }),
    }),
    ...(allowed && { enum: nullable ? [...allowed, null] : allowed }),
    ...(format && { format }),
    ...(types.includes('object') && inferMembers(present.filter(isObject), position)),
    ...(types.includes('array') && {
      items: schemaOfValues(lists.flat(), { known, parent: isNested ? null : (name ?? parent) }),
    }),
  };
}

/** `properties` and `required` of objects; `additionalProperties` if their keys are data, such as dates. */
function inferMembers(objects: readonly JsonObject[], position: Position): JsonObject {
  const { name, parent, isRoot = false, known = nothingKnown } = position;
  if (keysAreData(objects, isRoot, known.inputs)) {
    const values = objects.flatMap((object) => Object.values(object));
    return { additionalProperties: schemaOfValues(values, { known, parent: name ?? parent ?? '' }) };
  }
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const valuesOf = (member: string) =>
    objects.flatMap((object) => (Object.hasOwn(object, member) ? [object[member] as Json] : []));
  return {
    properties: Object.fromEntries(
      names.map((member) => [member, schemaOfValues(valuesOf(member), { name: member, known })]),
    ),
    required: names.filter((member) => objects.every((object) => Object.hasOwn(object, member))),
  };
}

/** `string`, `integer`, …: each type that was seen, once. A number beside a large integer, which is a text, is a text. */
function typesOf(values: readonly Json[], name: string | null, { largeIntegers }: Known): readonly string[] {
  const numbers = values.filter((value) => typeof value === 'number');
  const isText = values.some((value) => typeof value === 'string' && largeIntegers.has(value));
  const number =
    name === null ? 'number' : isText ? 'string' : areWhole(numbers, name) ? 'integer' : 'number';
  const types = values.map((value) =>
    isArray(value) ? 'array' : typeof value === 'number' ? number : typeof value,
  );
  return [...new Set(types)].sort();
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
