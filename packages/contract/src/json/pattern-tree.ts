/** A part of a pattern. */
export type PatternPart =
  /** One character: itself, an escape, a class. */
  | { readonly kind: 'one'; readonly source: string }
  | { readonly kind: 'group' | 'look'; readonly alternatives: PatternAlternatives }
  | { readonly kind: 'repeat'; readonly of: PatternPart; readonly min: number; readonly max: number }
  /** The end, `^`, `\b` and `\B`, which match no character, and references to what a group matched. */
  | { readonly kind: 'end' | 'edge' | 'reference' };

export type PatternAlternatives = readonly (readonly PatternPart[])[];

const escaped = String.raw`\\(?:u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|[pP]\{[^}]*\}|k<[^>]*>|[1-9]\d*|.)`;
const token = new RegExp(
  String.raw`(?<open>\((?:\?(?:<?[=!]|<[^>]*>|[\w-]*:))?)|(?<one>${escaped}|\[(?:\\.|[^\]\\])*\]|[^|)])`,
  'suy',
);
const quantifier = /(?:[*+?]|\{(?<min>\d+)(?<more>,(?<max>\d*))?\})\??/y;

/** Reads a regular expression that compiles with the flag `u`. */
export function patternTree(pattern: string): PatternAlternatives {
  let at = 0;
  const take = (expected: RegExp) => {
    expected.lastIndex = at;
    const match = expected.exec(pattern);
    at += match?.[0].length ?? 0;
    return match;
  };
  const alternatives = (): PatternAlternatives => {
    const alternatives: PatternPart[][] = [[]];
    while (at < pattern.length && pattern[at] !== ')') {
      if (take(/\|/y)) alternatives.push([]);
      else alternatives.at(-1)?.push(repeated(part()));
    }
    at++;
    return alternatives;
  };
  const part = (): PatternPart => {
    const { open, one: character = '' } = take(token)?.groups ?? {};
    if (open) return { kind: /[=!]$/.test(open) ? 'look' : 'group', alternatives: alternatives() };
    if (character === '$') return { kind: 'end' };
    if (/^(?:\^|\\[bB])$/.test(character)) return { kind: 'edge' };
    if (/^\\(?:k<|[1-9])/.test(character)) return { kind: 'reference' };
    return { kind: 'one', source: character };
  };
  const repeated = (of: PatternPart): PatternPart => {
    const found = take(quantifier);
    if (!found) return of;
    const { min = found[0].startsWith('+') ? '1' : '0', more: isRange, max } = found.groups ?? {};
    const isOpen = !/^[?{]/.test(found[0]) || (isRange !== undefined && max === '');
    const highest = found[0].startsWith('?') ? 1 : Number(max || min);
    return { kind: 'repeat', of, min: Number(min), max: isOpen ? Number.POSITIVE_INFINITY : highest };
  };
  return alternatives();
}

/** The maximum count that engines without backtracking accept, multiplied over nested repeats. */
const maxRepeats = 1_000;

/**
 * Whether only a backtracking engine can match a pattern: it contains look-around, back-references or large counts.
 *
 * @param pattern a regular expression that compiles with the flag `u`
 */
export function needsBacktracking(pattern: string): boolean {
  const needs = (part: PatternPart, times: number): boolean => {
    if (part.kind === 'look' || part.kind === 'reference') return true;
    if (part.kind === 'group')
      return part.alternatives.some((parts) => parts.some((part) => needs(part, times)));
    if (part.kind !== 'repeat') return false;
    const count = times * Math.max(1, Number.isFinite(part.max) ? part.max : part.min);
    return count > maxRepeats || needs(part.of, count);
  };
  return patternTree(pattern).some((parts) => parts.some((part) => needs(part, 1)));
}
