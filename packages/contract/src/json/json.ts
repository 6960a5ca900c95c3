import { attempt } from './attempt.ts';
import type { Json, JsonObject } from './value.ts';

/** A value as readable text of at most `limit` characters. */
export function shorten(value: unknown, limit = 80): string {
  const json = () => JSON.stringify(value) ?? String(value);
  const text = value === undefined ? 'nothing' : attempt(json, 'a value that is cyclic or too deep');
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1)}…`;
}

/** A list with the JSON value of a text; an empty list if the text is not JSON. */
export function parseJsonText(text: string): readonly Json[] {
  return attempt(() => [JSON.parse(text)], []);
}

/** Whether a value is nested no deeper than can be walked: the stack has room for some thousand levels. */
export function isWalkable(value: Json, levels = 500): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isWalkable(member, levels - 1));
}

/** A scalar as text; any other JSON value is the fallback: an object may have a member `toString`. */
export function textOr(value: unknown, fallback = ''): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return fallback;
}

/** The message of an error, or anything else that was thrown as text. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return String(error);
}

/** JSON text whose invisible and direction characters are escaped: it denotes the same value, and shows every character. */
export function visibleJson(json: string): string {
  return json.replaceAll(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (character) =>
    Array.from({ length: character.length }, (_, unit) => jsonEscape(character.charCodeAt(unit))).join(''),
  );
}

/** A UTF-16 code unit as JSON escapes it. */
export function jsonEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** Whether a JSON value is an object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A function of an object that is computed once for each, and kept as long as the object. */
export function cachedByObject<K extends object, V>(make: (object: K) => V): (object: K) => V {
  const cache = new WeakMap<K, { readonly value: V }>();
  return (object) => {
    const entry = cache.get(object) ?? { value: make(object) };
    cache.set(object, entry);
    return entry.value;
  };
}

/** Items by a key, in the order of the first of each. (`Map.groupBy` needs Node 21.) */
export function groupBy<T, K>(
  items: readonly T[],
  keyOf: (item: T) => K,
): ReadonlyMap<K, readonly [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** A JSON value if it is an object, else an empty one. */
export function objectOr(value: unknown): JsonObject {
  if (isObject(value)) return value;
  return {};
}

/** The members of an object that are not undefined. */
export function present<T>(members: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(members).filter((member): member is [string, T & {}] => member[1] !== undefined),
  );
}

/**
 * An object with these members and no prototype: Ajv would find an absent property called `constructor` in the prototype.
 */
export function withoutPrototype(members: JsonObject): JsonObject {
  return Object.assign(Object.create(null), members);
}
