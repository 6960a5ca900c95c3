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
  const translated = translate(pattern);
  if (translated === null) return null;
  // Loading takes 15 ms, and few tools have patterns.
  engine ??= createRequire(import.meta.url)('re2js') as typeof import('re2js');
  try {
    const compiled = engine.RE2JS.compile(translated);
    // Ajv caches matchers by `toString`.
    return { test: (text) => compiled.test(text), toString: () => `linear ${pattern}` } as Matcher;
  } catch {
    return null;
  }
}

const escaped = String.raw`\\(?:u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|[pP]\{[^}]*\}|.)`;
/** One token of a regular expression, outside and inside a character class. */
const part = new RegExp(String.raw`${escaped}|\(\?<?[=!]|\(\?(?:<[^>]*>|[\w-]*:)|\{[^}]*\}|.`, 'suy');
const member = new RegExp(`${escaped}|.`, 'suy');

/** Translates ECMA-262 syntax to RE2; null if RE2 has no equivalent. */
function translate(pattern: string): string | null {
  let translated = '';
  for (let at = 0; at < pattern.length; ) {
    part.lastIndex = at;
    const text = part.exec(pattern)?.[0] ?? '';
    at += text.length;
    if (text === '[') {
      const [characters, end] = classFrom(pattern, at);
      translated += characters;
      at = end;
    } else if (text === '(' || text === '(?:' || /^\(\?<.*>$/su.test(text)) translated += '(?:';
    else if (/^(?:\(\?|\\[k1-9])/.test(text)) return null;
    else if (/^(?:[\^|)*+?]|\\[bB]$|\{.)/.test(text)) translated += text;
    else if (text === '.') translated += '[^\\n\\r\\x{2028}\\x{2029}]';
    else if (text === '$') translated += '\\z';
    else translated += `[${charactersOf(text)}]`;
  }
  return translated;
}

/** Translates a character class. `start` and `end` are the positions after its brackets. */
function classFrom(pattern: string, start: number): readonly [text: string, end: number] {
  const isNegated = pattern[start] === '^';
  member.lastIndex = start + Number(isNegated);
  const next = () => member.exec(pattern)?.[0] ?? ']';
  let members = '';
  for (let text = next(); text !== ']'; text = next()) {
    members += charactersOf(text);
    const { lastIndex } = member;
    if (pattern[lastIndex] !== '-' || pattern[lastIndex + 1] === ']') continue;
    member.lastIndex++;
    members += `-${charactersOf(next())}`;
  }
  const isPositive = isNegated === (members === '');
  if (members === '') members = '\\x{0}-\\x{10FFFF}';
  return [`[${isPositive ? '' : '^'}${members}]`, member.lastIndex];
}

/** Translates a character or an escape to members of a class. */
function charactersOf(text: string): string {
  if (/^\\[dDwW]$/.test(text)) return text;
  if (/^\\(?:[sS]$|[pP]\{)/.test(text)) return rangesOf(text);
  return `\\x{${codeOf(text).toString(16)}}`;
}

const controls: { readonly [letter: string]: number } = { t: 9, n: 10, v: 11, f: 12, r: 13, b: 8, 0: 0 };

/** The code point of a character or an escape. */
function codeOf(text: string): number {
  const [, letter = '', digits = ''] = /^\\(.)\{?([^}]*)\}?$/su.exec(text) ?? [];
  if (letter === '') return text.codePointAt(0) ?? 0;
  if (letter === 'c') return digits.charCodeAt(0) % 32;
  if (digits === '') return controls[letter] ?? letter.codePointAt(0) ?? 0;
  const units = digits.split('\\u').map((unit) => Number.parseInt(unit, 16));
  return units.length === 1 ? (units[0] ?? 0) : (String.fromCharCode(...units).codePointAt(0) ?? 0);
}

const knownRanges = new Map<string, string>();
/** Both ranges of surrogates start at a block boundary, so no block contains a pair by accident. */
const blockSize = 0x400;

/** The characters of an escape according to `RegExp`: engines differ in white space and in the Unicode version. */
function rangesOf(text: string): string {
  const known = knownRanges.get(text);
  if (known !== undefined) return known;
  const runs = new RegExp(`${text}+`, 'gu');
  let ranges = '';
  for (let start = 0; start <= 0x10ffff; start += blockSize) {
    const block = String.fromCodePoint(...Array.from({ length: blockSize }, (_, i) => start + i));
    for (const [run] of block.matchAll(runs)) {
      const from = run.codePointAt(0) ?? 0;
      ranges += `\\x{${from.toString(16)}}-\\x{${(from + [...run].length - 1).toString(16)}}`;
    }
  }
  knownRanges.set(text, ranges);
  return ranges;
}
