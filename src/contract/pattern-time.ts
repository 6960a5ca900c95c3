import { runWithTimeLimit, TimeLimitExceeded } from './bounded.ts';
import { slowTexts } from './pattern-texts.ts';

/** Length of the measured texts: quadratic time is a hundred times as long on it as on one line. */
const longest = 20_000;
const mostMs = 20;
const mostCharacters = 2_000;

const mostKnown = 1_000;
/** Milliseconds of measuring per minute: an untrusted list of tools may contain thousands of patterns. */
const budget = { ms: 10_000, every: 60_000 };
const spent = { ms: 0, since: Number.NEGATIVE_INFINITY };
const known = new Map<string, string | undefined>();

/** The result of `slowness` after the budget is spent. */
export const unmeasured = 'was not measured: there are too many patterns';

/**
 * The reason why a pattern takes too long on texts of a length; undefined if it does not. It is measured: the engine of this
 * process matches texts that are made to be slow, and none may take more than 20 ms of CPU time. A pattern that is
 * fast at 20,000 characters takes at most a second at a million.
 *
 * @param pattern a regular expression that compiles with the flag `u`
 * @param maxLength the longest text to match; unbounded by default
 */
export function slowness(pattern: string, maxLength = Number.POSITIVE_INFINITY): string | undefined {
  const length = Math.min(Math.max(0, maxLength), longest);
  const key = `${length} ${pattern}`;
  if (known.has(key)) return known.get(key);
  const started = performance.now();
  if (started > spent.since + budget.every) Object.assign(spent, { ms: 0, since: started });
  if (spent.ms > budget.ms) return unmeasured;
  const found = measured(pattern, length);
  spent.ms += performance.now() - started;
  if (known.size >= mostKnown) known.delete(known.keys().next().value ?? '');
  known.set(key, found);
  return found;
}

function measured(pattern: string, length: number): string | undefined {
  if (pattern.length > mostCharacters) return `is longer than ${mostCharacters} characters`;
  const regExp = new RegExp(pattern, 'u');
  const slow = slowTexts(pattern, length).find((text) => takesLong(regExp, text));
  if (slow === undefined) return undefined;
  const begin = JSON.stringify(slow.slice(0, 16));
  return `takes more than ${mostMs} ms on a text of ${slow.length} characters that begins with ${begin}`;
}

function takesLong(regExp: RegExp, text: string): boolean {
  try {
    runWithTimeLimit(mostMs, () => regExp.test(text));
    return false;
  } catch (error) {
    // Running out of memory also counts as slow.
    if (error instanceof TimeLimitExceeded || error instanceof RangeError || error instanceof SyntaxError)
      return true;
    throw error;
  }
}
