// Fetches a response of an API or an MCP server: redirects, size limit, character set, metrics.

import { estimateAnswerMemory, type ReservedMemory } from '../server/call-memory.ts';
import { type Upstream, upstreams } from '../server/log.ts';
import { overloadedError, SourceError } from './source-errors.ts';
import { withReadableWaits } from './status-errors.ts';

const maxRedirects = 3;

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
