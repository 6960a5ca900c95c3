import { unwrap } from './command-error.ts';
import { reject } from './input-error.ts';

/**
 * The whole number that a flag gives; undefined if it is absent.
 *
 * @param noun that another text is not: `a port from 0 to 65535`
 * @throws CommandError `INVALID_INPUT`.
 */
export function numberIn(
  flag: string,
  text: string | undefined,
  [least, highest]: readonly [number, number],
  noun: string,
  hint: string,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= highest) return value;
  return unwrap(reject(flag, text, `is not ${noun}`, hint));
}

/** The value of `--page-port`; 0 means any free port. */
export function pagePortIn(text: string | undefined): number | undefined {
  return numberIn('--page-port', text, [0, 65_535], 'a port from 0 to 65535', 'Write --page-port 4400.');
}
