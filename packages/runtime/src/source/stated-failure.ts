// Failures that an API states in a response with status 200.

import type { ObjectSchema } from '../server/define-tool.ts';
import { isObject, type Members, type SchemaProblem } from '../server/schema.ts';
import { schemaWithoutSignals } from './declared-members.ts';
import { reasonAmong } from './failure-reason.ts';
import { isCount, isFact } from './no-data.ts';

/** Members of an answer that have this value in each success, by path: `{ status: 'OK' }`, `{ 'status.code': 200 }`. */
export type Success = { readonly [path: string]: string | number | boolean | null };

/** The failure that an answer states although its form is right. */
export interface StatedFailure extends SchemaProblem {
  /** The reason that the API gives, for the caller. */
  readonly reason: string | undefined;
}

/** The object of an answer that contains its data: the answer itself, or the only member of it, such as `queryresult`. */
interface Level {
  readonly value: Members;
  readonly properties: Members;
  readonly required: readonly string[];
  /** Before the paths of its members: `queryresult.`. */
  readonly prefix: string;
}

/**
 * Returns the failure that an answer states; null if it states none. A sign is a member of `success` with another value, or an error that
 * no success has. A sign is a certain failure if it is the HTTP status of an error, false instead of true, or an error beside no data.
 * Any other sign is a failure only if the main part of the answer is blank, is a text, or lacks half of its members. Beside an `error`,
 * one missing member is enough. A value that says that nothing was found, such as ZERO_RESULTS, is not a failure.
 */
export function findStatedFailure(
  wholeAnswer: unknown,
  success: Success,
  schema: ObjectSchema,
  wrap: string | undefined,
): StatedFailure | null {
  const isWrapped = wrap === 'result' && isObject(wholeAnswer);
  const answer = isWrapped ? wholeAnswer.result : wholeAnswer;
  const answerSchema = isWrapped
    ? ((schema.properties.result ?? {}) as Members)
    : schemaWithoutSignals(schema);
  if (!isObject(answer) || !isObject(answerSchema.properties)) return null;
  const level = dataLevel(answer, answerSchema);
  const otherSigns = Object.keys(success).filter(
    (path) => ![undefined, success[path]].includes(scalarAt(answer, path)),
  );
  const errors = errorMembers(level, success);
  const signs = [...otherSigns, ...errors];
  if (signs.length === 0) return null;
  const parts = dataParts(level, [...Object.keys(success), ...errors]);
  const structured = parts.filter(([, part]) => isStructured(part));
  const texts = structured.map(([name]) => level.value[name]).filter((value) => typeof value === 'string');
  const isFailure = (sign: string) => {
    const value = scalarAt(answer, sign);
    if (/^[45]\d\d$/.test(String(value)) || (success[sign] === true && value === false)) return true;
    return sign in success && /(?:^|\.)err/i.test(sign) && structured.every((part) => isGone(level, part));
  };
  const lacksRequired = level.required.some((name) => !Object.hasOwn(level.value, name));
  const namedError = errors.find((path) => /(?:^|\.)errors?$/i.test(path));
  const certainSign = otherSigns.find(isFailure) ?? (lacksRequired ? namedError : undefined);
  const likelySign = signs.find(
    (sign) => !nothingFoundWords.test(JSON.stringify(scalarAt(answer, sign) ?? '')),
  );
  const sign = certainSign ?? (areDataGone(level, parts) ? likelySign : undefined);
  if (sign === undefined) return null;
  const text = sign in success ? `expected ${JSON.stringify(success[sign])}` : 'expected no error';
  return { path: `answer.${sign}`, text, withoutValue: text, reason: failureReason(answer, signs, texts) };
}

/** The reason that the API gives: in the objects that contain the signs, in texts instead of data, or in the signs. */
function failureReason(
  answer: Members,
  signs: readonly string[],
  texts: readonly string[],
): string | undefined {
  const containers = [answer, ...signs.map((sign) => memberAt(answer, sign.split('.').slice(0, -1)))];
  return (
    reasonAmong([...new Set(containers), ...texts]) ??
    reasonAmong(containers.flatMap(messageMembers)) ??
    reasonAmong(signs.map((sign) => scalarAt(answer, sign)))
  );
}

function dataLevel(answer: Members, schema: Members): Level {
  let [value, inner, prefix] = [answer, schema, ''];
  for (;;) {
    const { properties = {}, required = [] } = inner as {
      properties?: Members;
      required?: readonly string[];
    };
    const [[name, member] = [], ...otherMembers] = Object.entries(properties);
    const next = name === undefined ? undefined : value[name];
    const isOnly = otherMembers.length === 0 && isObject(member) && isObject(member.properties);
    if (!isOnly || !isObject(next)) return { value, properties, required, prefix };
    [value, inner, prefix] = [next, member, `${prefix}${name}.`];
  }
}

/** The errors of an answer that no success has: `error`, or a message that the schema does not declare. */
function errorMembers({ value, properties, prefix }: Level, success: Success): readonly string[] {
  return Object.keys(value)
    .filter((name) => /^errors?$/i.test(name) || (isMessage(name) && !Object.hasOwn(properties, name)))
    .filter((name) => !hasNoContent(value[name]) && !(`${prefix}${name}` in success))
    .map((name) => `${prefix}${name}`);
}

function isMessage(name: string): boolean {
  return /^(?:err(?:or)?[-_ ]?(?:msg|message|text|info|code)|msg|message)$/i.test(name);
}

/** The texts of members such as `resultMsg`. */
function messageMembers(value: unknown): readonly unknown[] {
  if (!isObject(value)) return [];
  return Object.entries(value)
    .filter(([name]) => /(?:msg|message|text)$/i.test(name))
    .map(([, member]) => member);
}

type DataPart = readonly [name: string, schema: Members];

/** The members of a level that are neither signs nor errors. */
function dataParts({ properties, prefix }: Level, paths: readonly string[]): readonly DataPart[] {
  const innerPaths = paths.filter((path) => path.startsWith(prefix));
  const signNames = new Set(innerPaths.map((path) => path.slice(prefix.length).split('.', 1)[0]));
  return Object.entries(properties)
    .filter((entry): entry is [string, Members] => isObject(entry[1]))
    .filter(([name]) => !signNames.has(name));
}

/** Returns whether the part of an answer with most members has no data: a list, an object, or its other scalars together. */
function areDataGone(level: Level, parts: readonly DataPart[]): boolean {
  const structured = parts.filter(([, part]) => isStructured(part));
  const scalars = parts.filter(([name, part]) => !isStructured(part) && !isFact(name) && !isCount(name));
  const sizes = structured.map(([, part]) => countLeaves(part));
  const areScalarsMain = scalars.length > Math.max(0, ...sizes);
  if (areScalarsMain) return scalars.filter((part) => isGone(level, part)).length * 2 > scalars.length;
  const main = structured[sizes.indexOf(Math.max(...sizes))];
  return main !== undefined && isGone(level, main);
}

function isGone({ value }: Level, [name, part]: DataPart): boolean {
  return isWithoutData(value[name], part);
}

/** Returns whether a value is blank, a text instead of a list or an object, or an object without half of its members. */
function isWithoutData(value: unknown, schema: Members): boolean {
  if (hasNoContent(value)) return true;
  if (typeof value === 'string') return isStructured(schema);
  if (!isObject(value) || !isObject(schema.properties)) return false;
  const names = Object.keys(schema.properties);
  return names.filter((name) => Object.hasOwn(value, name)).length * 2 < names.length;
}

/** The number of scalars that a schema describes. */
function countLeaves(schema: Members): number {
  const { properties, items, additionalProperties: valueSchema } = schema;
  const inner = [...(isObject(properties) ? Object.values(properties) : []), items, valueSchema].filter(
    isObject,
  );
  if (inner.length === 0) return 1;
  return inner.reduce((sum, schema) => sum + countLeaves(schema), 0);
}

const nothingFoundWords = /zero|empty|none|no[ _-]?(data|hit|match|record|result)|not[ _-]?found/i;

/** The value at a path; undefined if it is an object. */
function scalarAt(answer: Members, path: string): Success[string] | undefined {
  const value = memberAt(answer, path.split('.'));
  if (typeof value === 'object' && value !== null) return undefined;
  return value as Success[string] | undefined;
}

function memberAt(answer: Members, names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), answer);
}

/** Returns whether a schema admits only lists and objects. A member that was an empty text may also be one of those. */
function isStructured(schema: Members): boolean {
  return (admits(schema, 'array') || admits(schema, 'object')) && !admits(schema, 'string');
}

function admits({ type, anyOf }: Members, name: string): boolean {
  if ([type ?? []].flat().includes(name)) return true;
  return Array.isArray(anyOf) && anyOf.filter(isObject).some((schema) => admits(schema, name));
}

function hasNoContent(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null)
    return [undefined, null, '', false].includes(value as string);
  return depth < maxDepth && Object.values(value).every((member) => hasNoContent(member, depth + 1));
}

/** Deeper values are not blank. */
const maxDepth = 100;
