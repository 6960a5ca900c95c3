import { isObject, type Json } from 'market-mcp-contract/json';
import type { ApiCall } from './imported-tool.ts';

/** An answer in the form of the tool. */
export function wrapAnswer(value: Json, wrap: ApiCall['wrap']): Json {
  if (wrap === 'items') return Array.isArray(value) ? { items: value, count: value.length } : value;
  return wrap === null ? value : { result: value };
}

/** What the envelope of an answer contains; the answer itself if it has none. */
export function unwrapEnvelope(body: Json, { method, envelope }: Pick<ApiCall, 'method' | 'envelope'>): Json {
  const envelopeMember = envelope === 'graphql' ? 'data' : 'result';
  const member = envelope ? envelopeMember : 'structuredContent';
  const isInside = method === 'call' || envelope !== undefined;
  if (isInside && isObject(body)) return body[member] ?? null;
  return body;
}
