import { maskUrl } from '../command/url-secrets.ts';
import { signals } from '../definition/outcomes.ts';
import { isObject, objectOr, parseJsonText, shorten } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import type { HttpAnswer } from './http.ts';
import { NoAnswer, NotSent } from './receive.ts';

/** The JSON-RPC response to a request: its result or its error, and the HTTP answer that carried it. */
export interface RpcAnswer {
  readonly http: HttpAnswer;
  /** Undefined if no value of the HTTP answer is a response to this id. */
  readonly response: JsonObject | undefined;
  readonly result: JsonObject | undefined;
  readonly error: JsonObject | undefined;
}

let lastId = 0;

/** An id that no earlier request of this process used. */
export function nextId(): number {
  lastId += 1;
  return lastId;
}

/** A JSON-RPC request (C§4). */
export function rpcRequest(id: number | string, method: string, params?: Json): JsonObject {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
}

/** Finds the response to a request among the values of an HTTP answer. */
export function rpcAnswer(http: HttpAnswer, id: number | string): RpcAnswer {
  const response = http.values.filter(isObject).find((value) => value.id === id && !('method' in value));
  return { http, response, result: objectOf(response?.result), error: objectOf(response?.error) };
}

/** Turns a missing answer into an answer with the status 0, for use in `catch`. Rethrows any other error. */
export function silentAnswerOrThrow(error: unknown): RpcAnswer {
  if (!(error instanceof NoAnswer)) throw error;
  const { message: body } = error;
  return rpcAnswer(
    {
      status: 0,
      headers: {},
      body,
      values: [],
      open: false,
      ms: Number.POSITIVE_INFINITY,
      isUnsent: error instanceof NotSent,
    },
    0,
  );
}

/** Whether a request was not sent, because earlier requests stayed unanswered. */
export function isUnsent({ isUnsent = false }: HttpAnswer): boolean {
  return isUnsent;
}

/** Whether authentication has refused a request. */
export function isDeniedByStatus({ status }: Pick<HttpAnswer, 'status'>): boolean {
  return status === 401 || status === 403;
}

/** Too Many Requests (RFC 6585 §4). */
const rateLimitStatus = 429;

/** Whether a server limits the rate of requests, which is no fault. */
export function isLimited({ status }: Pick<HttpAnswer, 'status'>): boolean {
  return status === rateLimitStatus;
}

/** Whether the failure of a tool says that a limit of the rate, of memory or of time is the reason. */
export function saysLimited({ isError, content }: JsonObject): boolean {
  return isError === true && limitWords.test(resultText(content) ?? '');
}

const limitWords =
  /rate.?limit|too many (?:requests|calls)|throttl|quota|overload|\bbusy\b|DEADLINE_EXCEEDED|timed? ?out/i;

/** The session that an answer names. */
export function sessionOf({ headers }: HttpAnswer): string | undefined {
  const session = headers['mcp-session-id'];
  if (typeof session === 'string' && session !== '') return session;
  return undefined;
}

/** Returns the address of a redirect, without secrets; undefined for any other answer. */
export function redirectTarget({ status, headers: { location } }: HttpAnswer): string | undefined {
  if (status >= 300 && status < 400 && location !== undefined) return clipText(maskUrl(location));
  return undefined;
}

/** A short description of an answer, for `Problem.actual`. */
export function describe(answer: HttpAnswer): string {
  const { status, body } = answer;
  const target = redirectTarget(answer);
  if (target !== undefined) return `HTTP ${status}, a redirect to ${target}`;
  const shownBody = clipText(body);
  if (status === 0) return shownBody;
  return `HTTP ${status} ${shownBody}`.trimEnd();
}

/** Whether a description of an answer says that its status is 429. Such an answer is no fault of the server. */
export function quotesRateLimit(description: string): boolean {
  return description.includes(`HTTP ${rateLimitStatus}`);
}

/** A short description of the outcome of a tools/call: the data of its result, or the whole answer if it has none. */
export function describeCall({ http, result }: RpcAnswer): string {
  if (result === undefined) return describe(http);
  const { isError, structuredContent, content } = result;
  const text = resultText(content);
  const shownContent =
    structuredContent === undefined && text !== undefined
      ? clipText(text)
      : shorten(signalsFirst(structuredContent) ?? content ?? result, shownCharacters);
  if (isError === true) return `isError: true, ${shownContent}`;
  return shownContent;
}

/** The data of a result with the signals of its outcome before the empty fields, which may leave no room for them. */
function signalsFirst(data: Json | undefined): Json | undefined {
  if (!isObject(data)) return data;
  const rank = ([name]: readonly [string, Json]): number => (Object.hasOwn(signals, name) ? 0 : 1);
  return Object.fromEntries(Object.entries(data).toSorted((left, right) => rank(left) - rank(right)));
}

/** The text of a result's first content item, if it is a text item. */
export function resultText(content: Json | undefined): string | undefined {
  const first: Json | undefined = Array.isArray(content) ? content[0] : undefined;
  if (isObject(first) && first.type === 'text' && typeof first.text === 'string') return first.text;
  return undefined;
}

/** The id under which the server logged the cause of a failure, if the text of the result contains one. */
export function incidentIn(content: Json | undefined): string | undefined {
  return /\(incident ([\w-]{8,64})\)/.exec(resultText(content) ?? '')?.[1];
}

/** The text of a problem about the failure that a tool answered with. @param content of the result: its text repeats the data (C§2.2) */
export function failureMembers(content: Json | undefined): Pick<Problem, 'failed' | 'code'> {
  const { error: code } = objectOr(parseJsonText(resultText(content) ?? '')[0]);
  return { failed: true, ...(typeof code === 'string' && { code: code.slice(0, shownCharacters) }) };
}

const shownCharacters = 160;

function clipText(text: string): string {
  const line = text.slice(0, 1_000).replaceAll(/\s+/g, ' ').trim();
  if (line.length <= shownCharacters) return line;
  return `${line.slice(0, shownCharacters - 1)}…`;
}

function objectOf(value: unknown): JsonObject | undefined {
  if (isObject(value)) return value;
  return undefined;
}
