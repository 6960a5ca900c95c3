import { isAscii } from './ascii.ts';
import { isObject } from './json.ts';
import type { Json, JsonObject } from './model.ts';

/** The effect of a tool's call, which clients need to know before they call (MCP, "Tool annotations"). */
export const effects = {
  reads: hints(true, false, true, true),
  computes: hints(true, false, true, false),
  adds: hints(false, false, false, true),
  changes: hints(false, true, true, true),
  acts: hints(false, true, false, true),
} as const;

export type Effect = keyof typeof effects;

/** The four hints of MCP. */
export interface Hints extends JsonObject {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export const hintNames = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** First words in the names of tools that only read. */
export const readingVerbs: ReadonlySet<string> = new Set(
  (
    'get list find search fetch look lookup calculate compute scan check convert analyze analyse compare count ' +
    'describe read show resolve rank predict estimate query browse view retrieve'
  ).split(' '),
);

/** Words that name an effect anywhere in a name: `github_create_issue`. */
const plainVerbs = new Map<string, Effect>([
  ...wordsFor('adds', 'add create insert upload subscribe invite'),
  ...wordsFor(
    'changes',
    'delete remove update edit modify rename replace overwrite erase destroy upsert purge wipe truncate unsubscribe disable',
  ),
  ...wordsFor('acts', 'send execute pay notify'),
]);

/** Words that name an effect only at the start of a name; elsewhere they are nouns too: `get_swap_fee`, `last_trade`. */
const firstVerbs = new Map<string, Effect>([
  ...plainVerbs,
  ...wordsFor('adds', 'register import publish post append save write'),
  ...wordsFor(
    'changes',
    'set put patch move archive clear close cancel reset restore revoke enable lock drop',
  ),
  ...wordsFor(
    'acts',
    'run exec email swap trade transfer buy sell purchase charge refund withdraw deposit stake bridge mint burn borrow lend repay vote submit approve sign deploy start stop restart kill place order book reserve',
  ),
]);

/** The words of a name: `deleteDatabase`, `delete_database` and `delete-database` all give the same two. */
export function wordsOf(name: string): readonly string[] {
  const words = isAscii(name)
    ? name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g)
    : name.match(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu);
  return (words ?? []).map((word) => word.toLowerCase());
}

/** The effect that a tool's name indicates; undefined if it indicates none. */
export function effectInName(name: string): Effect | undefined {
  const words = wordsOf(name);
  const [first = ''] = words;
  if (readingVerbs.has(first)) return 'reads';
  const verb = words.find((word) => plainVerbs.has(word));
  return firstVerbs.get(first) ?? (verb === undefined ? undefined : plainVerbs.get(verb));
}

/** The effect of a tool that declares none, judged by its name. */
export function effectOfName(name: string): Effect {
  return effectInName(name) ?? 'reads';
}

/**
 * All four hints of a tool. Given hints are kept. The others follow from them, by MCP's meaning of an absent hint,
 * or else from the tool's name.
 */
export function completeHints(name: string, given: Json | undefined): JsonObject {
  const own = isObject(given) ? given : {};
  return { ...effects[effectOf(name, own)], ...own };
}

function effectOf(name: string, { readOnlyHint, destructiveHint }: JsonObject): Effect {
  if (readOnlyHint === true) return 'reads';
  const named = effectOfName(name);
  const isWriting = readOnlyHint === false || destructiveHint === true;
  return isWriting && effects[named].readOnlyHint ? 'acts' : named;
}

const asciiWords = { border: /[^A-Za-z\d]+|(?<=[a-z])(?=[A-Z])/, capitalized: /^[A-Z][a-z]/ };
const unicodeWords = {
  border: /[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u,
  capitalized: /^\p{Lu}\p{Ll}/u,
};

/** `get_gas_price` → `Get gas price` */
export function titleOf(name: string): string {
  const { border, capitalized } = isAscii(name) ? asciiWords : unicodeWords;
  const words = name.split(border).filter((word) => word !== '');
  const text = words.map((word) => (capitalized.test(word) ? word.toLowerCase() : word)).join(' ');
  return text === '' ? name : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function hints(
  readOnlyHint: boolean,
  destructiveHint: boolean,
  idempotentHint: boolean,
  openWorldHint: boolean,
): Hints {
  return { readOnlyHint, destructiveHint, idempotentHint, openWorldHint };
}

function wordsFor(effect: Effect, words: string): readonly (readonly [string, Effect])[] {
  return words.split(' ').map((word) => [word, effect]);
}
