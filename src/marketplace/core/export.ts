import type { Json, JsonObject } from 'market-mcp-contract/json';
import type { Exchange, Message } from './traffic.ts';

/** Exchanges as an HTTP archive (HAR 1.2). */
export function toHar(exchanges: readonly Exchange[], version: string): JsonObject {
  return {
    log: { version: '1.2', creator: { name: 'market-mcp', version }, entries: exchanges.map(entryOf) },
  };
}

function entryOf({ at, ms, method, url, request, response, error }: Exchange): JsonObject {
  const time = ms ?? 0;
  return {
    startedDateTime: at,
    time,
    request: {
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(request),
      queryString: [...new URL(url).searchParams].map(([name, value]) => ({ name, value })),
      headersSize: -1,
      bodySize: sizeOf(request),
      ...(request.body !== '' && {
        postData: { mimeType: request.headers['content-type'] ?? '', text: request.body },
      }),
    },
    response: {
      status: response?.status ?? 0,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: response ? pairs(response) : [],
      content: {
        size: response ? sizeOf(response) : 0,
        mimeType: response?.headers['content-type'] ?? '',
        text: response?.body ?? '',
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: response ? sizeOf(response) : 0,
      ...(error !== null && { comment: error }),
    },
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
  };
}

function pairs({ headers }: Message): readonly Json[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

function sizeOf({ body, cut }: Message): number {
  return Buffer.byteLength(body) + cut;
}
