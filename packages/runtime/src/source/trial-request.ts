// Sends one request without retries, for `create` and `add-tool`.

import { withApiTokens } from './access-token.ts';
import { addKeys, buildRequest, isReadRequest } from './build-request.ts';
import { allSecretsOf } from './credentials.ts';
import { type Envelope, isEmptyPayload, openEnvelope } from './envelope.ts';
import { defaultMaxBytes, fetchResponse } from './fetch-response.ts';
import type { HttpSourceOptions, WriteOptions } from './http-source-options.ts';
import { type PagingHeaders, pagingHeaders } from './pages.ts';
import { redactorOf } from './redact.ts';

/** A response as it arrived, without the keys that were sent. */
export interface Answered {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Whether it is an empty envelope, in response to a read. */
  readonly hasNothing: boolean;
  /** Those that name its place among pages. */
  readonly headers?: PagingHeaders | undefined;
}

/**
 * Sends a request once as the tools of a source send it, and returns whatever comes. Nothing is logged, recorded or repeated.
 *
 * @throws SourceError `SOURCE_TOO_LARGE`, `SOURCE_MISCONFIGURED` for a redirect to another address; what `fetch` throws
 */
export async function sendOnce(
  source: HttpSourceOptions,
  method: 'get' | 'post' | 'put' | 'patch' | 'delete',
  path: string,
  options: WriteOptions<unknown> = {},
): Promise<Answered> {
  const signal = AbortSignal.timeout(source.timeoutMs ?? 10_000);
  const { url, headers, body, queryKeys } = await withApiTokens(source, options.auth, signal, async () =>
    addKeys(buildRequest(source.baseUrl, method, path, options), source),
  );
  const request = new Request(url, {
    method: method.toUpperCase(),
    headers,
    body,
    redirect: 'manual',
    signal,
  });
  const response = await fetchResponse(request, source.maxBytes ?? defaultMaxBytes, undefined);
  const text = await response.text();
  const redact = redactorOf(allSecretsOf(source), 1);
  // `redact` needs JSON, so another text is passed as a JSON string.
  const isData = /^\s*[[{]/.test(text);
  const cleaned = isData ? redact(text) : text;
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    headers: pagingHeaders(response.headers, url, queryKeys),
    hasNothing: isReadRequest(method, options) && isEmptyEnvelope(text, options.envelope),
    text: cleaned === text ? JSON.parse(redact(JSON.stringify(text))) : cleaned,
  };
}

function isEmptyEnvelope(text: string, envelope: Envelope | undefined): boolean {
  try {
    return isEmptyPayload(openEnvelope(JSON.parse(text), envelope), envelope);
  } catch {
    return false;
  }
}
