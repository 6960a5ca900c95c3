import { parseJsonText } from './json.ts';
import { memoize } from './memoize.ts';
import type { Json } from './value.ts';

/** A text parsed as JSON; or why it is not JSON, with the place (`line:column`) if known. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly kind: 'syntax'; readonly flaw: string }
  | { readonly ok: false; readonly kind: 'key' | 'number'; readonly flaw: string; readonly at: string };

/**
 * Parses JSON text; repeated keys are errors, and a byte order mark is skipped.
 *
 * @param exact integers that would lose digits are errors
 */
export function readJson(source: string, { exact }: { readonly exact: boolean }): JsonReading {
  const text = source.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, kind: 'syntax', flaw: (error as Error).message };
  }
  const lost = findLoss(text, exact);
  if (lost === undefined) return { ok: true, value };
  const { kind, flaw, index } = lost;
  const lines = text.slice(0, index).split('\n');
  return { ok: false, kind, flaw, at: `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}` };
}

/** The problem of an integer that a JavaScript number cannot represent; undefined if it can. */
export function integerFlaw(digits: string): string | undefined {
  const parsed = Number(digits);
  if (!/^[-+]?\d{16,}$/.test(digits) || String(parsed) === digits) return undefined;
  if (Number.isFinite(parsed) && BigInt(parsed) === BigInt(digits)) return undefined;
  return `${digits} is not exact: JavaScript would read it as ${parsed}`;
}

/**
 * JSON text whose integers that a JavaScript number cannot represent are strings of their digits, and those digits.
 *
 * @param mark what the strings begin with
 */
export function withLargeIntegersAsText(
  text: string,
  mark = '',
): { readonly text: string; readonly integers: readonly string[] } {
  const integers: string[] = [];
  if (!/\d{16}/.test(text)) return { text, integers };
  const changed = withNumbers(text, (literal) => {
    if (integerFlaw(literal) === undefined) return literal;
    integers.push(literal);
    return `"${mark}${literal}"`;
  });
  return { text: changed, integers };
}

/** JSON text in which `write` replaces the literal of each number. */
export function withNumbers(text: string, write: (literal: string) => string): string {
  return text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : write(token),
  );
}

/** No text of others contains it. */
const mark = memoize(() => `${crypto.randomUUID()} `);

/** The JSON value of a text for `writeLiterally`, in a list; an empty list if the text is not JSON. */
export function literallyIn(text: string): readonly Json[] {
  return parseJsonText(withLargeIntegersAsText(text, mark('')).text);
}

/** JSON text with the integers as they were written. */
export function writeLiterally(value: Json, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(new RegExp(`"${mark('')}([^"]*)"`, 'g'), '$1');
}

interface Lost {
  readonly kind: 'key' | 'number';
  readonly flaw: string;
  readonly index: number;
}

/** The first thing in valid JSON that parsing drops silently: a value under a repeated key, or digits of an integer. */
function findLoss(text: string, exact: boolean): Lost | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (const { 0: token, 1: key, index } of text.matchAll(
    /("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]|-?\d[\d.eE+-]*/g,
  )) {
    if (key !== undefined && isRepeated(key, open.at(-1)))
      return { kind: 'key', flaw: `the key ${key} is used twice in one object`, index };
    const flaw = exact && key === undefined ? integerFlaw(token) : undefined;
    if (flaw !== undefined) return { kind: 'number', flaw, index };
    if (token === '{') open.push(new Set());
    if (token === '[') open.push(undefined);
    if ('}]'.includes(token)) open.pop();
  }
  return undefined;
}

/** Whether an object already has a key; adds it to the keys. */
function isRepeated(key: string, keys: Set<string> | undefined): boolean {
  const name: string = JSON.parse(key);
  if (keys?.has(name)) return true;
  keys?.add(name);
  return false;
}
