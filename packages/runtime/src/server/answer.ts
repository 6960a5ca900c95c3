import type { OutgoingHttpHeaders } from 'node:http';

/** A response with its whole body, which is JSON unless the headers say otherwise. */
export interface HttpResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders | undefined;
  readonly body?: string;
}

/** @param value an object, or JSON text */
export function json(status: number, value: object | string, headers?: OutgoingHttpHeaders): HttpResponse {
  return { status, headers, body: typeof value === 'string' ? value : JSON.stringify(value) };
}

export function notAllowed(allow: string): HttpResponse {
  return json(405, { error: 'Method not allowed' }, { allow });
}

const retrySoon = { 'retry-after': '1' };
export const bodyRefusals = {
  408: json(408, { error: 'Request took too long' }, { connection: 'close' }),
  413: json(413, { error: 'Request too large' }),
  503: json(503, { error: 'Too many unfinished requests' }, { ...retrySoon, connection: 'close' }),
};
export const tooManyCalls = json(503, { error: 'Too many calls at once' }, retrySoon);
export const serverStopping = json(
  503,
  { error: 'The server is stopping' },
  { ...retrySoon, connection: 'close' },
);
export const usedTokensUnknown = json(
  503,
  { error: 'Whether this token was used cannot be checked at the moment. Try again.' },
  retrySoon,
);
export const noContent: HttpResponse = { status: 204 };
export const invalidSession = json(400, { error: 'Invalid session' });

/** Names a request in its answer and in the log. One from the caller is not read: it could equal the id of another request. */
export const requestIdHeader = 'x-request-id';

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
