import { bounded, Overdue } from './bounded.ts';
import { slowTexts } from './pattern-texts.ts';

/** A text as long as measurements need it: what takes quadratic time takes a hundred times as long on it as on a line. */
const longest = 20_000;
const mostMs = 20;
const mostCharacters = 2_000;

const mostKnown = 1_000;
/** Milliseconds of measuring in a minute: a list of tools from outside may hold thousands of patterns. */
const budget = { ms: 10_000, every: 60_000 };
const spent = { ms: 0, since: Number.NEGATIVE_INFINITY };
const known = new Map<string, string | undefined>();

/** What `slowness` says when the budget is spent. */
export const unmeasured = 'was not measured: there are too many patterns';

/**
 * Why a pattern takes too long on texts of a length, in words; undefined where it does not. Measured: the engine of this
 * process matches texts that are made to be slow, and none of them may take more than 20 ms of a processor. What is
 * fast at 20,000 characters takes a second at most at a million.
 *
 * @param pattern a regular expression that compiles with the flag `u`
 * @param maxLength the longest text that it is matched with; unbounded by default
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
    bounded(mostMs, () => regExp.test(text));
    return false;
  } catch (error) {
    // An engine that runs out of memory has not been quick either.
    if (error instanceof Overdue || error instanceof RangeError || error instanceof SyntaxError) return true;
    throw error;
  }
}
