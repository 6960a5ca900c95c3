// Which responses of an API mean an empty result.

import { type ObjectSchema, signals } from '../server/define-tool.ts';
import { isObject, type Members, type SchemaProblem } from '../server/schema.ts';
import { combinedSchemas } from './declared-members.ts';

// The contract has the same rule in packages/contract/src/definition/no-data.ts: one table of cases tests both.

const wordSet = (list: string) => new Set(list.split(' '));

/** Members that contain facts about the response: `meta`, `_links`, `search_metadata`. */
const wrappers = wordSet(
  'meta metadata link links page paging pagination header headers cursors params parameters extensions shards searchinfo',
);

/** Scalars that are facts about the response: `status`, `hasMore`, `fetchedAt`, `items-per-page`. */
const facts = wordSet(
  'status stat code cod ret success successful ok message msg info reason error errors errno warning warnings ' +
    'page pages perpage pagesize limit offset skip start rows more next previous prev cursor self took elapsed time ms ' +
    'timestamps generated fetched cached retrieved updated url uri href kind type object query q search term terms keyword ' +
    'keywords sort params parameters version api generator request trace etag help exact complete ' +
    'incomplete partial truncated exhaustive timed batchcomplete relation retmax retstart querytranslation',
);

/** Words that a fact may have beside a word of `facts`: `request_id`, `resultType`. */
const companions = wordSet(
  'has is of in out at by for to per no num number nb n max min last first total count size id result results response ' +
    'server http item items hit hits record records index token processing found set list collection reset name',
);

/** Numbers of entries. */
const counts = wordSet(
  'count counts total totals num number nb n found hits length dist rows records results items elements entries matches ' +
    'matched documents docs pages size',
);

/** A number of entries in one word: `numpods`, `resultcount`. */
const joinedCount = /^(?:(?:num|nb|total)[a-z]*s|(?:result|item|hit|total)count)$/;

function wordsOf(name: string): readonly string[] {
  const parts = name.match(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu) ?? [];
  return parts.map((word) => word.toLowerCase());
}

function isWrapper(name: string): boolean {
  return wrappers.has(wordsOf(name).at(-1) ?? '');
}

/** Returns whether a member is a fact about the response by its name. */
export function isFact(name: string): boolean {
  const nameWords = wordsOf(name);
  if (nameWords.some((word) => /^(?:timestamp|copyright|attribution)$/.test(word))) return true;
  return (
    nameWords.some((word) => facts.has(word)) &&
    nameWords.every((word) => facts.has(word) || companions.has(word))
  );
}

/** Returns whether a member is a number of entries by its name. */
export function isCount(name: string): boolean {
  const nameWords = wordsOf(name);
  if (nameWords.length === 0) return false;
  if (/^(?:num|number|nb|n)$/.test(nameWords[0] ?? '') || /^counts?$/.test(nameWords.at(-1) ?? ''))
    return true;
  return nameWords.every((word) => counts.has(word) || companions.has(word) || joinedCount.test(word));
}

/**
 * Returns whether a response to a read contains no data. `null`, `[]` and `{}` have no data. If the schema has a list, a map or an object
 * of data, some values are not data either: null, empty texts, counts that are 0, repeated arguments, and facts about the response.
 *
 * @param requestParts what the request sent
 */
export function lacksData(schema: ObjectSchema, value: unknown, requestParts: unknown = []): boolean {
  if (isEmptyValue(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const entries = Object.entries(value).filter(([name]) => !Object.hasOwn(signals, name));
  const [[name, member] = []] = entries;
  if (entries.length === 1 && name === 'result' && isEmptyValue(member)) return true;
  const repeatedArguments = new Set(scalarsIn(requestParts).map(String));
  return (
    holdsContainer(schema) && !entries.some(([member, inner]) => isData(inner, [member], repeatedArguments))
  );
}

/** Returns whether a value is null, `[]` or `{}`. */
function isEmptyValue(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Deeper values are data. */
const maxDepth = 100;

/** @param path the name of the value, then the names of the members that contain it, from inside to outside */
function isData(value: unknown, path: readonly string[], repeatedArguments: ReadonlySet<string>): boolean {
  const [name = '', parentName = ''] = path;
  if (value === null || value === '' || isWrapper(name)) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value))
    return (
      path.length > maxDepth ||
      Object.entries(value).some(([member, inner]) => isData(inner, [member, ...path], repeatedArguments))
    );
  const isZero = value === 0 || value === '0';
  if (isZero && (isCount(name) || (name === 'value' && isCount(parentName)))) return false;
  return !isFact(name) && !repeatedArguments.has(String(value));
}

/** Returns whether a schema has a list, a map or an object of data. */
function holdsContainer(schema: ObjectSchema): boolean {
  const members = combinedSchemas({ ...schema }).flatMap(({ properties }) =>
    isObject(properties) ? Object.entries(properties) : [],
  );
  return members.some(
    ([name, member]) =>
      !Object.hasOwn(signals, name) && !isWrapper(name) && isObject(member) && isContainer(member),
  );
}

/** Returns whether a schema admits lists, maps or objects of data. */
function isContainer(schema: Members): boolean {
  return combinedSchemas(schema).some(({ type, properties, items, additionalProperties }) => {
    const types = [type ?? []].flat();
    if (isObject(items) || isObject(additionalProperties)) return true;
    // A member that was an empty text may also be a list or an object.
    if (!isObject(properties)) {
      return !types.includes('string') && (types.includes('array') || types.includes('object'));
    }
    return Object.entries(properties).some(
      ([name, member]) => !isWrapper(name) && isObject(member) && (isContainer(member) || !isFact(name)),
    );
  });
}

/** Words of a reason that says that nothing was found. */
const nothingFoundWords =
  /\bnot[ _-]?found|\bno[ _-](?:such|data|results?|match(?:es)?|records?|hits?|entries|rows|content)\b|\bno \w+(?: \S+){0,6} (?:match|found)|\bnothing (?:was |were )?found|\b(?:zero|empty)[ _-]results?|\b(?:not|n't) exist|(?:\bnot|n't) (?:be )?(?:found|find|resolve)/i;

/** Words of a reason that is about the request or its sender. */
const senderWords =
  /(?<![a-z])(?:(?:api[ _-]?|access[ _-]?)?(?:key|token)s?|account|permission|limit|quota|plan|endpoint|method|route|url)(?![a-z])/i;

/** Returns whether the reason of a failure says that nothing was found: then the failure is an empty result. */
export function saysNothingFound(reason: string): boolean {
  return nothingFoundWords.test(reason) && !senderWords.test(reason);
}

/** The answer to a request in the form of its tool, and what is wrong with it. */
interface ReadAnswer {
  /** The answer as it arrived. */
  readonly content: unknown;
  readonly value: unknown;
  readonly isWrapped: boolean;
  readonly mismatch: SchemaProblem | null;
  readonly failure: { readonly reason: string | undefined } | null;
}

/** Returns whether the answer to a read is an empty result. @param sentArguments the parts of the request */
export function isEmptyAnswer(schema: ObjectSchema, answer: ReadAnswer, sentArguments: unknown): boolean {
  const { content, value, isWrapped, mismatch, failure } = answer;
  if (failure) return saysNothingFound(failure.reason ?? '');
  if (isEmptyValue(isWrapped && isObject(content) ? content.result : content)) return true;
  return mismatch === null && lacksData(schema, value, sentArguments);
}

function scalarsIn(value: unknown): readonly unknown[] {
  const scalars: unknown[] = [];
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next));
    else scalars.push(next);
  }
  return scalars;
}
