import { distance } from 'fastest-levenshtein';
import { shorten } from '../json/json.ts';
import type { InputError, Result } from './input-result.ts';
import { printable } from './paint.ts';
import { maskUrl } from './url-secrets.ts';

/** An error whose value is shortened to one line, without the secrets of a URL; `undefined` means that something is missing. */
export function inputError(location: string, value: unknown, message: string, hint: string): InputError {
  if (value === undefined) return { where: location, message, hint };
  return {
    where: location,
    value: shorten(typeof value === 'string' ? maskUrl(value) : value),
    message,
    hint,
  };
}

/** An error as a sentence in one printable line, because it may hold names of others: `--timeout "soon" is not a number.`, `--only "gat": unknown rule.` */
export function errorSentence({ where: location, value, message }: InputError): string {
  const subject = value === undefined ? location : `${location} ${value}`;
  return printable(`${subject}${predicates.has(message.split(' ', 1)[0] ?? '') ? ' ' : ': '}${message}.`);
}

/** The first words of messages that continue a sentence about their subject. */
const predicates: ReadonlySet<string> = new Set([
  ...['is', 'was', 'has', 'must', 'cannot', 'does', 'would', 'applies', 'conflicts', 'contains', 'describes'],
  ...['expects', 'leaves', 'mixes', 'names', 'redirects', 'refers', 'searches', 'sets', 'works'],
]);

export function pass<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refuse(...errors: readonly InputError[]): {
  readonly ok: false;
  readonly errors: readonly InputError[];
} {
  return { ok: false, errors };
}

/** Refuses an input for one error, as `inputError` takes it. */
export function reject(...error: Parameters<typeof inputError>): ReturnType<typeof refuse> {
  return refuse(inputError(...error));
}

/** All values, or the errors of all parts. */
export function combineResults<T>(results: readonly Result<T>[]): Result<T[]> {
  const errors = results.flatMap((result) => (result.ok ? [] : result.errors));
  if (errors.length > 0) return refuse(...errors);
  return pass(results.filter((result) => result.ok).map((result) => result.value));
}

/** The candidate that a mistyped word probably means; undefined if none is similar. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: distance(comparedStart(word), comparedStart(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  if (near && near.distance <= Math.max(1, Math.floor(word.length / 3))) return near.candidate;
  return undefined;
}

/** The hint for a mistyped word: the candidate that it probably means, else `otherwise`. */
export function spellingHint(word: string, candidates: readonly string[], otherwise: string): string {
  const near = closest(word, candidates);
  if (near === undefined) return otherwise;
  return `Did you mean ${near}?`;
}

/** `a, b or c` */
export function orList(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** The allowed word that a text is; or the error of a flag with another one. */
export function oneOf<T extends string>(
  allowedValues: readonly T[],
  text: string,
  location: string,
): Result<T> {
  const match = allowedValues.find((value) => value === text.trim());
  if (match === undefined)
    return reject(location, text, 'is not one of the choices', `Write ${orList(allowedValues)}.`);
  return pass(match);
}

/** Normalizes a word for comparison: lower case, truncated to the length of a plausible name. */
function comparedStart(word: string): string {
  return word.toLowerCase().slice(0, 40);
}
