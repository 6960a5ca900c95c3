// Sends a request to an API, and again after a status in `retryStatus`.

import ky, { HTTPError } from 'ky';
import { reserveForSource } from '../server/call-memory.ts';
import type { Budget } from './budget.ts';
import { explainFailure } from './failed-request.ts';
import { fetchMeasured } from './fetch-response.ts';
import { pagingHeaders } from './pages.ts';
import { reportOrigin, type SourceResponse } from './recordings.ts';
import { cancelledError, SourceError, tooSlowError, unavailableError } from './source-errors.ts';
import { type FailedResponse, isQuota, statusError, waitAfterMs } from './status-errors.ts';

/** A complete request to a source, with its keys. */
export interface KeyedRequest {
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
const backoffMs = { first: 200, maximum: 2_000 };

/**
 * Sends a request, repeats it if that may help, and returns the response. A 404 is returned without content, because it is a failure
 * (`notFoundError`) of some requests only.
 *
 * @param callersGone is aborted when no caller waits for the response any more
 * @throws SourceError. Neither the error nor its explanation for the log contains the query, a header or the body
 */
export async function sendWithRetries(
  keyedRequest: KeyedRequest,
  limits: SendLimits,
  budget: Budget,
  callersGone: AbortSignal,
): Promise<SourceResponse> {
  const { method, url, path, headers, body, isIdempotent, variables } = keyedRequest;
  const { timeoutMs } = limits;
  const deadline = Date.now() + timeoutMs;
  const reservedMemory = reserveForSource();
  const attemptsAbort = new AbortController();
  const end = () => attemptsAbort.abort();
  const timer = setTimeout(end, timeoutMs);
  callersGone.addEventListener('abort', end);
  try {
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
          reportOrigin('network', keyedRequest);
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
    const paging = pagingHeaders(response.headers, url, keyedRequest.queryKeys);
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
    const sourceError = sourceErrorOf(error, keyedRequest, failedResponse, { areCallersGone, isTimedOut });
    throw explainFailure(sourceError, error, { method, host: url.host, path, variables, timeoutMs });
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

function sourceErrorOf(
  error: unknown,
  { isIdempotent }: KeyedRequest,
  failedResponse: FailedResponse | undefined,
  { areCallersGone, isTimedOut }: { readonly areCallersGone: boolean; readonly isTimedOut: boolean },
): SourceError {
  if (areCallersGone) return cancelledError();
  if (error instanceof SourceError) return error;
  if (isTimedOut) return tooSlowError(isIdempotent);
  if (failedResponse) return statusError(failedResponse, isIdempotent);
  return unavailableError(isIdempotent);
}
