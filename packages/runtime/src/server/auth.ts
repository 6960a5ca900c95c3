// Identifies the caller of a request by its token, and decides whether its call may run.

import type { IncomingHttpHeaders } from 'node:http';
import type { Log } from './log.ts';
import { createKeys } from './platform-keys.ts';
import { createDenialLog, invalidTokenDenial, type TokenDenial } from './token-denial.ts';
import { createUsedTokens, type UsedKeys, type UseResult } from './used-tokens.ts';
import { type Claims, secondsSinceExpiry, type TokenRules, verifyToken } from './verify-token.ts';

/** What the headers of a request say about its caller. */
export interface Caller {
  /** Whether the headers contain a valid token. */
  readonly hasValidToken: boolean;
  /** Returns whether the token is still valid and was not used on this replica. If not, logs the denied call. */
  admitCall(requestId: string): boolean;
  /** Uses up a token that is valid for one call, and logs the call if it is denied. Absent if a token is valid for several calls. */
  readonly useUp?: (requestId: string) => UseResult | Promise<UseResult>;
}

type Authentication = ReturnType<typeof createAuthenticator>;

const admittedCaller: Caller = { hasValidToken: true, admitCall: () => true };

/** For a server that does not check tokens (C§5.5). */
export const noTokenCheck: Authentication = {
  identify: () => admittedCaller,
  prepare: async () => {},
  describeKeys: () => 'none, AUTH is off',
  hasKey: () => true,
};

const strictWithoutStore =
  'TOKEN_ONCE: "strict" needs a store that replicas share: the option state of serve, as market-mcp deploy add redis writes it.';
/** Size of the cache of verified headers. */
const maxVerified = 1_000;
const verifiedCacheMs = 600_000;
/** Interval of warnings about the clocks. */
const skewWarningMs = 600_000;

/**
 * Verifies tokens that the platform signed for this server. The header of a verified token is cached for up to ten minutes,
 * at most until the token expires. Denied calls are logged with a reason, never with the token.
 *
 * @param isProduction whether each kind of denial is logged at most once a minute, with its number; otherwise, every denial is logged
 * @param replicas all replicas, which together accept a token once; null if there is only this one
 * @throws Error if the rules need replicas and there are none
 */
export function createAuthenticator(
  rules: TokenRules,
  log: Log,
  isProduction = false,
  replicas: UsedKeys | null = null,
) {
  const { header: headerName, scheme } = rules;
  const isSingleUse = rules.once !== 'off';
  if (rules.once === 'strict' && !replicas) throw new Error(strictWithoutStore);
  const prefix = scheme && `${scheme} `;
  /** Captures the token in a header. */
  const headerForm = new RegExp(`^${prefix} *([\\w-]+\\.[\\w-]+\\.[\\w-]+)$`, 'i');
  const keys = createKeys(rules.keys, log);
  const verifiedCallers = createVerifiedCallers();
  const logDenial = createDenialLog(log, isProduction);
  const usedTokens = createUsedTokens(rules, replicas, logDenial);
  const unpaidCaller = (denial: TokenDenial): Caller => ({
    hasValidToken: false,
    admitCall(requestId) {
      logDenial(denial, requestId);
      return false;
    },
  });
  const callerWithoutToken = unpaidCaller({ reason: `no token: expected ${headerName}: ${prefix}<token>` });

  /** The caller with a verified token, which may expire while the body of the request arrives. */
  const payingCaller = (claims: Claims, expiryMs: number): Caller => {
    const admitCall = (requestId: string) => {
      let reason: string | null = null;
      if (Date.now() >= expiryMs) reason = 'exp: the token expired before the request was complete';
      else if (isSingleUse) reason = usedTokens.findDenialReason(claims.jti);
      if (reason !== null) logDenial({ reason }, requestId);
      return reason === null;
    };
    if (!isSingleUse) return { hasValidToken: true, admitCall };
    const useUp = (requestId: string) => {
      // A second check, because another call may have used the token since the first.
      if (!admitCall(requestId)) return 'denied';
      return usedTokens.useUp({ jti: String(claims.jti), iat: claims.iat, expiryMs }, requestId);
    };
    return { hasValidToken: true, admitCall, useUp };
  };
  const warnOfSkew = createSkewWarning(log, rules.clockToleranceSeconds);

  const verifyHeader = async (header: string, token: string): Promise<Caller> => {
    try {
      const claims = await verifyToken(token, rules, keys);
      const { exp, iat = 0 } = claims;
      const aheadSeconds = iat - Math.floor(Date.now() / 1000);
      warnOfSkew(aheadSeconds, `was issued ${aheadSeconds} s in the future (iat)`);
      const expiryMs = (exp + rules.clockToleranceSeconds) * 1000;
      const caller = payingCaller(claims, expiryMs);
      if (!isSingleUse) verifiedCallers.add(header, caller, expiryMs);
      return caller;
    } catch (error) {
      const expiredSeconds = secondsSinceExpiry(error as Error);
      // A token that expired long ago says nothing about the clocks.
      const lateSeconds = expiredSeconds > rules.maxLifetimeSeconds ? 0 : expiredSeconds;
      warnOfSkew(lateSeconds, `was signed correctly and had expired ${lateSeconds} s before (exp)`);
      return unpaidCaller(invalidTokenDenial(error as Error, rules));
    }
  };

  return {
    /** Verifies the token in the headers of a request. Never rejects. */
    identify(headers: IncomingHttpHeaders): Caller | Promise<Caller> {
      const header = headers[headerName]?.toString() ?? '';
      const cachedCaller = verifiedCallers.callerOf(header);
      if (cachedCaller) return cachedCaller;
      const token = headerForm.exec(header)?.[1];
      if (token === undefined) return callerWithoutToken;
      return verifyHeader(header, token);
    },
    /**
     * Fetches the platform's keys before the first call. Resolves after one attempt; never rejects. Without a key, further attempts follow
     * by themselves, or where requests are isolated, with the next call of this function.
     */
    prepare: keys.prepare,
    /** Describes the keys in use. */
    describeKeys: keys.describeKeys,
    /** Whether there is a key. */
    hasKey: keys.hasKey,
  };
}

/** Warns of a difference between the clocks that is more than the tolerance. */
function createSkewWarning(log: Log, toleranceSeconds: number): (seconds: number, problem: string) => void {
  let nextAt = 0;
  return (seconds, problem) => {
    if (seconds <= toleranceSeconds || Date.now() < nextAt) return;
    nextAt = Date.now() + skewWarningMs;
    log('warning', { text: `A token ${problem}. Compare the clock of this machine with the platform's.` });
  };
}

/** A cache of callers whose token was verified, by the end of its header. */
function createVerifiedCallers() {
  const byHeaderEnd = new Map<
    string,
    { readonly header: string; readonly caller: Caller; readonly until: number }
  >();
  return {
    callerOf(header: string): Caller | undefined {
      const entry = byHeaderEnd.get(signatureEnd(header));
      if (entry?.header === header && Date.now() < entry.until) return entry.caller;
      return undefined;
    },
    add(header: string, caller: Caller, expiryMs: number): void {
      if (byHeaderEnd.size >= maxVerified) byHeaderEnd.clear();
      const until = Math.min(expiryMs, Date.now() + verifiedCacheMs);
      byHeaderEnd.set(signatureEnd(header), { header, caller, until });
    },
  };
}

/** Returns the end of a signature, which identifies a token. Hashing the whole header would take longer than finding a cached caller. */
export function signatureEnd(header: string): string {
  return header.slice(-32);
}
