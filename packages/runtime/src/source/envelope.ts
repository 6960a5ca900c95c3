// The envelopes of GraphQL and JSON-RPC.

import { isObject } from '../server/schema.ts';
import { attachExplanation } from './failure-log.ts';
import type { SourceError } from './source-errors.ts';
import { rejectedError } from './status-errors.ts';

/** The protocol whose responses contain the answer in a member (GraphQL over HTTP §6, JSON-RPC 2.0 §5). */
export type Envelope = 'graphql' | 'json-rpc';

/** Takes the answer out of its envelope. @throws SourceError `SOURCE_REJECTED`, with the API's own reason */
export function openEnvelope(value: unknown, envelope: Envelope | undefined): unknown {
  if (envelope === undefined || !isObject(value)) return value;
  const { error, errors, data, result } = value;
  if (envelope === 'json-rpc') {
    if (isObject(error)) throw failure(error);
    return 'result' in value ? result : value;
  }
  if (Array.isArray(errors) && errors.length > 0) {
    const isPart = isObject(data) && Object.values(data).some((part) => part !== null);
    throw failure(errors, isPart ? 'The source gave only a part of the answer.' : undefined);
  }
  return 'data' in value ? data : value;
}

/**
 * Whether an answer that was taken out of its envelope means that nothing was found: null, or data of GraphQL whose members are all null.
 * GraphQL returns this for an unknown id (§6.4.4), and JSON-RPC methods such as eth_getTransactionByHash return null.
 */
export function isEmptyPayload(value: unknown, envelope: Envelope | undefined): boolean {
  if (envelope === undefined || value === null) return envelope !== undefined;
  const members = envelope === 'graphql' && isObject(value) ? Object.values(value) : [];
  return members.length > 0 && members.every((member) => member === null);
}

function failure(statedReason: unknown, message?: string): SourceError {
  const error = rejectedError(JSON.stringify(statedReason), message);
  const { detail = 'without a reason' } = error.hints;
  const hint = 'Compare the request with the documentation of the API.';
  return attachExplanation(error, { detail: `the API answered with an error: ${detail}`, hint });
}

/** Puts an answer back into its envelope, for a recording. */
export function encloseAnswer(value: unknown, envelope: Envelope | undefined): unknown {
  if (envelope === undefined) return value;
  if (envelope === 'graphql') return { data: value };
  return { jsonrpc: '2.0', id: 1, result: value };
}
