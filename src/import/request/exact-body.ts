import { isObject, type Json, withNumbers } from 'market-mcp-contract/json';
import { digitsPattern, integerPath } from '../digit-texts.ts';
import { RequestRefusal } from './request-refusal.ts';

/** The JSON of a request body. An integer beyond 2^53, which a JavaScript number may round, is a bigint. */
export type ExactJson = Json | bigint | readonly ExactJson[] | ExactObject;
export interface ExactObject {
  readonly [name: string]: ExactJson;
}

/** The shape of an integer that callers give as a text of digits. */
export const digitsShape = { type: 'string', pattern: digitsPattern } as const;

/** @throws SyntaxError, or RequestRefusal for a number that cannot be sent as it is written */
export function exactJson(text: string): ExactJson {
  JSON.parse(text);
  const mark = `${crypto.randomUUID()} `;
  const marked = withNumbers(text, (literal) => {
    const [digits] = /^-?\d{16,}(?=(?:\.0+)?$)/.exec(literal) ?? [];
    if (digits !== undefined && !Number.isSafeInteger(Number(digits))) return `"${mark}${digits}"`;
    if (isChangedNumber(literal)) throw changedNumber(literal);
    return literal;
  });
  return JSON.parse(marked, (_, value) => {
    const isMarked = typeof value === 'string' && value.startsWith(mark);
    if (isMarked) return BigInt(value.slice(mark.length));
    return value;
  });
}

/** Whether JavaScript reads the literal of a number as another number. `1e22` and `1.0` keep their values. */
function isChangedNumber(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  // The nearest double has the same order of magnitude, so the digits decide.
  const literalDigits = significantDigits(literal);
  const valueDigits = significantDigits(String(value));
  const length = Math.max(literalDigits.length, valueDigits.length);
  return literalDigits.padEnd(length, '0') !== valueDigits.padEnd(length, '0');
}

function significantDigits(literal: string): string {
  return literal
    .replace(/[eE].*/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '');
}

function changedNumber(literal: string): RequestRefusal {
  const value = Number(literal);
  const consequence = Number.isFinite(value) ? `would send as ${value}` : 'cannot send';
  const beginning = literal.length > 40 ? `${literal.slice(0, 40)}…` : literal;
  return new RequestRefusal(
    `has the number ${beginning} in its body, which a tool ${consequence}`,
    'Write a number that JavaScript does not change, or put it in quotes if the API takes text.',
  );
}

/** Whether a list contains only integers, and one beyond 2^53. */
export function isLargeIntegerList(value: ExactJson | undefined): value is readonly (number | bigint)[] {
  if (!Array.isArray(value)) return false;
  const items: readonly ExactJson[] = value;
  return (
    items.some((item) => typeof item === 'bigint') &&
    items.every((item) => typeof item === 'bigint' || Number.isSafeInteger(item))
  );
}

/** The value as a tool holds it: a bigint is a text of digits, and so are all integers of its list. */
export function withDigits(value: ExactJson): Json {
  if (typeof value === 'bigint') return String(value);
  if (isLargeIntegerList(value)) return value.map(String);
  if (Array.isArray(value)) return value.map(withDigits);
  if (!isObject(value)) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withDigits(member)]));
}

/** The paths of the texts in `withDigits` that are sent as integers. */
export function integerPaths(value: ExactJson, path = ''): readonly string[] {
  if (typeof value === 'bigint') return [path];
  if (isLargeIntegerList(value)) return [`${path}[]`];
  if (Array.isArray(value)) return value.flatMap((item, at) => integerPaths(item, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => integerPaths(member, integerPath(path, name)));
}
