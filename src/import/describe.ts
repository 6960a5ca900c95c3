import { nameList, orList } from 'market-mcp-contract/command';
import { signals, verbIn, wordsOf } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject, membersOf, typesOf } from 'market-mcp-contract/json';
import { capitalize } from '../model/names.ts';
import { plainText } from './openapi/document-text.ts';
import type { ApiOperation } from './openapi/operations.ts';
import { fieldToDo } from './to-do.ts';

/**
 * What a tool returns and when to use it (C§2.1), from the texts of its operation, its path and its answer.
 *
 * @param operationTexts texts of the operation: `summary` and `description`
 * @param title of the API
 * @param answer the outputSchema, without signals
 * @returns undefined if these say nothing
 */
export function toolDescription(
  { id: operationId, method, path }: Pick<ApiOperation, 'id' | 'method' | 'path'>,
  operationTexts: JsonObject,
  title: string,
  answer: JsonObject,
): string | undefined {
  const thing = thingOf(path);
  const details = plainText(operationTexts.description, 500);
  const summary = plainText(operationTexts.summary, 200) || (details === '' ? wordsOfId(operationId) : '');
  const isUndescribed = summary === '' && details === '';
  if (isUndescribed && (thing === '' || method === 'post')) return undefined;
  const contents = contentsOf(answer);
  const texts = isUndescribed ? [pathSentence(method, thing, contents)] : [...new Set([summary, details])];
  const sentences = texts
    .filter((text) => text !== '')
    .map((text) => (/[.!?…]$/.test(text) ? text : `${text}.`));
  if (contents !== '' && !returning.test(sentences.join(' '))) sentences.push(`Returns ${contents}.`);
  const use = (method === 'get' ? undefined : actionOf(path)) ?? `${uses[method]} ${thing}`;
  return [...sentences, thing === '' ? `${use}${title}.` : `${use} in ${title}.`].join(' ');
}

/** An operationId of several words as a summary; empty for one word. */
function wordsOfId(operationId: ApiOperation['id']): string {
  const words = wordsOf(plainText(operationId, 100));
  return words.length > 1 ? capitalize(words.join(' ')) : '';
}

/** `Returns parcels: id and name`: all that a method, a path and an answer say. */
function pathSentence(method: ApiOperation['method'], thing: string, contents: string): string {
  if (method === 'get' && contents !== '') return `${verbs[method]} ${thing}: ${contents}`;
  return `${verbs[method]} ${thing}`;
}

const returning =
  /\b(return|get|give|list|fetch|find|show|report|search|read|retrieve|create|check|count)(s|es|ed|ing)?\b/i;

const verbs = { get: 'Returns', post: '', put: 'Replaces', patch: 'Changes', delete: 'Deletes' } as const;
const uses = {
  get: 'Use it when a question is about',
  post: 'Use it for',
  put: 'Use it to replace',
  patch: 'Use it to change',
  delete: 'Use it to delete',
} as const;

/** The schema of an answer with the members that are no signals. */
export function outputWithoutSignals(outputSchema: JsonObject): JsonObject {
  const members = Object.entries(membersOf(outputSchema)).filter(([name]) => !Object.hasOwn(signals, name));
  return { properties: Object.fromEntries(members) };
}

/** `id, name and 3 more`: the members of an answer, or of its items; empty if it describes none. */
export function contentsOf(answer: JsonObject): string {
  const { items, result } = membersOf(answer);
  const record = isObject(result) ? result : answer;
  const inner = isObject(items) && isObject(items.items) ? items.items : record;
  const names = Object.keys(membersOf(inner));
  return nameList(names);
}

/** `Use it to cancel one parcel`, of a path that ends in a verb. */
function actionOf(path: string): string | undefined {
  const segments = path.split('/');
  const words = wordsOf(segments.at(-1) ?? '');
  const thing = thingOf(segments.slice(0, -1).join('/'));
  if (thing === '' || words.length === 0 || verbIn(words.join('_'))?.word !== words[0]) return undefined;
  return `Use it to ${words.join(' ')} ${words.length > 1 ? 'of ' : ''}${thing}`;
}

/** Segments of a path that name no thing: versions, and the kind of interface. */
const nameless = /^(v?\d+(\.\d+)*|api|apis|rest|rpc|public|json|[a-z])$/i;
/** The end of a parameter's name that only says how a thing is identified. */
const identifying = new Set(['id', 'ids', 'uuid', 'guid', 'slug', 'key', 'code', 'number', 'name', 'no']);

/** What a path is about: `parcels`, `one parcel`, `issues of one repo`, `gas of one chain`; empty if it does not say. */
function thingOf(path: string): string {
  const phrases: string[] = [];
  let words: string[] = [];
  /** The words before the last parameter, if the parameter identifies something else. */
  let otherThing = '';
  for (const segment of path.replace(/\.\w+$/, '').split('/')) {
    const parameter = /^\{([^{}]+)\}$/.exec(segment)?.[1];
    if (parameter === undefined) {
      words.push(...wordsOfSegment(segment));
      continue;
    }
    const { noun, isSameThing } = parameterThing(parameter, words);
    otherThing = isSameThing ? '' : words.join(' ');
    if (noun !== '') phrases.push(`one ${noun}`);
    words = [];
  }
  const lastThing = words.length > 0 ? words.join(' ') : otherThing;
  if (lastThing !== '') phrases.push(lastThing);
  const [first = '', second] = phrases.toReversed();
  if (second === undefined) return first;
  return `${first} of ${second}`;
}

function wordsOfSegment(segment: string): readonly string[] {
  if (segment === '' || nameless.test(segment) || segment.includes('{')) return [];
  return wordsOf(segment);
}

/** The thing that a parameter of a path identifies, and whether the words before it name the same thing. */
function parameterThing(parameter: string, words: readonly string[]) {
  const lastWord = singular(words.at(-1) ?? '');
  const subject = [...words.slice(0, -1), lastWord].join(' ');
  const parameterSubject = subjectOfParameter(parameter);
  const isPartOfSubject = parameterSubject === '' || ` ${subject}`.endsWith(` ${parameterSubject}`);
  const isSameThing = isPartOfSubject || ` ${parameterSubject}`.endsWith(` ${lastWord}`);
  return { noun: isPartOfSubject ? subject : parameterSubject, isSameThing };
}

/** `parcelId` → `parcel`; empty for `id`. */
function subjectOfParameter(name: string): string {
  const words = wordsOf(name);
  return words.slice(0, words.findLastIndex((word) => !identifying.has(word)) + 1).join(' ');
}

/** `movies` → `movie`. */
export function singular(noun: string): string {
  if (noun === 'people') return 'person';
  if (/(ss|us|is|as|news|series)$/.test(noun)) return noun;
  if (/ies$/.test(noun)) return noun.replace(/ies$/, 'y');
  return noun.replace(/(?<=ss|x|[^a]ch|sh|tus)es$|s$/, '');
}

/** Names with the same meaning in most APIs, in words. */
const usualDescriptions: readonly (readonly [RegExp, string])[] = [
  [/^page( number)?$/, 'Number of the page of results'],
  [/^(limit|per page|page size|page limit|max results|top|size)$/, 'Maximum number of results'],
  [/^(offset|skip)$/, 'Number of results to skip'],
  [
    /^(cursor|page token|next token|continuation token|starting after)$/,
    'Where to continue, from the previous answer',
  ],
  [/^(sort|sort by|order by)$/, 'By what the results are sorted'],
  [/^(order|sort order|direction|sort direction)$/, 'Direction in which the results are sorted'],
  [/^(q|query|search|search term|keyword|keywords)$/, 'Text to search for'],
  [/^(lat|latitude)$/, 'Latitude in degrees'],
  [/^(lon|lng|long|longitude)$/, 'Longitude in degrees'],
  [/^(lang|language|locale)$/, 'Language of the answer'],
  [/^(fields|select)$/, 'Names of the fields to return'],
  [/^(timezone|time zone|tz)$/, 'Time zone'],
];

/** What the last word of a name says about the unit of its number. */
const units: { readonly [word: string]: string } = {
  ...{ ms: 'milliseconds', millis: 'milliseconds', sec: 'seconds', secs: 'seconds', mins: 'minutes' },
  ...{
    km: 'kilometres',
    kg: 'kilograms',
    usd: 'USD',
    eur: 'EUR',
    gbp: 'GBP',
    pct: 'percent',
    percent: 'percent',
  },
  ...{ celsius: 'degrees Celsius', fahrenheit: 'degrees Fahrenheit', kb: 'kilobytes', mb: 'megabytes' },
  ...Object.fromEntries(
    'milliseconds seconds minutes hours days weeks months years metres meters miles bytes grams cents gwei wei'
      .split(' ')
      .map((unit) => [unit, unit]),
  ),
};

/** Formats, as a caller writes them. */
const formats: { readonly [format: string]: string } = {
  date: 'as a date (2026-01-31)',
  'date-time': 'as a date and time (2026-01-31T12:00:00Z)',
  email: 'as an email address',
  uri: 'as a URL',
  ipv4: 'as an IPv4 address',
  ipv6: 'as an IPv6 address',
};

/**
 * What an argument without a description means, as far as its name and its schema say; else a to-do, which `tool.to-do` reports.
 *
 * @param path of the operation, which may say what an `id` identifies
 */
export function inputDescription(name: string, schema: JsonObject, path: string): string {
  const words = wordsOf(name);
  if (words.length === 0) return fieldToDo(name);
  const phrase = words.join(' ');
  const last = words.at(-1) ?? '';
  const usualDescription = usualDescriptions.find(([pattern]) => pattern.test(phrase))?.[1];
  if (usualDescription !== undefined) return `${usualDescription}.`;
  const types = typesOf(schema);
  if (types.includes('boolean')) return booleanDescription(words) ?? fieldToDo(name);
  const identifier = identifierDescription(name, schema, path);
  if (identifier !== undefined) return identifier;
  const unit = Object.hasOwn(units, last) ? units[last] : undefined;
  const isNumber = types.includes('number') || types.includes('integer');
  if (unit !== undefined && words.length > 1 && isNumber)
    return `${capitalize(words.slice(0, -1).join(' '))} in ${unit}.`;
  const detail = detailOf(schema);
  if (detail === '') return fieldToDo(name);
  return `${capitalize(phrase)}${detail}.`;
}

/** `Identifier of the parcel.`; undefined for an argument that identifies nothing, or no thing with a name. */
function identifierDescription(name: string, schema: JsonObject, path: string): string | undefined {
  const lastWord = wordsOf(name).at(-1) ?? '';
  const isIdentifier = ['id', 'ids', 'uuid', 'guid'].includes(lastWord) || schema.format === 'uuid';
  const subject = isIdentifier ? subjectOfParameter(name) || parameterOwner(name, path) : '';
  if (subject === '') return undefined;
  return `Identifier${lastWord === 'ids' ? 's' : ''} of the ${subject}.`;
}

/** What the segment before a parameter of the path names. */
function parameterOwner(name: string, path: string): string {
  const segments = path.split('/');
  const before = segments[segments.indexOf(`{${name}}`) - 1] ?? '';
  if (before.includes('{') || nameless.test(before)) return '';
  return singular(wordsOf(before).join(' '));
}

function booleanDescription(words: readonly string[]): string | undefined {
  const [first = '', ...rest] = words;
  if (rest.length === 0) return undefined;
  if (/^(include|exclude|show|hide|allow|enable|disable|use|return|skip)$/.test(first))
    return `Whether to ${words.join(' ')}.`;
  if (first === 'with' || first === 'without') return `Whether the answer comes ${words.join(' ')}.`;
  if (first === 'is' || first === 'has') return `Whether it ${words.join(' ')}.`;
  return undefined;
}

/** What the schema of a text or number says besides its type; empty if nothing. */
function detailOf({ enum: allowedValues, format, minimum, maximum, examples }: JsonObject): string {
  const texts = (values: readonly Json[]) => values.filter((value) => typeof value !== 'object').map(String);
  const values = Array.isArray(allowedValues) ? texts(allowedValues) : [];
  if (values.length > 1)
    return values.length <= 6
      ? `: ${orList(values)}`
      : `: ${values.slice(0, 5).join(', ')} or ${values.length - 5} more`;
  if (typeof format === 'string' && Object.hasOwn(formats, format)) return `, ${formats[format]}`;
  if (typeof minimum === 'number' && typeof maximum === 'number') return `, from ${minimum} to ${maximum}`;
  const [example] = Array.isArray(examples) ? texts(examples) : [];
  if (example === undefined || example.length > 40) return '';
  return `, such as ${example}`;
}
