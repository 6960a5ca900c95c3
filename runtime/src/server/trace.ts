import type { IncomingHttpHeaders } from 'node:http';
import { metaOf } from './modern.ts';

/** W3C Trace Context: version, trace, parent, flags. Version `ff` and ids of zeros are invalid. */
const form = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/**
 * The trace that a request belongs to, in the form of 55 characters: that of `params._meta`, which the caller of the tool has
 * written, else that of the header, which may come from a proxy. Undefined if neither is valid.
 */
export function traceparentOf(message: unknown, headers: IncomingHttpHeaders): string | undefined {
  return valid(metaOf(message).traceparent) ?? valid(headers.traceparent);
}

function valid(text: unknown): string | undefined {
  return typeof text === 'string' && form.test(text) ? text : undefined;
}
