import { isObject } from '../json/json.ts';
import { propertiesOf, typesOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import { wordsOf } from './effect.ts';
import { signals } from './outcomes.ts';

// The runtime has the same rule in packages/runtime/src/source/no-data.ts: one table of cases tests both.

const words = (list: string) => new Set(list.split(' '));

/** Members that contain facts about the response: `meta`, `_links`, `search_metadata`. */
const wrappers = words(
  'meta metadata link links page paging pagination header headers cursors params parameters extensions shards searchinfo',
);

/** Scalars that are facts about the response: `status`, `hasMore`, `fetchedAt`, `items-per-page`. */
const facts = words(
  'status stat code cod ret success successful ok message msg info reason error errors errno warning warnings ' +
    'page pages perpage pagesize limit offset skip start rows more next previous prev cursor self took elapsed time ms ' +
    'timestamps generated fetched cached retrieved updated url uri href kind type object query q search term terms keyword ' +
    'keywords sort params parameters version api generator request trace etag help exact complete ' +
    'incomplete partial truncated exhaustive timed batchcomplete relation retmax retstart querytranslation',
);

/** Words that may stand beside those: `request_id`, `resultType`. */
const companions = words(
  'has is of in out at by for to per no num number nb n max min last first total count size id result results response ' +
    'server http item items hit hits record records index token processing found set list collection reset name',
);

/** Numbers of entries. */
const counts = words(
  'count counts total totals num number nb n found hits length dist rows records results items elements entries matches ' +
    'matched documents docs pages size',
);

/** A number of entries in one word: `numpods`, `resultcount`. */
const joinedCount = /^(?:(?:num|nb|total)[a-z]*s|(?:result|item|hit|total)count)$/;

function isWrapper(name: string): boolean {
  return wrappers.has(wordsOf(name).at(-1) ?? '');
}

function isFact(name: string): boolean {
  const nameWords = wordsOf(name);
  if (nameWords.some((word) => /^(?:timestamp|copyright|attribution)$/.test(word))) return true;
  return (
    nameWords.some((word) => facts.has(word)) &&
    nameWords.every((word) => facts.has(word) || companions.has(word))
  );
}

function isCount(name: string): boolean {
  const nameWords = wordsOf(name);
  if (nameWords.length === 0) return false;
  if (/^(?:num|number|nb|n)$/.test(nameWords[0] ?? '') || /^counts?$/.test(nameWords.at(-1) ?? ''))
    return true;
  return nameWords.every((word) => counts.has(word) || companions.has(word) || joinedCount.test(word));
}

/**
 * Returns whether a response to a read contains no data. `null`, `[]` and `{}` do not. If the schema has
 * a list, a map or an object of data, a response also lacks data if each of its values is null, an empty text, a count that is 0,
 * a repeated argument, or a fact about the response.
 *
 * @param args what the request sent
 */
export function lacksData(schema: JsonObject, value: Json, args: Json = []): boolean {
  if (isEmptyValue(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const entries = Object.entries(value).filter(([name]) => !Object.hasOwn(signals, name));
  const [[name, member] = []] = entries;
  if (entries.length === 1 && name === 'result' && isEmptyValue(member)) return true;
  const repeated = new Set(scalarsIn(args).map(String));
  return holdsContainer(schema) && !entries.some(([member, inner]) => isData(inner, [member], repeated));
}

/** Returns whether a value is null, `[]` or `{}`. */
function isEmptyValue(value: Json | undefined): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Deeper values are data. */
const deepest = 100;

/** @param path the names of a value and of what contains it, its own one first */
function isData(value: Json, path: readonly string[], repeated: ReadonlySet<string>): boolean {
  const [name = '', parentName = ''] = path;
  if (value === null || value === '' || isWrapper(name)) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value))
    return (
      path.length > deepest ||
      Object.entries(value).some(([member, inner]) => isData(inner, [member, ...path], repeated))
    );
  const isZero = value === 0 || value === '0';
  if (isZero && (isCount(name) || (name === 'value' && isCount(parentName)))) return false;
  return !isFact(name) && !repeated.has(String(value));
}

/** Returns whether a schema has a list, a map or an object of data. */
function holdsContainer(schema: JsonObject): boolean {
  return combinedSchemas(schema)
    .flatMap((part) => propertiesOf(part))
    .some(([name, member]) => !Object.hasOwn(signals, name) && !isWrapper(name) && isContainer(member));
}

/** Returns whether a schema admits lists, maps or objects of data. */
function isContainer(schema: JsonObject): boolean {
  return combinedSchemas(schema).some((part) => {
    const types = typesOf(part);
    if (isObject(part.items) || isObject(part.additionalProperties)) return true;
    // A member that was an empty text may also be a list or an object.
    if (!isObject(part.properties)) {
      return !types.includes('string') && (types.includes('array') || types.includes('object'));
    }
    return propertiesOf(part).some(
      ([name, member]) => !isWrapper(name) && (isContainer(member) || !isFact(name)),
    );
  });
}

/** A schema and those that it combines. */
function combinedSchemas(schema: JsonObject): readonly JsonObject[] {
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flat().filter((part) => isObject(part));
  return [schema, ...parts.flatMap(combinedSchemas)];
}

function scalarsIn(value: Json): readonly Json[] {
  return [...leavesIn(value)].map(([, leaf]) => leaf);
}

/** Words of a reason that finds nothing. */
const nothingFound =
  /\bnot[ _-]?found|\bno[ _-](?:such|data|results?|match(?:es)?|records?|hits?|entries|rows|content)\b|\bno \w+(?: \S+){0,6} (?:match|found)|\bnothing (?:was |were )?found|\b(?:zero|empty)[ _-]results?|\b(?:not|n't) exist|(?:\bnot|n't) (?:be )?(?:found|find|resolve)/i;

/** Words of a reason that speaks of the request or its sender. */
const ofSender =
  /(?<![a-z])(?:(?:api[ _-]?|access[ _-]?)?(?:key|token)s?|account|permission|limit|quota|plan|endpoint|method|route|url)(?![a-z])/i;

/** Returns whether the reason of a failure says that nothing was found: then the failure is an empty result. */
export function saysNothingFound(reason: string): boolean {
  return nothingFound.test(reason) && !ofSender.test(reason);
}
