// The reason that an API gives for a failure, as one safe line.

import { withoutRetryWords } from '../server/call-result.ts';
import { isObject, type Members } from '../server/schema.ts';

const maxLength = 300;
const maxDepth = 4;

/** Names of members that contain a sentence, from specific to general (RFC 9457, RFC 6749 §5.2, and names that APIs use). */
const sentences = 'detail message error_description errorMessage error_message msg reason faultstring';
/** Names of members that contain further objects or lists of them. */
const lists = 'error errors details violations issues fault invalid_params invalid-params';
const titles = 'description title code';
/** Members that say which argument a sentence is about. */
const places = 'field loc path param parameter property pointer name';

/**
 * What an API gives as the reason of a rejection, for its caller: one line of at most 300 characters, without words that make a
 * platform repeat the call. Undefined if the answer is not JSON or names no reason.
 *
 * @param text the body of the answer, without keys
 */
export function reasonIn(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (isObject(value) || Array.isArray(value)) return reasonAmong([value]);
  return undefined;
}

/** The reason in parts of an answer. Each part may contain a reason or be one. */
export function reasonAmong(parts: readonly unknown[]): string | undefined {
  const texts = joinReasons(parts.map((part) => nestedReason(part, 0)));
  if (texts === '') return undefined;
  return foreignLine(texts);
}

/** Makes a text of an API one short line that makes no platform repeat the call. */
export function foreignLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return withoutRetryWords([...line].slice(0, maxLength).join('')).trim();
}

function nestedReason(value: unknown, depth: number): string {
  if (typeof value === 'string') return value.trim();
  if (depth > maxDepth) return '';
  if (Array.isArray(value))
    return joinReasons(value.slice(0, 5).map((item) => nestedReason(item, depth + 1)));
  if (!isObject(value)) return '';
  const sentence = firstReason(value, sentences, depth);
  const listed = firstReason(value, lists, depth) || (sentence === '' ? byName(value, depth) : '');
  const fullText =
    joinReasons([sentence, listed === sentence ? '' : listed]) || firstReason(value, titles, depth);
  const [place] = depth === 0 ? [] : errorLocations(value);
  if (place === undefined || fullText === '') return fullText;
  return `${place}: ${fullText}`;
}

function firstReason(value: Members, names: string, depth: number): string {
  for (const name of names.split(' ')) {
    const memberText = Object.hasOwn(value, name) ? nestedReason(value[name], depth + 1) : '';
    if (memberText !== '') return memberText;
  }
  return '';
}

/** Reasons by the name of the argument: `{"errors": {"chain": ["is unknown"]}}`. */
function byName(value: Members, depth: number): string {
  if (depth === 0) return '';
  const lists = Object.entries(value).filter(([, member]) => Array.isArray(member));
  return joinReasons(
    lists.slice(0, 5).map(([name, member]) => `${name}: ${nestedReason(member, depth + 1)}`),
  );
}

function errorLocations(value: Members): readonly string[] {
  return places.split(' ').flatMap((name) => {
    const steps = Object.hasOwn(value, name) ? [value[name]].flat() : [];
    // An object may have a member toString.
    const place = steps.filter((step) => typeof step === 'string' || typeof step === 'number').join('.');
    if (/^[\w.[\]/-]{1,80}$/.test(place)) return [place];
    return [];
  });
}

function joinReasons(parts: readonly string[]): string {
  return [...new Set(parts.filter((part) => part !== ''))].join('; ');
}
