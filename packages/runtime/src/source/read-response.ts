// From the response of an API to the answer for a tool: data, an empty result or a failure.

import { isProduction } from '../process.ts';
import type { ObjectSchema } from '../server/define-tool.ts';
import {
  findLongNumbers,
  parseLiterally,
  restoreLongIntegers,
  writeLiterally,
} from '../server/exact-numbers.ts';
import { blankObject, isObject, problemFinder, type SchemaProblem } from '../server/schema.ts';
import { type ApiRequest, bodyToRecord } from './api-request.ts';
import { withDecimals } from './decimals.ts';
import { declaredPartToRecord, keepDeclaredMembers } from './declared-members.ts';
import { encloseAnswer, isEmptyPayload, openEnvelope } from './envelope.ts';
import { mismatchError, notJsonError, type RequestLocation, statedFailureError } from './failed-request.ts';
import { fitToSchema } from './fit-to-schema.ts';
import type { HttpSourceOptions, RequestOptions } from './http-source-options.ts';
import { isEmptyAnswer, saysNothingFound } from './no-data.ts';
import { addPages } from './pages.ts';
import { isRecording, type SourceResponse } from './recordings.ts';
import { SourceError } from './source-errors.ts';
import { findStatedFailure, type StatedFailure } from './stated-failure.ts';

type Parse = (text: string) => unknown;

/** The body of a response, taken out of its envelope and wrapped as the tool expects. */
interface Payload {
  readonly isJson: boolean;
  /** Undefined if the body is not JSON, or the envelope says that nothing was found. */
  readonly content: unknown;
  /** Whether the envelope contains nothing. */
  readonly isEmpty: boolean;
  /** The numbers of the text that may have too many digits for JavaScript. */
  readonly longNumbers: ReturnType<typeof findLongNumbers>;
}

/** What a response means for its tool: a value (undefined for an empty result), an accepted write, or a failure. */
type ReadResult =
  | { readonly kind: 'success'; readonly value: unknown }
  | { readonly kind: 'accepted'; readonly value: object }
  | { readonly kind: 'failure'; readonly error: SourceError };

/** Settings of the source. */
interface ReadOptions {
  readonly drift: HttpSourceOptions['drift'];
  /** Removes keys from JSON text. */
  readonly redact: (text: string) => string;
}

/**
 * Parses the body of a response. A write without content has the value of `doneAnswer`.
 *
 * @throws SourceError if the envelope contains a failure that is not an empty result
 */
export function parsePayload(request: ApiRequest, text: string): Payload {
  const { schema } = request.options;
  const longNumbers = findLongNumbers(text);
  if (text === '' && schema)
    return { isJson: true, content: doneAnswer(schema), isEmpty: false, longNumbers };
  const parse: Parse = (json) => restoreLongIntegers(json, JSON.parse(json), longNumbers);
  return { ...openPayload(text, request, parse), longNumbers };
}

/** Fits the value of a response to the schema, and decides whether it is data, an empty result or a failure. */
export function readAnswer(
  request: ApiRequest,
  response: SourceResponse,
  payload: Payload,
  { drift, redact }: ReadOptions,
): ReadResult {
  const { isJson, content } = payload;
  const { value, mismatch, failure } = fitPayload(request, response, payload, drift);
  if (isJson && isEmptyResult(request, { content, value, mismatch, failure })) {
    return { kind: 'success', value: undefined };
  }
  if (isJson && !failure && !mismatch) return { kind: 'success', value };
  const accepted = acceptedAnswer(request, response);
  if (accepted) return { kind: 'accepted', value: accepted };
  const { method, path, keylessRequest } = request;
  const location = { method, host: keylessRequest.url.host, path, status: response.status };
  if (failure) return { kind: 'failure', error: statedFailureError(failure, location) };
  if (mismatch) return { kind: 'failure', error: mismatchError(mismatch, location) };
  return { kind: 'failure', error: createNotJsonError(response, location, redact) };
}

interface FittedPayload {
  readonly value: unknown;
  /** How the value differs from the schema. */
  readonly mismatch: SchemaProblem | null;
  /** What the API says about its failure. */
  readonly failure: StatedFailure | null;
}

/** Fits the value to the schema: drops undeclared members if the tool keeps no others, restores decimals, and adds paging members. */
function fitPayload(
  request: ApiRequest,
  { text, headers }: SourceResponse,
  { isJson, content, longNumbers }: Payload,
  drift: HttpSourceOptions['drift'],
): FittedPayload {
  const { schema, success = {}, wrap, pages, signal } = request.options;
  if (!isJson || !schema) return { value: content, mismatch: null, failure: null };
  const keptSchema = keptMembersSchema(request, text);
  const keptAnswer = keptSchema ? keepDeclaredMembers(content, keptSchema) : content;
  const literally = () => openPayload(text, request, parseLiterally).content;
  const exactAnswer = longNumbers ? withDecimals(keptAnswer, schema, literally) : keptAnswer;
  const pagedAnswer = pages ? addPages(exactAnswer, schema, pages, request.options, headers) : exactAnswer;
  const tolerance = { drift, keepsDeclaredOnly: keptSchema !== undefined, signal, headers };
  const { value, mismatch } = fitToSchema(pagedAnswer, schema, text.length, tolerance);
  return { value, mismatch, failure: findStatedFailure(content, success, schema, wrap) };
}

/** The schema of the members that the tool keeps; undefined if it keeps all. */
function keptMembersSchema({ options }: ApiRequest, text: string): ObjectSchema | undefined {
  return options.keep === 'declared' && text !== '' ? options.schema : undefined;
}

/** Whether a response without data is an empty result for this request. */
function admitsEmpty({ options, isReading }: ApiRequest): boolean {
  return options.noData === 'empty' && isReading && options.schema !== undefined;
}

function isEmptyResult(
  request: ApiRequest,
  fittedPayload: FittedPayload & { readonly content: unknown },
): boolean {
  const { schema, wrap, params = {}, query } = request.options;
  if (!schema || !admitsEmpty(request)) return false;
  const answer = { ...fittedPayload, isWrapped: wrap === 'result' };
  return isEmptyAnswer(schema, answer, [params, query, bodyToRecord(request.options)]);
}

/** The answer of a write that the API has accepted (202) with another body than the schema; undefined if it is none. */
function acceptedAnswer(
  { options, isReading }: ApiRequest,
  { status, text }: SourceResponse,
): object | undefined {
  const { schema } = options;
  if (status !== 202 || isReading || !schema || text === '') return undefined;
  const answer = doneAnswer(schema);
  if (problemFinder(schema)(answer, 'answer')) return undefined;
  return answer;
}

/** The answer of a write without content: `done: true` beside empty values, unless the schema has another `done`. */
function doneAnswer(schema: ObjectSchema): object {
  const blank = blankObject(schema);
  const answer = { ...blank, done: true };
  if (problemFinder(schema)(answer, 'answer')) return blank;
  return answer;
}

function createNotJsonError(
  { text, contentType = '' }: SourceResponse,
  location: RequestLocation,
  redact: (text: string) => string,
): SourceError {
  const beginningOf = (text: string) => {
    const redacted: string = JSON.parse(redact(JSON.stringify(text)));
    return JSON.stringify(redacted.slice(0, 80));
  };
  const description = `${text.length} characters of ${beginningOf(contentType || 'no type')}`;
  return notJsonError(isProduction() ? description : `${description}: ${beginningOf(text)}`, location);
}

/** @throws SourceError if the envelope contains a failure that is not an empty result */
function openPayload(text: string, request: ApiRequest, parse: Parse): Omit<Payload, 'longNumbers'> {
  const { envelope, wrap } = request.options;
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    return { isJson: false, content: undefined, isEmpty: false };
  }
  try {
    value = openEnvelope(value, envelope);
  } catch (error) {
    const saysEmpty =
      admitsEmpty(request) && error instanceof SourceError && saysNothingFound(String(error.hints.detail));
    if (!saysEmpty) throw error;
    return { isJson: true, content: undefined, isEmpty: true };
  }
  return { isJson: true, content: wrapValue(value, wrap), isEmpty: isEmptyPayload(value, envelope) };
}

function wrapValue(value: unknown, wrap: RequestOptions<ObjectSchema>['wrap']): unknown {
  if (wrap === 'result') return { result: value };
  if (wrap && Array.isArray(value)) return { items: value, count: value.length };
  return value;
}

/** The text that is recorded: in the form of the API, with the declared members only if the tool keeps no others. */
export function textToRecord(request: ApiRequest, text: string): string {
  const { envelope, wrap } = request.options;
  const keptSchema = keptMembersSchema(request, text);
  if (!keptSchema || !isRecording()) return text;
  const { content } = openPayload(text, request, parseLiterally);
  const recorded = declaredPartToRecord(request.recordedRequest, content, keptSchema);
  const isWrapped = wrap !== undefined && isObject(recorded) && wrap in recorded;
  return writeLiterally(encloseAnswer(isWrapped ? recorded[wrap] : recorded, envelope));
}
