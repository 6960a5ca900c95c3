// The errors of requests to sources, with their codes.

import { CallFailure, retryWords } from '../server/call-result.ts';
import type { JsonObject, Outcome } from '../server/define-tool.ts';

/** All ways in which a source can fail. */
export type SourceErrorCode =
  | 'INVALID_ARGUMENTS'
  | 'RATE_LIMITED'
  | 'SOURCE_REFUSED'
  | 'SOURCE_QUOTA'
  | 'SOURCE_REJECTED'
  | 'SOURCE_NOT_FOUND'
  | 'SOURCE_TOO_SLOW'
  | 'SOURCE_UNAVAILABLE'
  | 'SOURCE_FAILED'
  | 'SOURCE_MALFORMED'
  | 'SOURCE_NOT_TEXT'
  | 'SOURCE_TOO_LARGE'
  | 'SOURCE_MISCONFIGURED'
  | 'SOURCE_NOT_RECORDED'
  | 'OVERLOADED'
  | 'CANCELLED';

/**
 * A failed request. The message is for callers: it contains no keys, addresses or queries. It contains a
 * word on which platforms call again (public source: app lib/ai/skills/mcp.ts) only if another call may succeed.
 */
export class SourceError extends CallFailure {
  override readonly name = 'SourceError';
  declare readonly code: SourceErrorCode;

  /** @param hints further members of the failure: `retryAfterSeconds`; `detail`, the reason that an API gives for a rejection */
  constructor(code: SourceErrorCode, message: string, hints: JsonObject = {}) {
    super(code, message, hints);
  }
}

type Fail = (code: string, message: string, hints?: JsonObject) => Outcome;

/**
 * The failure of a call whose source threw, as the runtime makes it of an error that `run` throws. Anything but a `SourceError` is an
 * error in the tool's own code and is rethrown.
 *
 * @param fail of the tool's outcomes
 */
export function failed(error: unknown, fail: Fail): Outcome {
  if (!(error instanceof SourceError)) throw error;
  return fail(error.code, error.message, error.hints);
}

/** A longer wait helps no caller, and a source may name any number. */
const maxWaitSeconds = 86_400;

/** The error of a source that accepts requests again after so many seconds. */
export function rateLimitedError(seconds: number): SourceError {
  let wait = Math.min(maxWaitSeconds, Math.max(1, Math.ceil(seconds)));
  while (retryWords.test(String(wait))) wait += 1;
  const message = `The source accepts no more requests for now. Try again in ${wait} seconds.`;
  return new SourceError('RATE_LIMITED', message, { retryAfterSeconds: wait });
}

/** @param isIdempotent whether a repeated call does no harm: the message then has a word on which platforms call again */
export function tooSlowError(isIdempotent: boolean): SourceError {
  return new SourceError(
    'SOURCE_TOO_SLOW',
    isIdempotent
      ? 'The source did not answer in time (timeout).'
      : 'The source did not answer in time. It is not known whether the request took effect.',
  );
}

/** The error of a request that has no caller any more. */
export function cancelledError(): SourceError {
  return new SourceError('CANCELLED', 'The caller disconnected.');
}

/** There is too little memory for an answer. */
export function overloadedError(): SourceError {
  const message = 'The server has too little memory for the answer of the source at the moment.';
  return new SourceError('OVERLOADED', message);
}

export function unavailableError(isIdempotent: boolean): SourceError {
  return new SourceError(
    'SOURCE_UNAVAILABLE',
    isIdempotent
      ? 'The source failed or could not be reached over the network.'
      : 'The source failed. It is not known whether the request took effect.',
  );
}
