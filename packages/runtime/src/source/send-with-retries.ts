// Sends a request to an API: retries after 429 and 5xx, redirects, size limit, and the errors of failed requests.

import ky, { HTTPError } from 'ky';
import { answerWeight, type ReservedMemory, reserveForSource } from '../server/call-memory.ts';
import { type Upstream, upstreams } from '../server/log.ts';
import type { SourceLine } from '../server/run-call.ts';
import type { SchemaProblem } from '../server/schema.ts';
import type { Budget } from './budget.ts';
import { attachExplanation, failureStatus } from './failure-log.ts';
import { pagingHeaders } from './pages.ts';
import { reportOrigin, type SourceResponse } from './recordings.ts';
import { cancelled, overloaded, SourceError, tooSlow, unavailable } from './source-errors.ts';
import type { StatedFailure } from './stated-failure.ts';
import {
  type FailedResponse,
  isQuota,
  statusError,
  waitAfterMs,
  withReadableWaits,
} from './status-errors.ts';

/** A complete request to a source, with its keys. */
export interface SourceExchange {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly url: URL;
  /** The path as the author wrote it, for logs: the URL may contain a secret. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  readonly isIdempotent: boolean;
  /** The environment variables that contain its secrets. */
  readonly variables: readonly string[];
  /** The query parameters that carry keys. */
  readonly queryKeys: readonly string[];
}

export interface SendLimits {
  /** For all attempts together, in milliseconds. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxBytes: number;
  /** Removes keys from the body of an answer. */
  redact(text: string): string;
}

/** The statuses after which a request is sent again, if it may be repeated. */
const retryStatus = [408, 429, 500, 502, 503, 504];
const maxRedirects = 3;
const backoffMs = { first: 200, most: 2_000 };

/**
 * Sends a request, repeats it if that may help, and returns the response. A response with 404 has no content here: whether it is a
 * failure (`notFoundError`) depends on the request.
 *
 * @param endSignal is aborted when no caller waits for the response any more
 * @throws SourceError with an explanation for the log. Neither contains the query, a header or the body
 */
export async function sendWithRetries(
  exchange: SourceExchange,
  limits: SendLimits,
  budget: Budget,
  endSignal: AbortSignal,
): Promise<SourceResponse> {
  const deadline = Date.now() + limits.timeoutMs;
  const reservedMemory = reserveForSource();
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, limits.timeoutMs);
  endSignal.addEventListener('abort', end);
  try {
    const { url, method, headers, body, isIdempotent } = exchange;
    const response = await ky(url, {
      method,
      headers,
      ...(body !== null && { body }),
      redirect: 'manual',
      signal: ending.signal,
      // The timeout error of ky would contain the query.
      timeout: false,
      fetch: (request) =>
        budget.run(() => {
          reportOrigin('network', exchange);
          return fetchMeasured(request as Request, limits.maxBytes, reservedMemory);
        }, ending.signal),
      retry: {
        limit: limits.retries,
        methods: isIdempotent ? [method] : [],
        statusCodes: retryStatus,
        backoffLimit: backoffMs.most,
        delay: (count) => backoffMs.first * 2 ** (count - 1),
        jitter: (delay) => delay * (0.5 + Math.random() / 2),
        shouldRetry: ({ error }) => mayRetry(error, limits, deadline),
      },
    });
    const text = await response.text();
    const contentType = response.headers.get('content-type') ?? '';
    const paging = pagingHeaders(response.headers, url, exchange.queryKeys);
    return {
      status: response.status,
      contentType,
      text: text.trim() === '' ? '' : text,
      memory: reservedMemory,
      headers: paging,
    };
  } catch (error) {
    reservedMemory?.release();
    if (error instanceof HTTPError && error.response.status === 404) return { status: 404, text: '' };
    const failedResponse = error instanceof HTTPError ? await readFailedResponse(error, limits) : undefined;
    const sourceError = sourceErrorOf(error, exchange, failedResponse, {
      isEnded: endSignal.aborted,
      isLate: ending.signal.aborted,
    });
    throw explainFailure(sourceError, error, { ...exchange, timeoutMs: limits.timeoutMs });
  } finally {
    clearTimeout(timer);
    endSignal.removeEventListener('abort', end);
  }
}

/** Returns false if another attempt cannot help; undefined if `retryStatus` decides. */
async function mayRetry(error: Error, limits: SendLimits, deadline: number): Promise<false | undefined> {
  if (error instanceof SourceError) return false;
  if (!(error instanceof HTTPError)) return undefined;
  if (isQuota(await readFailedResponse(error, limits))) return false;
  const wait = waitAfterMs(error.response.headers);
  if (wait !== null && Date.now() + wait >= deadline) return false;
  return undefined;
}

/** Reads the body of a failed response. */
async function readFailedResponse({ response }: HTTPError, { redact }: SendLimits): Promise<FailedResponse> {
  const { status, headers } = response;
  return { status, headers, text: redact(await response.clone().text()) };
}

/** Receives a part of an event stream. The rest of the stream is read only if the promise resolves to false. */
export type ReadChunk = (chunk: Uint8Array) => Promise<boolean>;

/** Sends a request as `fetchResponse` does, and publishes its status and duration to the metrics. */
export async function fetchMeasured(
  request: Request,
  maxBytes: number,
  reservedMemory: ReservedMemory | undefined,
  onChunk?: ReadChunk,
): Promise<Response> {
  if (!upstreams.hasSubscribers) return fetchResponse(request, maxBytes, reservedMemory, onChunk);
  const startedAt = performance.now();
  const { host } = new URL(request.url);
  let status: number | undefined;
  try {
    const response = await fetchResponse(request, maxBytes, reservedMemory, onChunk);
    status = response.status;
    return response;
  } finally {
    const ms = performance.now() - startedAt;
    upstreams.publish({ host, method: request.method, status, ms } satisfies Upstream);
  }
}

/** The maximum size of a response, if its source states no `maxBytes`. */
export const defaultMaxBytes = 2_000_000;

/**
 * Sends a request, follows redirects within the host, and returns the response in UTF-8, at most `maxBytes` long.
 *
 * @param onChunk receives the parts of an event stream when they arrive
 */
export async function fetchResponse(
  request: Request,
  maxBytes: number,
  reservedMemory: ReservedMemory | undefined,
  onChunk?: ReadChunk,
): Promise<Response> {
  let response = await fetch(request);
  for (let hops = 0; response.status >= 300 && response.status < 400 && response.status !== 304; hops += 1) {
    const location = response.headers.get('location');
    await response.body?.cancel();
    const next =
      location !== null && URL.canParse(location, request.url) ? new URL(location, request.url) : null;
    if (next?.origin !== new URL(request.url).origin || request.method !== 'GET' || hops >= maxRedirects) {
      const message = 'The source redirects to another address.';
      throw new SourceError('SOURCE_MISCONFIGURED', message);
    }
    const { method, headers, signal } = request;
    response = await fetch(next, { method, headers, signal, redirect: 'manual' });
  }
  const { status } = response;
  const headers = response.ok ? response.headers : withReadableWaits(response.headers);
  const type = headers.get('content-type') ?? '';
  const received = await readBody(
    response,
    maxBytes,
    type.startsWith('text/event-stream') ? onChunk : undefined,
  );
  const bytes = decodeToUtf8(received, type);
  if (reservedMemory && !(await reservedMemory.reserveTotal(answerWeight(bytes)))) throw overloaded();
  return new Response(status === 204 || status === 205 || status === 304 ? null : bytes, { status, headers });
}

/** Decodes bytes from the character set of their media type to UTF-8. Bytes of an unknown character set stay unchanged. */
function decodeToUtf8(bytes: Uint8Array<ArrayBuffer>, type: string): Uint8Array<ArrayBuffer> {
  const [, label = 'utf-8'] = /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(type) ?? [];
  if (/^utf-?8$/i.test(label)) return bytes;
  try {
    return new Uint8Array(Buffer.from(new TextDecoder(label).decode(bytes)));
  } catch {
    return bytes;
  }
}

/** Reads a body, until it ends or `onChunk` needs no more. @throws SourceError `SOURCE_TOO_LARGE` */
async function readBody(
  response: Response,
  maxBytes: number,
  onChunk?: ReadChunk,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = async () => {
    // Only the error about the size matters.
    await response.body?.cancel().catch(() => {});
    return new SourceError('SOURCE_TOO_LARGE', 'The answer of the source is larger than this tool allows.');
  };
  if (Number(response.headers.get('content-length')) > maxBytes) throw await tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done: hasEnded, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (hasEnded) break;
    size += value.byteLength;
    if (size > maxBytes) {
      reader?.releaseLock();
      throw await tooLarge();
    }
    chunks.push(value);
    if (!onChunk) continue;
    let isLast = true;
    try {
      isLast = await onChunk(value);
    } finally {
      // The server may never end the stream. The response is complete, so later errors do not matter.
      if (isLast) void reader?.cancel().catch(() => {});
    }
    if (isLast) break;
  }
  return Buffer.concat(chunks);
}

function sourceErrorOf(
  error: unknown,
  { isIdempotent }: SourceExchange,
  failedResponse: FailedResponse | undefined,
  { isEnded, isLate }: { readonly isEnded: boolean; readonly isLate: boolean },
): SourceError {
  if (isEnded) return cancelled();
  if (error instanceof SourceError) return error;
  if (isLate) return tooSlow(isIdempotent);
  if (failedResponse) return statusError(failedResponse, isIdempotent);
  return unavailable(isIdempotent);
}

/** The error of a request whose response, sent or recorded, has the status 404. */
export function notFoundError(failed: FailedRequest): SourceError {
  const answer = { status: 404, headers: new Headers(), text: '' };
  return explainFailure(statusError(answer, true), undefined, { ...failed, status: 404 });
}

type FailedRequest = Pick<SourceExchange, 'url' | 'path' | 'variables'> & {
  readonly method: string;
  readonly timeoutMs: number;
  /** The status of the response; by default, the status in the cause. */
  readonly status?: number;
};

/** Adds the details for the log to an error: the problem and what to do, without anything that was sent. */
export function explainFailure(error: SourceError, cause: unknown, failed: FailedRequest): SourceError {
  const { code, message } = error;
  if (code === 'CANCELLED') return error;
  const { method, url, path } = failed;
  const status = failed.status ?? (cause instanceof HTTPError ? cause.response.status : failureStatus(cause));
  const reason = (cause as { cause?: { code?: unknown } } | null)?.cause?.code;
  const withoutAnswer = code === 'SOURCE_TOO_SLOW' ? `no answer within ${failed.timeoutMs} ms` : message;
  const unanswered = reason ? `no connection (${reason})` : withoutAnswer;
  const detail = status === undefined ? unanswered : `the API answered with HTTP ${status}`;
  const hint = failureHint(code, status, failed);
  return attachExplanation(error, { method, host: url.host, path, status, detail, hint });
}

export type RequestLocation = Pick<SourceLine, 'method' | 'host' | 'path' | 'status'>;

const unexpectedForm = () =>
  new SourceError('SOURCE_MALFORMED', 'The source answered in a form that this tool does not expect.');

/** The error of a response that does not match its schema. The log says how, without the value, which may be a key that the API repeats. */
export function mismatchError(
  { path: member, withoutValue }: SchemaProblem,
  request: RequestLocation,
): SourceError {
  const hint = 'Correct the schema: it must admit what the API answers.';
  return attachExplanation(unexpectedForm(), {
    ...request,
    detail: `${member}: ${withoutValue}`,
    hint,
    member,
  });
}

/** The error of a response in which the API states a failure. The caller gets the reason. */
export function statedFailureError(
  { path, withoutValue, reason }: StatedFailure,
  request: RequestLocation,
): SourceError {
  const sentence = 'The source answered that it failed.';
  const error = new SourceError('SOURCE_MALFORMED', sentence, reason === undefined ? {} : { detail: reason });
  const hint =
    'The API says that it failed: correct the arguments, or the key in the variables. If this is a success, correct success in the request.';
  return attachExplanation(error, { ...request, detail: `${path}: ${withoutValue}`, hint, member: path });
}

/** The error of a response that is not JSON. @param found description of the response, for the log */
export function notJsonError(found: string, request: RequestLocation): SourceError {
  const hint =
    'Correct the base URL in src/apis/ or the path: the API answers there with something else than JSON.';
  return attachExplanation(unexpectedForm(), { ...request, detail: `no JSON, but ${found}`, hint });
}

function failureHint(code: string, status: number | undefined, { url, variables }: FailedRequest): string {
  const needed =
    variables.length > 0 ? `set a valid key in ${variables.join(' and ')}` : 'it may require a key';
  const fixes: { readonly [code: string]: string } = {
    SOURCE_REFUSED: `The API refused this server: ${needed}.`,
    SOURCE_QUOTA:
      'Raise the quota or the plan of this server at the API, or ask less: cacheSeconds and perMinute in src/apis/.',
    SOURCE_NOT_FOUND:
      "The base URL may be wrong. If 404 means that nothing was found, set notFound: 'empty'.",
    SOURCE_MISCONFIGURED:
      'The API redirects to another address, or speaks another version of MCP: correct baseUrl or protocolVersion in src/apis/.',
    SOURCE_TOO_SLOW: 'If the API needs more time, raise timeoutMs in src/apis/.',
    RATE_LIMITED: 'Set perMinute in src/apis/ to what the API allows.',
    OVERLOADED: 'Ask the API for less, or raise MAX_MEMORY_BYTES and the memory of the process.',
    SOURCE_TOO_LARGE: 'Ask the API for less, or raise maxBytes in src/apis/.',
    SOURCE_UNAVAILABLE:
      status === undefined
        ? `Start the API, or correct the base URL: nothing answers at ${url.host}.`
        : 'The API itself failed: call again later.',
  };
  return fixes[code] ?? 'Compare the request with the documentation of the API.';
}
