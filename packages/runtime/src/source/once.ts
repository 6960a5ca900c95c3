import { allSecretsOf } from './credentials.ts';
import { type Envelope, isNothing, openedValue } from './envelope.ts';
import { isRead, signed, unsigned } from './exchange.ts';
import type { HttpSourceOptions, WriteOptions } from './http-source.ts';
import { type PagingHeaders, pagingHeaders } from './pages.ts';
import { redactorOf } from './redact.ts';
import { answerTo, defaultMaxBytes } from './send.ts';
import { withTokens } from './token.ts';

/** An answer as it came, without the keys that were sent. */
export interface Answered {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Whether it is the envelope of a read without content. */
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
  const { url, headers, body, queryKeys } = await withTokens(source, options.auth, signal, async () =>
    signed(unsigned(source.baseUrl, method, path, options), source),
  );
  const request = new Request(url, {
    ...{ method: method.toUpperCase(), headers, redirect: 'manual', signal },
    ...(body !== null && { body }),
  });
  const response = await answerTo(request, source.maxBytes ?? defaultMaxBytes, undefined);
  const text = await response.text();
  const redact = redactorOf(allSecretsOf(source), 1);
  // Of a text that is no JSON, it removes nothing; as a JSON string, it is JSON.
  const isData = /^\s*[[{]/.test(text);
  const cleaned = isData ? redact(text) : text;
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    headers: pagingHeaders(response.headers, url, queryKeys),
    hasNothing: isRead(method, options) && isEmptyEnvelope(text, options.envelope),
    text: cleaned === text ? JSON.parse(redact(JSON.stringify(text))) : cleaned,
  };
}

function isEmptyEnvelope(text: string, envelope: Envelope | undefined): boolean {
  try {
    return isNothing(openedValue(JSON.parse(text), envelope), envelope);
  } catch {
    return false;
  }
}
