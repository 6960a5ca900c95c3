import ky, { HTTPError } from 'ky';
import type { SourceLine } from '../server/call.ts';
import { type Upstream, upstreams } from '../server/log.ts';
import { answerWeight, type HeldMemory, heldBySource } from '../server/memory.ts';
import type { SchemaProblem } from '../server/schema.ts';
import type { Budget } from './budget.ts';
import { overloaded, SourceError, tooSlow, unavailable } from './errors.ts';
import { pagingHeaders } from './pages.ts';
import { type SourceResponse, tellCheck } from './recordings.ts';
import { explained, failureStatus } from './running.ts';
import { isQuota, statusError, type Unsuccessful, waitAfterMs, withReadableWaits } from './status.ts';
import type { Contradiction } from './success.ts';

/** One request to a source, complete. */
export interface SourceExchange {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly url: URL;
  /** The path as the author wrote it, for logs: the URL may contain a secret. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  readonly isIdempotent: boolean;
  /** The variables of its secrets. */
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
  const heldMemory = heldBySource();
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
      // Its error would contain the query.
      timeout: false,
      fetch: (request) =>
        budget.run(() => {
          tellCheck('network', exchange);
          return requestOnce(request as Request, limits.maxBytes, heldMemory);
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
      held: heldMemory,
      headers: paging,
    };
  } catch (error) {
    heldMemory?.release();
    if (error instanceof HTTPError && error.response.status === 404) return { status: 404, text: '' };
    const failedResponse = error instanceof HTTPError ? await unsuccessful(error, limits) : undefined;
    const sourceError = sourceErrorOf(error, exchange, failedResponse, {
      isEnded: endSignal.aborted,
      isLate: ending.signal.aborted,
    });
    throw explainedFailure(sourceError, error, { ...exchange, timeoutMs: limits.timeoutMs });
  } finally {
    clearTimeout(timer);
    endSignal.removeEventListener('abort', end);
  }
}

/** Undefined leaves the choice to the status codes. */
async function mayRetry(error: Error, limits: SendLimits, deadline: number): Promise<false | undefined> {
  if (error instanceof SourceError) return false;
  if (!(error instanceof HTTPError)) return undefined;
  if (isQuota(await unsuccessful(error, limits))) return false;
  const wait = waitAfterMs(error.response.headers);
  if (wait !== null && Date.now() + wait >= deadline) return false;
  return undefined;
}

/** An answer that is an error, whose body is in memory. */
async function unsuccessful({ response }: HTTPError, { redact }: SendLimits): Promise<Unsuccessful> {
  const { status, headers } = response;
  return { status, headers, text: redact(await response.clone().text()) };
}

/** Receives a part of an event stream. The rest of the stream is read only if the promise resolves to false. */
export type ReadChunk = (chunk: Uint8Array) => Promise<boolean>;

/** One request over the network, including redirects within the host; its answer is limited in size. */
export async function requestOnce(
  request: Request,
  maxBytes: number,
  heldMemory: HeldMemory | undefined,
  onChunk?: ReadChunk,
): Promise<Response> {
  if (!upstreams.hasSubscribers) return answerTo(request, maxBytes, heldMemory, onChunk);
  const startedAt = performance.now();
  const { host } = new URL(request.url);
  let status: number | undefined;
  try {
    const response = await answerTo(request, maxBytes, heldMemory, onChunk);
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
 * The answer to a request in UTF-8, including redirects within the host; it is limited in size.
 *
 * @param onChunk receives the parts of an event stream when they arrive
 */
export async function answerTo(
  request: Request,
  maxBytes: number,
  heldMemory: HeldMemory | undefined,
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
  const received = await read(response, maxBytes, type.startsWith('text/event-stream') ? onChunk : undefined);
  const bytes = inUtf8(received, type);
  if (heldMemory && !(await heldMemory.reach(answerWeight(bytes)))) throw overloaded();
  return new Response(status === 204 || status === 205 || status === 304 ? null : bytes, { status, headers });
}

/** Bytes in the character set that their media type names; those of an unknown one stay unchanged. */
function inUtf8(bytes: Uint8Array<ArrayBuffer>, type: string): Uint8Array<ArrayBuffer> {
  const [, label = 'utf-8'] = /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(type) ?? [];
  if (/^utf-?8$/i.test(label)) return bytes;
  try {
    return new Uint8Array(Buffer.from(new TextDecoder(label).decode(bytes)));
  } catch {
    return bytes;
  }
}

async function read(
  response: Response,
  maxBytes: number,
  onChunk?: ReadChunk,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = async () => {
    // The error about the size matters, not how the rest of the body ends.
    await response.body?.cancel().catch(() => {});
    return new SourceError('SOURCE_TOO_LARGE', 'The answer of the source is larger than this tool allows.');
  };
  if (Number(response.headers.get('content-length')) > maxBytes) throw await tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
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
      // The stream may stay open, and its end may never come. Its last chunk was read, so no error of it matters.
      if (isLast) void reader?.cancel().catch(() => {});
    }
    if (isLast) break;
  }
  return Buffer.concat(chunks);
}

function sourceErrorOf(
  error: unknown,
  { isIdempotent }: SourceExchange,
  failedResponse: Unsuccessful | undefined,
  { isEnded, isLate }: { readonly isEnded: boolean; readonly isLate: boolean },
): SourceError {
  if (isEnded) return new SourceError('CANCELLED', 'The caller disconnected.');
  if (error instanceof SourceError) return error;
  if (isLate) return tooSlow(isIdempotent);
  if (failedResponse) return statusError(failedResponse, isIdempotent);
  return unavailable(isIdempotent);
}

/** The failure of a request whose answer, real or recorded, has the status 404. */
export function notFoundError(failed: Failed): SourceError {
  const answer = { status: 404, headers: new Headers(), text: '' };
  return explainedFailure(statusError(answer, true), undefined, { ...failed, status: 404 });
}

type Failed = Pick<SourceExchange, 'url' | 'path' | 'variables'> & {
  readonly method: string;
  readonly timeoutMs: number;
  /** The status of the answer; by default, the cause has it. */
  readonly status?: number;
};

/** Adds to an error what the log says: what failed and what to do, without anything that was sent. */
export function explainedFailure(error: SourceError, cause: unknown, failed: Failed): SourceError {
  const { code, message } = error;
  if (code === 'CANCELLED') return error;
  const { method, url, path } = failed;
  const status = failed.status ?? (cause instanceof HTTPError ? cause.response.status : failureStatus(cause));
  const reason = (cause as { cause?: { code?: unknown } } | null)?.cause?.code;
  const withoutAnswer = code === 'SOURCE_TOO_SLOW' ? `no answer within ${failed.timeoutMs} ms` : message;
  const unanswered = reason ? `no connection (${reason})` : withoutAnswer;
  const detail = status === undefined ? unanswered : `the API answered with HTTP ${status}`;
  const hint = failureHint(code, status, failed);
  return explained(error, { method, host: url.host, path, status, detail, hint });
}

type Asked = Pick<SourceLine, 'method' | 'host' | 'path' | 'status'>;

const unexpected = () =>
  new SourceError('SOURCE_MALFORMED', 'The source answered in a form that this tool does not expect.');

/** The error of a response that does not match its schema. The log says how, without the value, which may be a key that the API repeats. */
export function mismatch({ path: member, withoutValue }: SchemaProblem, request: Asked): SourceError {
  const hint = 'Correct the schema: it must admit what the API answers.';
  return explained(unexpected(), { ...request, detail: `${member}: ${withoutValue}`, hint, member });
}

/** The error of a response that says that the API failed. Its caller gets the reason. */
export function saidFailure({ path, withoutValue, reason }: Contradiction, request: Asked): SourceError {
  const sentence = 'The source answered that it failed.';
  const error = new SourceError('SOURCE_MALFORMED', sentence, reason === undefined ? {} : { detail: reason });
  const hint =
    'The API says that it failed: correct the arguments, or the key in the variables. If this is a success, correct success in the request.';
  return explained(error, { ...request, detail: `${path}: ${withoutValue}`, hint, member: path });
}

/** @param found came instead of JSON, for the log */
export function noJson(found: string, request: Asked): SourceError {
  const hint =
    'Correct the base URL in src/apis/ or the path: the API answers there with something else than JSON.';
  return explained(unexpected(), { ...request, detail: `no JSON, but ${found}`, hint });
}

function failureHint(code: string, status: number | undefined, { url, variables }: Failed): string {
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
