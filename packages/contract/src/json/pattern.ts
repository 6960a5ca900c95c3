import { slowness } from './pattern-cost.ts';
import { needsBacktracking } from './pattern-tree.ts';

/** Lengths of texts, longest first. Generated servers match no pattern by backtracking on texts longer than the first. */
export const lengths = [1_000, 100] as const;

/** The flaw of a pattern and its fix: it does not compile, or is slow even on texts of 100 characters. */
export function patternFlaw(
  pattern: string,
): { readonly message: string; readonly hint: string } | undefined {
  if (!isRegular(() => new RegExp(pattern, 'u'))) {
    return {
      message: 'is not a valid regular expression',
      hint: 'Write a JavaScript regular expression, such as ^[A-Z]{3}$.',
    };
  }
  const message = slowness(pattern, lengths[1]);
  const hint = 'Change it so that no two repeats can match the same text: ^[a-z]+(-[a-z]+)*$';
  if (message !== undefined) return { message, hint };
  // Only a first match shows whether a pattern is too large for the engine.
  if (isRegular(() => new RegExp(pattern, 'u').test(''))) return undefined;
  return { message: 'is too large to be run', hint: 'Use fewer or shorter repeats: ^[A-Z]{3}$' };
}

function isRegular(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

/**
 * The `maxLength` that a schema needs for its pattern: generated servers match in linear time, and match by
 * backtracking only on texts of bounded length.
 *
 * @param pattern one without a flaw
 * @param maxLength of the schema
 * @returns the greatest length at which the pattern is fast; undefined if the schema needs no change
 */
export function boundFor(pattern: string, maxLength = Number.POSITIVE_INFINITY): number | undefined {
  if (maxLength <= lengths[0] || !needsBacktracking(pattern)) return undefined;
  return lengths.find((length) => slowness(pattern, length) === undefined) ?? lengths[1];
}
