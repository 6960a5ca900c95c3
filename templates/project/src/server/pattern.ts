import { createRequire } from 'node:module';

export interface Matcher {
  test(text: string): boolean;
}

let engine: typeof import('re2js') | undefined;

/**
 * A matcher that runs in linear time. It matches exactly what `RegExp` with the flag `u` matches, as JSON Schema requires.
 *
 * @returns null if the pattern has lookaround, backreferences or too many repetitions
 * @throws SyntaxError if the pattern is not a valid regular expression
 */
export function linearMatcher(pattern: string): Matcher | null {
  new RegExp(pattern, 'u');
  const tokens = pattern.match(token) ?? [];
  if (tokens.some((text) => needsBacktracking.test(text))) return null;
  // Loading takes 15 ms, and few tools have patterns.
  engine ??= createRequire(import.meta.url)('re2js') as typeof import('re2js');
  try {
    const compiled = engine.RE2JS.compile(tokens.map(translate).join(''));
    // Ajv caches matchers by `toString`.
    return { test: (text) => compiled.test(text), toString: () => `linear ${pattern}` } as Matcher;
  } catch {
    return null;
  }
}

const escaped = String.raw`\\(?:u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|[pP]\{[^}]*\}|.)`;
/** An escape, a character class, the start of a group, a repetition or any other character. */
const token = new RegExp(
  String.raw`${escaped}|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|<[^>]*>|[\w-]*:)|\{[^}]*\}|.`,
  'gsu',
);
/** Lookaround, flags of a group and backreferences. */
const needsBacktracking = /^(?:\(\?(?!:|<[^=!])|\\[k1-9])/;

/** Translates one token of ECMA-262 to RE2. */
function translate(text: string): string {
  if (text.startsWith('(')) return '(?:';
  if (/^(?:[\^|)*+?]|\\[bBdDwW]|\{.*)$/.test(text)) return text;
  if (text === '$') return '\\z';
  const character = /^(?:\\(\W)|([^.]))$/u.exec(text)?.slice(1).join('');
  return character ? `\\x{${character.codePointAt(0)?.toString(16)}}` : classOf(text);
}

const known = new Map<string, string>();
let allCharacters: readonly (readonly [first: number, text: string])[] | undefined;

/** The characters that a token matches according to `RegExp`, as a class of RE2. */
function classOf(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  const runs = new RegExp(`${text}+`, 'gu');
  allCharacters ??= listCharacters();
  let ranges = '';
  for (const [first, characters] of allCharacters) {
    const units = first < 0x10000 ? 1 : 2;
    for (const { 0: run, index } of characters.matchAll(runs)) {
      const from = first + index / units;
      ranges += `\\x{${from.toString(16)}}-\\x{${(from + run.length / units - 1).toString(16)}}`;
    }
  }
  const translated = ranges === '' ? '[^\\x{0}-\\x{10FFFF}]' : `[${ranges}]`;
  known.set(text, translated);
  return translated;
}

/** All characters in order, in pieces that end where two surrogates would form a pair. */
function listCharacters(): readonly (readonly [first: number, text: string])[] {
  const single = new Uint16Array(0x10000).map((_, code) => code);
  const pairs = new Uint16Array(0x200000);
  for (let at = 0; at < pairs.length; at += 2) {
    pairs[at] = 0xd800 + (at >> 11);
    pairs[at + 1] = 0xdc00 + ((at >> 1) & 0x3ff);
  }
  const text = (units: Uint16Array) => Buffer.from(units.buffer).toString('utf16le');
  return [
    [0, text(single.slice(0, 0xdc00))],
    [0xdc00, text(single.slice(0xdc00))],
    [0x10000, text(pairs)],
  ];
}
