// Matches the patterns of schemas in linear time.

import type { RE2JS } from 're2js';
import type { Tool } from './define-tool.ts';

export interface Matcher {
  test(text: string): boolean;
}

export interface LinearMatcher extends Matcher {
  /** The number of steps that a character takes at most. */
  readonly cost: number;
}

let library: typeof RE2JS | undefined;

/** Sets the library that matches patterns. It has 150 kB: a process loads it only if it needs it (`loadPatterns`). */
export function matchPatternsBy(re2js: typeof RE2JS): void {
  library = re2js;
}

/** Loads the library if a schema of these tools has a pattern; before they are compiled. */
export async function loadPatterns(tools: readonly Tool[]): Promise<void> {
  if (library === undefined && tools.some(mayHavePattern)) matchPatternsBy((await import('re2js')).RE2JS);
}

function mayHavePattern({ inputSchema, outputSchema }: Tool): boolean {
  try {
    return /"pattern":"|"patternProperties":/.test(JSON.stringify([inputSchema, outputSchema]));
  } catch {
    return true; // too deep or circular: that it does not compile is said there
  }
}

/**
 * A matcher that runs in linear time. It matches exactly what `RegExp` with the flag `u` matches, as JSON Schema requires.
 *
 * @returns null if the pattern has lookaround, backreferences or too many repetitions
 * @throws SyntaxError if the pattern is not a valid regular expression
 * @throws Error if the library is not loaded
 */
export function linearMatcher(pattern: string): LinearMatcher | null {
  new RegExp(pattern, 'u');
  if (library === undefined) throw new Error('The library that matches patterns is not loaded.');
  try {
    const compiled = library.compile(library.translateRegExp(withoutDifferences(pattern)));
    // One pass: each character leads to one state.
    if (compiled.re2().onepass) return { test: (text) => compiled.test(text), cost: 1 };
    // `test` would build an automaton first: 30 microseconds for a character of some patterns.
    return { test: (text) => compiled.matcher(text).find(), cost: compiled.programSize() };
  } catch {
    return null;
  }
}

/** What RE2 may read differently, or one character. */
const token = /\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\[pP]\{[^}]*\}|\\.|\(\?(?:[-ims]|<[^=!>[\]\\]+>)|./gsu;

/** Replaces what RE2 reads differently, except for what `translateRegExp` replaces. @throws Error if it cannot */
function withoutDifferences(pattern: string): string {
  let inClass = false;
  return pattern.replace(token, (text) => {
    if (/^\\u./.test(text)) return JSON.parse(`"${text}"`); // a surrogate pair
    if (/^\\[sSpP]/.test(text)) return inClass ? rangesOf(text) : `[${rangesOf(text)}]`;
    if (inClass) {
      inClass = text !== ']';
      return replacedInClass(text);
    }
    inClass = text === '[';
    return replacedOutsideClass(text);
  });
}

/** Sets of characters as ranges of a class. */
const classRanges = new Map([
  ['\\s', String.raw`\t-\r\p{Z}\x{feff}`],
  [
    '\\S',
    String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`,
  ],
]);

function replacedInClass(text: string): string {
  if (text === '\\b') return '\\x08';
  return text === '[' ? '\\[' : text;
}

function replacedOutsideClass(text: string): string {
  if (/^(?:\\[k1-9]|\(\?[^<])/.test(text)) throw new Error('a backreference or flags of a group');
  if (text.startsWith('(?')) return '('; // RE2 has no duplicate names and admits fewer characters in them
  if (text === '.') return '[^\\n\\r\\x{2028}\\x{2029}]';
  return text;
}

/** The characters of a set such as `\p{Letter}`. RE2 knows fewer names, so `RegExp` tells which these are, in 50 ms. */
function rangesOf(set: string): string {
  let ranges = classRanges.get(set);
  if (ranges !== undefined) return ranges;
  const classPattern = new RegExp(`^${set}$`, 'u');
  ranges = '';
  for (let first = 0, code = 0; code <= 0x110000; code++) {
    if (code < 0x110000 && classPattern.test(String.fromCodePoint(code))) continue;
    if (first < code) ranges += `\\x{${first.toString(16)}}-\\x{${(code - 1).toString(16)}}`;
    first = code + 1;
  }
  classRanges.set(set, ranges);
  return ranges;
}
