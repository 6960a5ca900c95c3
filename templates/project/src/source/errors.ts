import type { JsonObject, Outcome } from '../server/define-tool.ts';

/** Every way in which a source does not answer. */
export type SourceErrorCode =
  | 'INVALID_ARGUMENTS'
  | 'RATE_LIMITED'
  | 'SOURCE_REFUSED'
  | 'SOURCE_REJECTED'
  | 'SOURCE_NOT_FOUND'
  | 'SOURCE_TOO_SLOW'
  | 'SOURCE_UNAVAILABLE'
  | 'SOURCE_MALFORMED'
  | 'SOURCE_TOO_LARGE'
  | 'SOURCE_MISCONFIGURED'
  | 'SOURCE_NOT_RECORDED'
  | 'CANCELLED';

/**
 * A request that gave no answer. The message is for callers: it says nothing of keys, addresses or queries. It holds a
 * word on which platforms call again (public source: app lib/ai/skills/mcp.ts) only where another call may succeed.
 */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly code: SourceErrorCode;
  /** Further members of the failure, such as `retryAfterSeconds`. */
  readonly hints: JsonObject;

  constructor(code: SourceErrorCode, message: string, hints: JsonObject = {}) {
    super(message);
    this.code = code;
    this.hints = hints;
  }
}

type Fail = (code: string, message: string, hints?: JsonObject) => Outcome;

/**
 * The failure of a call whose source threw. What is not a `SourceError` is an error of the tool's own code and thrown again.
 *
 * @param fail of the tool's outcomes
 */
export function failed(error: unknown, fail: Fail): Outcome {
  if (!(error instanceof SourceError)) throw error;
  return fail(error.code, error.message, error.hints);
}

/** Digits on which platforms call again at once. */
const retryDigits = /408|429|50[0234]/;

/** A failure that another call after some time will not meet. */
export function rateLimited(seconds: number): SourceError {
  let wait = Math.max(1, Math.ceil(seconds));
  while (retryDigits.test(String(wait))) wait += 1;
  const message = `The source takes no more requests for now. Ask again in ${wait} seconds.`;
  return new SourceError('RATE_LIMITED', message, { retryAfterSeconds: wait });
}

/** @param isIdempotent another call does no harm, so that platforms may try one */
export function tooSlow(isIdempotent: boolean): SourceError {
  return new SourceError(
    'SOURCE_TOO_SLOW',
    isIdempotent
      ? 'The source did not answer in time (timeout).'
      : 'The source did not answer in time. Whether the request took effect is not known.',
  );
}

export function unavailable(isIdempotent: boolean): SourceError {
  return new SourceError(
    'SOURCE_UNAVAILABLE',
    isIdempotent
      ? 'The source failed or could not be reached over the network.'
      : 'The source failed. Whether the request took effect is not known.',
  );
}
