// The HTTP responses without a result: denied calls, refused bodies, reached limits, invalid sessions.

import type { OutgoingHttpHeaders } from 'node:http';

/** A response with its whole body, which is JSON unless the headers say otherwise. */
export interface HttpResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders | undefined;
  readonly body?: string;
  /** Whether `publishRefusal` has counted this response already, with a more exact reason than its status. */
  readonly isCounted?: boolean;
}

/** A response whose body is JSON. @param value an object, or JSON text */
export function jsonResponse(
  status: number,
  value: object | string,
  headers?: OutgoingHttpHeaders,
): HttpResponse {
  return { status, headers, body: typeof value === 'string' ? value : JSON.stringify(value) };
}

export function methodNotAllowed(allow: string): HttpResponse {
  return jsonResponse(405, { error: 'Method not allowed' }, { allow });
}

/** The response to a call without a valid token; the status is the platform's, or 401. */
export function unauthorizedResponse(
  tokenRules: { readonly refusalStatus: number | null } | null,
): HttpResponse {
  const response = jsonResponse(tokenRules?.refusalStatus ?? 401, { error: 'Unauthorized' });
  return { ...response, isCounted: true };
}

const retrySoon = { 'retry-after': '1' };
const bodyTooSlow = jsonResponse(408, { error: 'Request took too long' }, { connection: 'close' });
export const bodyRefusals = {
  408: { ...bodyTooSlow, isCounted: true },
  413: jsonResponse(413, { error: 'Request too large' }),
  503: jsonResponse(503, { error: 'Too many unfinished requests' }, { ...retrySoon, connection: 'close' }),
};
export const tooManyCalls = jsonResponse(503, { error: 'Too many calls at once' }, retrySoon);
export const serverStopping = jsonResponse(
  503,
  { error: 'The server is stopping' },
  { ...retrySoon, connection: 'close' },
);
export const usedTokensUnknown = jsonResponse(
  503,
  { error: 'Whether this token was used cannot be checked at the moment. Try again.' },
  retrySoon,
);
export const noContent: HttpResponse = { status: 204 };
export const invalidSession = jsonResponse(400, { error: 'Invalid session' });

/** Identifies a request in its response and in the log. A value from the caller is ignored, because it could repeat another id. */
export const requestIdHeader = 'x-request-id';

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
