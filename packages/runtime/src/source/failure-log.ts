// The log line `source` of a failed request to a source.

import { findAuthorLocation, findDeclaration } from '../code-location.ts';
import { isProduction, logToStderr } from '../process.ts';
import type { SourceLine } from '../server/log.ts';
import { callOfSignal } from '../server/run-call.ts';
import { currentCall } from './current-call.ts';
import type { SourceError } from './source-errors.ts';

interface Explanation extends Omit<SourceLine, 'code' | 'at'> {
  /** The member of the answer that is wrong: `answer.items[0].owner`. */
  readonly member?: string;
}

const explanations = new WeakMap<object, Explanation & { readonly code: string }>();

/** Adds the details for the log to an error, and returns the error. Its caller never gets the details. */
export function attachExplanation(error: SourceError, explanation: Explanation): SourceError {
  explanations.set(error, { code: error.code, ...explanation });
  return error;
}

/** The HTTP status of the response behind an error; undefined if there was no response. */
export function failureStatus(error: unknown): number | undefined {
  return explanations.get(error as object)?.status;
}

/**
 * Runs a request of a tool. If it fails, writes the log line `source` with the cause, the tool and the call. Calls that share a request
 * have a line each.
 *
 * @param signal of the call, by which the call is found in production
 */
export async function logFailedRequest<T>(
  request: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const trace = isProduction() ? undefined : new Error();
  try {
    return await request();
  } catch (error) {
    const { member = '', ...explanation } = explanations.get(error as object) ?? {};
    if (!('code' in explanation)) throw error;
    const at = findDeclaration(member, findAuthorLocation(trace?.stack));
    const { tool, requestId, traceparent, onSource } = currentCall.getStore() ?? callOfSignal(signal) ?? {};
    const { hint, ...problem } = explanation;
    const line = { ...problem, at, hint };
    logToStderr('source', { tool, request: requestId, traceparent, ...line });
    onSource?.(line);
    throw error;
  }
}
