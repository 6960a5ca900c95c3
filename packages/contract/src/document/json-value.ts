import { inputError, pass, refuse } from '../command/input-error.ts';
import type { InputError, Result } from '../command/input-result.ts';
import { isObject } from '../json/json.ts';
import type { DocumentLimits } from '../json/limits.ts';
import { integerFlaw } from '../json/read-json.ts';
import type { Json } from '../json/value.ts';

export const roundedHint = 'Write a number within ±9007199254740991, or a string.';

/**
 * A parsed value as plain JSON: a tree within the limits, with finite numbers and no lone surrogates. A part that is shared,
 * like the target of a YAML alias, counts each time.
 *
 * @param file name of the file, for the errors
 * @param asText an integer that a JavaScript number cannot represent becomes text, else an error
 */
export function jsonValue(
  value: unknown,
  file: string,
  limits: DocumentLimits,
  asText = false,
): Result<Json> {
  const errors: InputError[] = [];
  const json = toJson(value, { path: file, depth: 0, errors, most: limits, asText, count: { values: 0 } });
  return errors.length > 0 ? refuse(...errors) : pass(json);
}

interface Walk {
  readonly path: string;
  readonly depth: number;
  readonly errors: InputError[];
  readonly most: DocumentLimits;
  readonly asText: boolean;
  readonly count: { values: number };
}

function recordError(walk: Walk, ...error: Parameters<typeof inputError>): null {
  if (walk.errors.length < 100) walk.errors.push(inputError(...error));
  return null;
}

function toJson(value: unknown, walk: Walk): Json {
  const { path, depth, errors, most: limits, count } = walk;
  count.values += 1;
  if (count.values > limits.values) {
    if (errors.length > 0) return null;
    const message = `contains more than ${limits.values} values`;
    return recordError(walk, path, undefined, message, 'Split it into several files.');
  }
  if (depth > limits.depth) {
    const message = `is nested deeper than ${limits.depth} levels`;
    return recordError(walk, `${path.slice(0, 200)}…`, undefined, message, 'Reduce the nesting.');
  }
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return integerJson(value, walk);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    return recordError(walk, path, String(value), 'is not a JSON number', 'Write digits.');
  }
  if (typeof value === 'string') return textJson(value, walk);
  if (Array.isArray(value)) {
    return value.map((item, i) => toJson(item, { ...walk, path: `${path}[${i}]`, depth: depth + 1 }));
  }
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype)
    return recordError(walk, path, String(value), 'is not a JSON value', 'Write plain JSON or YAML.');
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const at = `${path}.${key}`;
      if (key === '__proto__')
        recordError(walk, at, key, '__proto__ cannot be a key of an object', 'Use another name.');
      return [key, toJson(member, { ...walk, path: at, depth: depth + 1 })];
    }),
  );
}

function textJson(value: string, walk: Walk): Json {
  const message = 'contains an incomplete character (a lone surrogate)';
  if (/\p{Cs}/u.test(value))
    recordError(walk, walk.path, value, message, 'Remove it, or write the whole character.');
  return value;
}

function integerJson(value: bigint, walk: Walk): Json {
  const flaw = integerFlaw(String(value));
  if (flaw === undefined) return Number(value);
  if (walk.asText) return String(value);
  return recordError(walk, walk.path, undefined, flaw, roundedHint);
}
