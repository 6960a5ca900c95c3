import { signals } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import { fieldToDo } from './to-do.ts';

/** Facts about all positions in the samples of a tool. */
export interface SampleHints {
  /** Values of the inputs of the tool. */
  readonly inputs: ReadonlySet<string>;
  /** Texts that are integers in the answers, which JavaScript would round. */
  readonly largeIntegers: ReadonlySet<string>;
}

/** Facts about a position, in addition to its values. */
export interface Position {
  /** The name of the member, for its description; absent if it has none, as in lists. */
  readonly name?: string;
  /** The position is a whole answer. */
  readonly isRoot?: boolean;
  readonly hints?: SampleHints;
  /** The name of the list or map that contains the values; null in a list of lists, whose items may mean different things. */
  readonly parent?: string | null;
}

const noHints: SampleHints = { inputs: new Set(), largeIntegers: new Set() };

/**
 * Infers the JSON Schema of a position in JSON documents from all its values. The schema accepts each of them: it has all their types,
 * and requires only the members that all objects have. A member may always be null, because the next answer may contain null.
 */
export function schemaOfValues(values: readonly Json[], position: Position = {}): JsonObject {
  const { name, parent = '', hints = noHints } = position;
  const presentValues = values.filter((value) => value !== null);
  const hasOnlyBlankTexts =
    name !== undefined && !Object.hasOwn(signals, name) && areBlankTexts(presentValues);
  const types = hasOnlyBlankTexts ? blankTextTypes : inferTypes(presentValues, name ?? parent, hints);
  const texts = presentValues.filter((value) => typeof value === 'string');
  const areTexts = texts.length === presentValues.length;
  const words = areTexts ? repeatedWordsIn(texts) : [];
  const format = areTexts ? inferFormat(texts) : undefined;
  const schema: { [keyword: string]: Json } = {};
  const isNullable = name !== undefined || presentValues.length < values.length;
  if (types.length > 0) schema.type = typeOrTypes(types, isNullable);
  if (name !== undefined) {
    const isUnknown = types.length === 0 || hasOnlyBlankTexts;
    schema.description = fieldToDo(name, { isUnknown, values: words });
  }
  if (words.length > 0) schema.examples = words.slice(0, shownValues);
  if (format !== undefined) schema.format = format;
  if (hasOnlyBlankTexts) return schema;
  if (types.includes('object')) Object.assign(schema, inferMembers(presentValues.filter(isObject), position));
  if (types.includes('array')) schema.items = itemsSchema(presentValues.filter(isArray), position);
  return schema;
}

function typeOrTypes([first = 'null', ...otherTypes]: readonly string[], isNullable: boolean): Json {
  if (isNullable) return [first, ...otherTypes, 'null'];
  return otherTypes.length === 0 ? first : [first, ...otherTypes];
}

/** The schema of the items of all lists at a position. */
function itemsSchema(lists: readonly (readonly Json[])[], position: Position): JsonObject {
  const { name, parent = '', hints = noHints } = position;
  const items = lists.flat();
  const isNested = parent === null || items.some(isArray);
  return schemaOfValues(items, { hints, parent: isNested ? null : (name ?? parent) });
}

/** The types of a member that was an empty text in every response: many APIs write '' for a missing object or list. */
export const blankTextTypes: readonly string[] = ['string', 'object', 'array'];

function areBlankTexts(values: readonly Json[]): boolean {
  return values.length > 0 && values.every((value) => value === '');
}

/** `properties` and `required` of objects; `additionalProperties` if their keys are data, such as dates. */
function inferMembers(objects: readonly JsonObject[], position: Position): JsonObject {
  const { name, parent, isRoot = false, hints = noHints } = position;
  if (keysAreData(objects, isRoot, hints.inputs)) {
    const values = objects.flatMap((object) => Object.values(object));
    return { additionalProperties: schemaOfValues(values, { hints, parent: name ?? parent ?? '' }) };
  }
  const { names, commonNames } = memberNames(objects);
  const valuesOf = (member: string) =>
    objects.filter((object) => Object.hasOwn(object, member)).map((object) => object[member] as Json);
  return {
    properties: Object.fromEntries(
      names.map((member) => [member, schemaOfValues(valuesOf(member), { name: member, hints })]),
    ),
    required: commonNames,
  };
}

/** The names of the members of objects, and those that all of them have. */
function memberNames(objects: readonly JsonObject[]) {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const commonNames = names.filter((name) => objects.every((object) => Object.hasOwn(object, name)));
  return { names, commonNames };
}

/** The types of values, each once: `string`, `integer`, …. Large integers were read as texts, but their type is also a number. */
function inferTypes(
  values: readonly Json[],
  name: string | null,
  { largeIntegers }: SampleHints,
): readonly string[] {
  const numbers = values.filter((value) => typeof value === 'number');
  const hasLarge = values.some((value) => typeof value === 'string' && largeIntegers.has(value));
  const isWhole = name !== null && (hasLarge ? numbers.every(Number.isInteger) : areWhole(numbers, name));
  const number = isWhole ? 'integer' : 'number';
  const typeOf = (value: Json) => {
    if (isArray(value)) return 'array';
    if (typeof value === 'number') return number;
    return typeof value;
  };
  const types = new Set<string>(values.map(typeOf));
  if (hasLarge) types.add(number);
  return [...types].sort();
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Words look like an enumeration if there are enough values, few distinct values, and several of each. */
const enumerationLimits = { minValues: 6, maxDistinct: 5, minOfEach: 2 };

/** Maximum number of values that are examples. */
const shownValues = 3;

/** The values of a text that looks like an enumeration, because each occurs several times. The next answer may have others. */
function repeatedWordsIn(texts: readonly string[]): readonly string[] {
  if (texts.length < enumerationLimits.minValues) return [];
  const occurrences = new Map<string, number>();
  for (const text of texts) occurrences.set(text, (occurrences.get(text) ?? 0) + 1);
  const isEnumeration =
    occurrences.size > 1 &&
    occurrences.size <= enumerationLimits.maxDistinct &&
    [...occurrences].every(
      ([text, count]) => count >= enumerationLimits.minOfEach && /^[A-Za-z][\w-]{0,30}$/.test(text),
    );
  if (isEnumeration) return [...occurrences.keys()].sort();
  return [];
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const date = /^\d{4}-\d\d-\d\d$/;

/** RFC 3339, as validators read it: a time needs a zone. */
function inferFormat(texts: readonly string[]): string | undefined {
  if (texts.length === 0) return undefined;
  const allMatch = (pattern: RegExp) =>
    texts.every((text) => pattern.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10))));
  if (allMatch(dateTime) && texts.every((text) => !Number.isNaN(Date.parse(text)))) return 'date-time';
  if (allMatch(date)) return 'date';
  return undefined;
}

/** Last words of names whose values are whole: `comment_count`, `userId`, `blockNumber`. */
const countWords = new Set(
  (
    'id ids page pages count counts number rank nonce decimals year block slot epoch confirmations code status port ' +
    'votes likes stars forks views downloads comments replies followers employees population'
  ).split(' '),
);

/** Names whose values are whole, if the name has no other word. */
const timeWords = new Set('day hour minute month week weekday quarter season episode'.split(' '));

/** Words that mean a fraction, whatever stands beside them: `average_count`. */
const fractionWords = new Set(
  'avg average mean median ratio rate rates rating share score percent percentage pct'.split(' '),
);

/** Words of measures, which are whole by chance only. */
const measureWords = new Set(
  (
    'price prices cost fee fees amount value balance volume cap mcap supply usd eur btc eth total sum open high low close ' +
    'bid ask change temperature temp humidity pressure speed distance weight width height length size depth duration ' +
    'seconds minutes hours days latitude longitude lat lon lng latlng coordinates coords bbox position elevation min max'
  ).split(' '),
);

const timeWord =
  /^(time|timestamp|ts|t|dt|at|date|created|updated|modified|expires|since|until|sunrise|sunset)$/;

/** Seconds since 1970 have ten digits, milliseconds thirteen. */
const leastTimestamp = 1e9;

/** With this number of different whole values, the values are whole by definition. */
const leastDistinctWholes = 3;

/**
 * Whether all values of a position in answers are integers, also the values that the samples do not contain: by its name, or because
 * several samples agree.
 *
 * @param name of the member, or of the list that contains the values; undefined if there is none
 */
function areWhole(values: readonly number[], name = ''): boolean {
  if (!values.every(Number.isInteger)) return false;
  const words = name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  if (words.some((word) => fractionWords.has(word))) return false;
  if (countWords.has(last) || (words.length === 1 && timeWords.has(last))) return true;
  if (timeWord.test(last) && values.every((value) => value >= leastTimestamp)) return true;
  if (words.some((word) => measureWords.has(word))) return false;
  return /^(num|number|count|page)$/.test(words[0] ?? '') || new Set(values).size >= leastDistinctWholes;
}

/**
 * A key in the form of a number, a date, a version, or an id. No member of a record has such a name. A prefix such as the chain of an
 * address is allowed.
 */
const dataKey = new RegExp(
  `^(?:[\\w-]+:)?(?:${[
    '-?\\d[\\d.:TZ+ -]*',
    'v?\\d+\\.\\d+\\.\\d[\\w.+-]*',
    '[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}',
    '(?:0x)?(?=[0-9a-fA-F]*\\d)[0-9a-fA-F]{16,}',
    '(?=[A-Za-z]*\\d)[1-9A-HJ-NP-Za-km-z]{32,44}', // base58, such as an address of Solana
    '(?:bc|tb|[a-z]{3,12})1[02-9ac-hj-np-z]{25,}', // bech32
  ].join('|')})$`,
);

/** `BTCUSDT`, `BRK-B`: a code, if there are several, and their values are not words. */
const codeName = /^[A-Z][A-Z\d]*(?:[-_/.][A-Z\d]+)*$/;
const currencies = new Set(Intl.supportedValuesOf('currency'));

/** Names of members that may have the same form although each means something else. */
const roleName =
  /^(open|close|safe_?low|low|medium|standard|normal|average|slow|fast|fastest|instant|rapid|high|min|max|home|away|bids?|asks?|buy|sell|base|quote|previous|current|next|last|first|from|to|start|end|before|after|today|yesterday|tomorrow|sun(rise|set)|moon(rise|set)|data|meta|result|errors?)$/i;

/**
 * Whether the keys of objects at one position are data: dates, addresses, codes, values of the inputs, keys that differ from
 * sample to sample; at the root also keys of several objects of one form.
 *
 * @param isRoot whether the object is the whole answer
 * @param inputs values of the inputs of the tool, which may be keys of its answers
 */
function keysAreData(objects: readonly JsonObject[], isRoot: boolean, inputs: ReadonlySet<string>): boolean {
  const { names, commonNames } = memberNames(objects);
  if (names.length === 0) return false;
  if (names.every((name) => dataKey.test(name))) return true;
  const values = objects.flatMap((object) => Object.values(object));
  const presentValues = values.filter((value) => value !== null);
  if (!areAlike(presentValues)) return false;
  if ([currencies, inputs].some((dataKeys) => names.every((name) => dataKeys.has(name)))) return true;
  const areObjects = presentValues.every(isObject);
  if (commonNames.length === 0 && (isRoot || areObjects)) return true;
  // Names such as `open` or `min` are members of a record, whatever form they have. The rest is guessed.
  if (names.some((name) => roleName.test(name))) return false;
  if (haveFormOfCodes(names, presentValues)) return true;
  if (presentValues.length < values.length) return false;
  if (isRoot && names.length > 1 && areObjects) return true;
  const isFromMap = areObjects || (areNumbersOrTimes(presentValues) && !includeMeasureNames(names));
  return isFromMap && objects.length > 1 && commonNames.length * 2 < names.length;
}

/** Whether several keys look like codes, such as `BTCUSDT`, and their values are not words. */
function haveFormOfCodes(keys: readonly string[], values: readonly Json[]): boolean {
  if (keys.length < 2 || !keys.every((key) => codeName.test(key))) return false;
  const isWord = (value: Json) => typeof value === 'string' && !/^[-+]?[\d.]+$/.test(value);
  return keys.some(({ length }) => length > 1) && !values.some(isWord);
}

/** Whether values are all numbers, or all times. The texts of a record differ in form. */
function areNumbersOrTimes(values: readonly Json[]): boolean {
  if (values.every((value) => typeof value === 'number')) return true;
  return values.every((value) => typeof value === 'string' && (dateTime.test(value) || date.test(value)));
}

/** Whether a name is the name of a measure or an id, which are members of records although some are absent. */
function includeMeasureNames(names: readonly string[]): boolean {
  const words = names.map(
    (name) =>
      name
        .toLowerCase()
        .split(/[^a-z]+/)
        .at(-1) ?? '',
  );
  return words.some((word) => countWords.has(word) || measureWords.has(word) || fractionWords.has(word));
}

/** Whether values have one type; objects share at least half of their members. */
function areAlike(values: readonly Json[]): boolean {
  const kinds = new Set(values.map((value) => (Array.isArray(value) ? 'array' : typeof value)));
  if (kinds.size !== 1) return false;
  const objects = values.filter(isObject);
  if (objects.length === 0) return true;
  const { names, commonNames } = memberNames(objects);
  return commonNames.length > 0 && commonNames.length * 2 >= names.length;
}
