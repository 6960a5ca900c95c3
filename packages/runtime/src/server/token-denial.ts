// The reasons of denied calls, and their log line `refused`.

import type { JWTClaimValidationFailed } from 'jose/errors';
import { createThrottledLog, type Log, publishRefusal } from './log.ts';
import type { TokenRules } from './verify-token.ts';

/** Interval between two log lines of one kind in production, where any client could fill the log with denied calls. */
const denialLogMs = 60_000;

/** Returns a function that logs and publishes a denied call. It does not answer the call. */
export function createDenialLog(
  log: Log,
  isProduction: boolean,
): (denial: TokenDenial, requestId: string) => void {
  const logThrottled = createThrottledLog(log, 'refused', denialLogMs);
  return (denial, requestId) => {
    const line = { ...denial, request: requestId };
    const kind = denialKind(denial);
    publishRefusal(kind);
    if (isProduction) logThrottled(kind, line);
    else log('refused', line);
  };
}

/** Why a call was denied. */
export interface TokenDenial {
  readonly reason: string;
  readonly expected?: string | null | undefined;
  /** The beginning of the value of a claim. */
  readonly got?: string | undefined;
}

/** The kind of a denial, without values of the token: jose's error code and the claim, or the text before the colon. */
function denialKind({ reason }: TokenDenial): string {
  return /^ERR_\w+(?:: \w+)?|^[^:]*/.exec(reason)?.[0] ?? reason;
}

export function invalidTokenDenial(error: Error, { issuer, audience }: TokenRules): TokenDenial {
  const { code, claim, payload } = error as Partial<JWTClaimValidationFailed>;
  const reason = code ?? error.message;
  if (!claim) return { reason };
  const expected = { iss: issuer, aud: audience }[claim];
  const actual = JSON.stringify(payload?.[claim])?.slice(0, 200);
  return { reason: `${reason}: ${claim}`, expected, got: actual };
}
