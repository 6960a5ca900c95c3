import type { ObjectSchema } from '../server/define-tool.ts';
import { isObject, type Members, type SchemaProblem } from '../server/schema.ts';
import { reasonAmong } from './reason.ts';

/** Members of an answer that have this value in each success, by path: `{ status: 'OK' }`, `{ 'status.code': 200 }`. */
export type Success = { readonly [path: string]: string | number | boolean | null };

/** What an answer without success has in place of it. */
export interface Contradiction extends SchemaProblem {
  /** What the API gives as the reason, for the caller. */
  readonly reason: string | undefined;
}

/**
 * Why an answer is a failure of the API although its form is right; null if nothing says so. It is one if such a member is the HTTP
 * status of a failure, or false in place of true, or an error without a list or an object of data; if there is an error that no
 * success has, and a required member is missing; or if any of this differs and no member for data has a value. A value that
 * says that nothing was found, such as ZERO_RESULTS, is no failure. A text in place of a list or an object is no data.
 */
export function contradiction(
  given: unknown,
  success: Success,
  schema: ObjectSchema,
  wrap: string | undefined,
): Contradiction | null {
  const isWrapped = wrap === 'result' && isObject(given);
  const answer = isWrapped ? given.result : given;
  const { properties, required = [] } = isWrapped ? ((schema.properties.result ?? {}) as Members) : schema;
  if (!isObject(answer) || !isObject(properties)) return null;
  const others = Object.keys(success).filter(
    (path) => ![undefined, success[path]].includes(scalarAt(answer, path)),
  );
  const errors = Object.keys(answer).filter(
    (name) => /^errors?$/i.test(name) && !(name in success) && !isBlank(answer[name]),
  );
  const said = [...others, ...errors];
  if (said.length === 0) return null;
  const apart = new Set([...Object.keys(success), ...errors].map((path) => path.split('.')[0]));
  const data = Object.entries(properties).filter(([name]) => !apart.has(name));
  const structured = data.filter(([, one]) => isStructured(one as Members));
  const texts = structured.flatMap(([name, one]) => {
    return typeof answer[name] === 'string' && !admits(one as Members, 'string') ? [answer[name]] : [];
  });
  const isWithout = (part: typeof data) =>
    part.every(([name]) => isBlank(answer[name]) || texts.includes(answer[name] as string));
  const isFailure = (path: string) => {
    const value = scalarAt(answer, path);
    if (/^[45]\d\d$/.test(String(value)) || (success[path] === true && value === false)) return true;
    return path in success && /(?:^|\.)err/i.test(path) && isWithout(structured);
  };
  const lacks = (required as readonly string[]).some((name) => !Object.hasOwn(answer, name));
  const certain = others.find(isFailure) ?? (lacks ? errors[0] : undefined);
  const likely = said.find((path) => !saysNothing.test(JSON.stringify(scalarAt(answer, path) ?? '')));
  const isEmpty = data.length > 0 && isWithout(structured.length > 0 ? structured : data);
  const path = certain ?? (isEmpty ? likely : undefined);
  if (path === undefined) return null;
  const text = path in success ? `expected ${JSON.stringify(success[path])}` : 'expected no error';
  const around = others.flatMap((one) => (one.includes('.') ? [answer[one.slice(0, one.indexOf('.'))]] : []));
  const reason =
    reasonAmong([answer, ...around, ...texts]) ?? reasonAmong(said.map((one) => scalarAt(answer, one)));
  return { path: `answer.${path}`, text, withoutValue: text, reason };
}

const saysNothing = /zero|empty|none|no[ _-]?(data|hit|match|record|result)|not[ _-]?found/i;

/** The value at a path; undefined if it is an object. */
function scalarAt(answer: Members, path: string): Success[string] | undefined {
  const value = path.split('.').reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), answer);
  return typeof value === 'object' && value !== null ? undefined : (value as Success[string] | undefined);
}

function isStructured(schema: Members): boolean {
  return admits(schema, 'array') || admits(schema, 'object');
}

function admits({ type, anyOf }: Members, name: string): boolean {
  if ([type ?? []].flat().includes(name)) return true;
  return Array.isArray(anyOf) && anyOf.filter(isObject).some((one) => admits(one, name));
}

function isBlank(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return [undefined, null, '', false].includes(value as string);
  return Object.values(value).every(isBlank);
}
