// The trace of a request (W3C Trace Context).

import type { IncomingHttpHeaders } from 'node:http';
import { requestMeta } from './json-rpc.ts';

/** Version, trace, parent, flags. Version `ff` and ids of zeros are invalid. */
const traceForm = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/**
 * Returns the trace of a request, in the form of 55 characters: from `params._meta`, which the caller writes, or else from the header,
 * which a proxy may write. Returns undefined if neither is valid.
 */
export function readTraceparent(message: unknown, headers: IncomingHttpHeaders): string | undefined {
  return validTrace(requestMeta(message).traceparent) ?? validTrace(headers.traceparent);
}

function validTrace(text: unknown): string | undefined {
  if (typeof text === 'string' && traceForm.test(text)) return text;
  return undefined;
}
