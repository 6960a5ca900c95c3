// Sends a request to an API: retries after a status in `retryStatus`, redirects, size limit.

import ky, { HTTPError } from 'ky';
import { estimateAnswerMemory, type ReservedMemory, reserveForSource } from '../server/call-memory.ts';
import { type Upstream, upstreams } from '../server/log.ts';
import type { Budget } from './budget.ts';
import { explainFailure } from './failed-request.ts';
import { pagingHeaders } from './pages.ts';
import { reportOrigin, type SourceResponse } from './recordings.ts';
import {
  cancelledError,
  overloadedError,
  SourceError,
  tooSlowError,
  unavailableError,
} from './source-errors.ts';
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
const backoffMs = { first: 200, maximum: 2_000 };

/**
 * Sends a request, repeats it if that may help, and returns the response. A 404 is returned without content, because it is a failure
 * (`notFoundError`) of some requests only.
 *
 * @param callersGone is aborted when no caller waits for the response any more
 * @throws SourceError. Neither the error nor its explanation for the log contains the query, a header or the body
 */
export async function sendWithRetries(
  exchange: SourceExchange,
  limits: SendLimits,
  budget: Budget,
  callersGone: AbortSignal,
): Promise<SourceResponse> {
  const deadline = Date.now() + limits.timeoutMs;
  const reservedMemory = reserveForSource();
  const attemptsAbort = new AbortController();
  const end = () => attemptsAbort.abort();
  const timer = setTimeout(end, limits.timeoutMs);
  callersGone.addEventListener('abort', end);
  try {
    const { url, method, headers, body, isIdempotent } = exchange;
    const response = await ky(url, {
      method,
      headers,
      body,
      redirect: 'manual',
      signal: attemptsAbort.signal,
      // The timeout error of ky would contain the query.
      timeout: false,
      fetch: (request) =>
        budget.run(() => {
          reportOrigin('network', exchange);
          return fetchMeasured(request as Request, limits.maxBytes, reservedMemory);
        }, attemptsAbort.signal),
      retry: {
        limit: limits.retries,
        methods: isIdempotent ? [method] : [],
        statusCodes: retryStatus,
        backoffLimit: backoffMs.maximum,
        delay: (attempt) => backoffMs.first * 2 ** (attempt - 1),
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
    const areCallersGone = callersGone.aborted;
    const isTimedOut = attemptsAbort.signal.aborted && !areCallersGone;
    const sourceError = sourceErrorOf(error, exchange, failedResponse, { areCallersGone, isTimedOut });
    throw explainFailure(sourceError, error, { ...exchange, timeoutMs: limits.timeoutMs });
  } finally {
    clearTimeout(timer);
    callersGone.removeEventListener('abort', end);
  }
}

/** Returns false if another attempt cannot help; undefined if ky decides, by `retryStatus` or because nothing answered. */
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

/** Receives a part of an event stream. Resolves to `enough` if the rest of the stream is not needed. */
export type ReadChunk = (chunk: Uint8Array) => Promise<'more' | 'enough'>;

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
 * Sends a request, follows GET redirects within the origin, at most three, and returns the response in UTF-8, at most `maxBytes` long.
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
    const target =
      location !== null && URL.canParse(location, request.url) ? new URL(location, request.url) : null;
    const isSameOrigin = target?.origin === new URL(request.url).origin;
    const mayFollow = isSameOrigin && request.method === 'GET' && hops < maxRedirects;
    if (!mayFollow) {
      const message = 'The source redirects to another address.';
      throw new SourceError('SOURCE_MISCONFIGURED', message);
    }
    const { method, headers, signal } = request;
    response = await fetch(target, { method, headers, signal, redirect: 'manual' });
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
  if (reservedMemory && !(await reservedMemory.reserveTotal(estimateAnswerMemory(bytes))))
    throw overloadedError();
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
    let need: 'more' | 'enough' = 'enough';
    try {
      need = await onChunk(value);
    } finally {
      // The server may never end the stream. The response is complete, so later errors do not matter.
      if (need === 'enough') void reader?.cancel().catch(() => {});
    }
    if (need === 'enough') break;
  }
  return Buffer.concat(chunks);
}

function sourceErrorOf(
  error: unknown,
  { isIdempotent }: SourceExchange,
  failedResponse: FailedResponse | undefined,
  { areCallersGone, isTimedOut }: { readonly areCallersGone: boolean; readonly isTimedOut: boolean },
): SourceError {
  if (areCallersGone) return cancelledError();
  if (error instanceof SourceError) return error;
  if (isTimedOut) return tooSlowError(isIdempotent);
  if (failedResponse) return statusError(failedResponse, isIdempotent);
  return unavailableError(isIdempotent);
}
