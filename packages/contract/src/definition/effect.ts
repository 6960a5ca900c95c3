import { objectOr, textOr } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';

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

/** First words in the names of tools that only read. */
export const readingVerbs: ReadonlySet<string> = new Set(
  (
    'get list find search fetch look lookup calculate compute scan check convert analyze analyse compare count ' +
    'describe read show rank predict estimate query browse view retrieve inspect explain summarize'
  ).split(' '),
);

/** Reading verbs that are no nouns. */
const plainReading: ReadonlySet<string> = new Set('get find fetch lookup describe retrieve'.split(' '));

/** Verbs of writing that are no nouns. */
const plainVerbs = verbs({
  adds: 'add append create enable insert install invite publish register save subscribe upload write',
  changes:
    'archive assign cancel delete destroy disable edit erase modify overwrite purge remove rename reorder replace restore ' +
    'revoke rollback toggle truncate unsubscribe update upsert wipe',
  acts:
    'approve borrow checkout deploy execute lend liquidate notify pay reject repay restart redeem send shutdown submit ' +
    'terminate trigger unstake withdraw',
});

/** Verbs of writing that are nouns in other names: `block_number`, `order_book`, `daily_close`. */
const nounVerbs = verbs({
  adds: 'commit grant import post reply reserve',
  changes: 'ban block claim clear close drop lock mark merge move patch put reset set',
  acts:
    'book bridge burn buy charge deposit email exec kill mint order place purchase push refund run sell sign spend stake start ' +
    'stop swap trade transfer vote',
});

/** From the effect that does least harm to the one that does most. */
const byHarm: readonly Effect[] = ['adds', 'changes', 'acts'];

/** Words that join a second verb to the first. */
const joining: ReadonlySet<string> = new Set(['and', 'or', 'then']);

/** The words of a tool's name that are verbs of writing, in the order of the lists (docs/check-reference.md). */
export const writingVerbs: readonly string[] = [...plainVerbs.keys(), ...nounVerbs.keys()].toSorted();

/** The words of a name: `deleteDatabase`, `delete_database` and `delete-database` all give the same two. */
export function wordsOf(name: string): readonly string[] {
  const words = name.match(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu) ?? [];
  return words.map((word) => word.toLowerCase());
}

/** The verb in a tool's name that indicates the effect of a call. */
export interface Verb {
  readonly word: string;
  readonly effect: Effect;
  /** The word may be a noun where it stands: `last_trade`. */
  readonly mayBeNoun: boolean;
}

/**
 * The verb that decides what a name indicates; undefined if it has none. A reading verb at the start makes a read
 * (`get_order_book`), unless `and` or `or` joins a verb of writing (`get_or_create_user`) or a plain one ends the name, so that
 * the start is a noun (`list_create`). Otherwise any verb of writing counts (`issues_create`, `order_cancel`).
 */
export function verbIn(name: string): Verb | undefined {
  const words = wordsOf(name);
  const [first = '', second = ''] = words;
  const last = words.at(-1) ?? '';
  if (first === 'check' && /^(in|out|off)$/.test(second))
    return { word: `check ${second}`, effect: 'acts', mayBeNoun: false };
  if (!readingVerbs.has(first)) return writingIn(words) ?? readingAfterPrefix(words);
  const joined = words.findIndex((word) => joining.has(word));
  const ending = !plainReading.has(first) && last !== 'update' && plainVerbs.has(last) ? [last] : [];
  return writingIn([...ending, ...(joined < 0 ? [] : words.slice(joined))]) ?? reading(first);
}

/** The most harmful verb of writing; one that may be a noun counts only at the start, or if there is no other. */
function writingIn(words: readonly string[]): Verb | undefined {
  const verbsOf = (table: ReadonlyMap<string, Effect>, some: readonly string[], mayBeNoun = false): Verb[] =>
    some.flatMap((word) => {
      const effect = table.get(word);
      if (effect) return [{ word, effect, mayBeNoun }];
      return [];
    });
  const sure = [...verbsOf(nounVerbs, words.slice(0, 1)), ...verbsOf(plainVerbs, words)];
  const allVerbs = sure.length > 0 ? sure : verbsOf(nounVerbs, words, true);
  return allVerbs.toSorted(
    (verb, otherVerb) => byHarm.indexOf(otherVerb.effect) - byHarm.indexOf(verb.effect),
  )[0];
}

/** `github_get_issue`, `slack_list_channels` */
function readingAfterPrefix(words: readonly string[]): Verb | undefined {
  const isVerb = (word: string, at: number) =>
    plainReading.has(word) || word === 'search' || (word === 'list' && at < words.length - 1);
  const word = words.find(isVerb);
  if (word === undefined) return undefined;
  return reading(word);
}

function reading(word: string): Verb {
  return { word, effect: 'reads', mayBeNoun: false };
}

/** The effect that a tool's name indicates; undefined if it indicates none. */
export function effectInName(name: string): Effect | undefined {
  return verbIn(name)?.effect;
}

/**
 * Whether calls of a tool only read: by its own hints, or, if it has none, by its name. A name that says nothing does not
 * count as reading.
 */
export function onlyReads({
  name,
  annotations,
}: {
  readonly name?: Json;
  readonly annotations?: Json;
}): boolean {
  const { readOnlyHint, destructiveHint } = objectOr(annotations);
  if (destructiveHint === true) return false;
  if (typeof readOnlyHint === 'boolean') return readOnlyHint;
  return effectInName(textOr(name)) === 'reads';
}

/** What calls of a tool do beyond reading. */
export type WritingEffect = Exclude<Effect, 'reads' | 'computes'> | 'unknown';

/**
 * What calls of a tool do beyond reading: by its hints, completed by its name. `unknown` if neither says anything; undefined if
 * they only read.
 */
export function writingEffect(tool: {
  readonly name?: Json;
  readonly annotations?: Json;
}): WritingEffect | undefined {
  if (onlyReads(tool)) return undefined;
  const { readOnlyHint, destructiveHint, idempotentHint } = completeHints(
    textOr(tool.name),
    tool.annotations,
  );
  if (readOnlyHint === true && destructiveHint !== true) return 'unknown';
  if (destructiveHint === false) return 'adds';
  return idempotentHint === true ? 'changes' : 'acts';
}

/** The effect of a tool that declares none, checked by its name. */
export function effectOfName(name: string): Effect {
  return effectInName(name) ?? 'reads';
}

/**
 * All four hints of a tool. Given hints are kept. The others follow from them, by MCP's meaning of an absent hint,
 * or else from the tool's name.
 */
export function completeHints(name: string, annotations: Json | undefined): JsonObject {
  const ownAnnotations = objectOr(annotations);
  return { ...effects[toolEffect(name, ownAnnotations)], ...ownAnnotations };
}

function toolEffect(name: string, { readOnlyHint, destructiveHint }: JsonObject): Effect {
  if (readOnlyHint === true) return 'reads';
  const namedEffect = effectOfName(name);
  const isWriting = readOnlyHint === false || destructiveHint === true;
  if (isWriting && effects[namedEffect].readOnlyHint) return 'acts';
  return namedEffect;
}

/** `get_gas_price` → `Get gas price` */
export function titleOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== '');
  const text = words.map((word) => (/^\p{Lu}\p{Ll}/u.test(word) ? word.toLowerCase() : word)).join(' ');
  if (text === '') return name;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function hints(
  readOnlyHint: boolean,
  destructiveHint: boolean,
  idempotentHint: boolean,
  openWorldHint: boolean,
): Hints {
  return { readOnlyHint, destructiveHint, idempotentHint, openWorldHint };
}

/** The words of each effect, as a map from a word to its effect. */
function verbs(words: Readonly<Partial<Record<Effect, string>>>): ReadonlyMap<string, Effect> {
  return new Map(
    Object.entries(words).flatMap(([effect, list]) =>
      list.split(' ').map((word) => [word, effect as Effect] as const),
    ),
  );
}
