import type { IncomingHttpHeaders } from 'node:http';
import type { JWTClaimValidationFailed } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import { createKeys, type KeySources, type Keys } from './keys.ts';
import { createThrottledLog, type Log, publishRefusal } from './log.ts';

/** Requirements for a token (C§5). */
export interface TokenRules {
  /** Request header that carries the token, lower case. */
  readonly header: string;
  /** Scheme in front of the token; empty if the header is only the token. */
  readonly scheme: string;
  readonly algorithms: readonly string[];
  readonly issuer: string;
  /** The exact value of the `aud` claim; null until it is known: no token is valid then. */
  readonly audience: string | null;
  /** The variable that names it. */
  readonly audienceFrom: string;
  readonly clockToleranceSeconds: number;
  /** Longest validity of a token, counted from `iat`, or from now if it has no `iat`. */
  readonly maxLifetimeSeconds: number;
  /**
   * Whether a token, identified by its `jti`, is valid for one call only. With `strict`, no call runs while the store that replicas share
   * cannot be asked, or after it may have lost that the token was used.
   */
  readonly once: 'off' | 'on' | 'strict';
  /** HTTP status of a refusal; null if the platform does not specify one. */
  readonly refusalStatus: number | null;
  readonly keys: KeySources;
}

/** The keys that replicas use once together. */
export interface UsedKeys {
  /** Marks a key as used for so many milliseconds. Resolves to null if the store cannot be asked; never rejects. */
  markUsed(key: string, ms: number): Promise<KeyUse | null>;
}

/** The state of a key in the store when it is marked as used. */
export interface KeyUse {
  /** Whether no other replica has used the key. */
  readonly isFirst: boolean;
  /** Unix time in seconds. The store may have lost uses before it. Null if losses of the store are not tracked. */
  readonly lostBeforeSeconds: number | null;
}

/** What the headers of a request say about its caller. */
export interface Caller {
  /** Whether the headers hold a valid token. */
  readonly isPaying: boolean;
  /** Whether the token is still valid and was not used on this replica. If not, logs why. */
  mayCall(requestId: string): boolean;
  /** Uses up a token that is valid for one call. If the call is denied, logs why. Absent for a token that is valid for more calls. */
  readonly useUp?: (requestId: string) => UseResult | Promise<UseResult>;
}

/** `later`: whether the token was used before cannot be checked now. */
export type UseResult = 'admitted' | 'denied' | 'later';

type Authentication = ReturnType<typeof createAuthentication>;

const paying: Caller = { isPaying: true, mayCall: () => true };

/** For a server that does not check tokens (C§5.5). */
export const noAuthentication: Authentication = {
  identify: () => paying,
  prepare: async () => {},
  inUse: () => 'none, AUTH is off',
  hasKey: () => true,
};

const strictAlone =
  'TOKEN_ONCE: "strict" needs a store that replicas share: the option state of serve, as market-mcp deploy add redis writes it.';
/** The cache of verified headers. */
const maxVerified = 1_000;
const verifiedCacheMs = 600_000;
/** Interval of warnings about the clocks. */
const skewWarningMs = 600_000;
const maxUsed = 100_000;
/** How far a platform's clock may be ahead of ours. A token with a later `iat` is refused. */
const maxAheadSeconds = 60;

/** Interval of log lines of each reason in production, where anyone could fill the log with denied calls. */
const refusalsMs = 60_000;

/**
 * Verifies tokens that the platform signed for this server. The header of a verified token is cached for up to ten minutes,
 * at most until the token expires. Denied calls are logged with a reason, never with the token.
 *
 * @param counts logs each kind of refusal at most once a minute, with the number of times; otherwise each refusal
 * @param replicas all of them together accept a token once; null if there is only this one
 * @throws Error if the rules need replicas and there are none
 */
export function createAuthentication(
  rules: TokenRules,
  log: Log,
  counts = false,
  replicas: UsedKeys | null = null,
) {
  const { header: headerName, scheme } = rules;
  const isOnce = rules.once !== 'off';
  if (rules.once === 'strict' && !replicas) throw new Error(strictAlone);
  const prefix = scheme && `${scheme} `;
  /** Captures the token in a header. */
  const form = new RegExp(`^${prefix} *([\\w-]+\\.[\\w-]+\\.[\\w-]+)$`, 'i');
  const keys = createKeys(rules.keys, log);
  const verifiedCallers = createVerifiedCallers();
  const usedTokens = createUsed();

  const refuse = refuserOf(log, counts);
  const refusedCaller = (refusal: TokenRefusal): Caller => ({
    isPaying: false,
    mayCall(requestId) {
      refuse(refusal, requestId);
      return false;
    },
  });
  const withoutToken = refusedCaller({ reason: `no token: expected ${headerName}: ${prefix}<token>` });

  /** The caller with a verified token, which may expire while the body of the request arrives. */
  const payingCaller = (claims: Claims, expiryMs: number): Caller => {
    const mayCall = (requestId: string) => {
      let reason: string | null = null;
      if (Date.now() >= expiryMs) reason = 'exp: the token expired before the request was complete';
      else if (isOnce) reason = usedTokens.reasonAgainst(claims.jti);
      if (reason !== null) refuse({ reason }, requestId);
      return reason === null;
    };
    if (!isOnce) return { isPaying: true, mayCall };
    const useUp = (requestId: string) => {
      if (!mayCall(requestId)) return 'denied';
      const token = { jti: String(claims.jti), iat: claims.iat, expiryMs };
      usedTokens.add(token.jti, expiryMs);
      if (replicas) return useUpForReplicas(replicas, token, requestId);
      return 'admitted';
    };
    return { isPaying: true, mayCall, useUp };
  };
  const useUpForReplicas = async (
    usedKeys: UsedKeys,
    token: UsedToken,
    requestId: string,
  ): Promise<UseResult> => {
    const { jti, iat, expiryMs } = token;
    const use = await usedKeys.markUsed(`token ${jti}`, Math.ceil(expiryMs - Date.now()));
    if (use === null) {
      if (rules.once === 'on') return 'admitted';
      usedTokens.release(jti); // its caller may try again here: this replica stays the first
      refuse({ reason: 'TOKEN_ONCE=strict: the store of used tokens does not answer' }, requestId);
      return 'later';
    }
    const loss = refusalAfterLoss(use, iat, rules.clockToleranceSeconds);
    if (loss) {
      usedTokens.release(jti); // the next attempt gets this reason, too, and not "used before"
      refuse(loss, requestId);
      return 'denied';
    }
    if (use.isFirst) return 'admitted';
    refuse({ reason: 'jti: used before, on another replica' }, requestId);
    return 'denied';
  };
  const warnOfSkew = createSkewWarning(log, rules.clockToleranceSeconds);

  const check = async (header: string, token: string): Promise<Caller> => {
    try {
      const claims = await verify(token, rules, keys);
      const { exp, iat = 0 } = claims;
      const ahead = iat - Math.floor(Date.now() / 1000);
      warnOfSkew(ahead, `was issued ${ahead} s in the future (iat)`);
      const expiryMs = (exp + rules.clockToleranceSeconds) * 1000;
      const caller = payingCaller(claims, expiryMs);
      if (!isOnce) verifiedCallers.add(header, caller, expiryMs);
      return caller;
    } catch (error) {
      const expiredSeconds = expiredSince(error as Error);
      // A token that expired long ago says nothing about the clocks.
      const lateSeconds = expiredSeconds > rules.maxLifetimeSeconds ? 0 : expiredSeconds;
      warnOfSkew(lateSeconds, `was signed correctly and had expired ${lateSeconds} s before (exp)`);
      return refusedCaller(refusalOfToken(error as Error, rules));
    }
  };

  return {
    /** Verifies the token in the headers of a request. Never rejects. */
    identify(headers: IncomingHttpHeaders): Caller | Promise<Caller> {
      const header = headers[headerName]?.toString() ?? '';
      const knownCaller = verifiedCallers.callerOf(header);
      if (knownCaller) return knownCaller;
      const token = form.exec(header)?.[1];
      if (token === undefined) return withoutToken;
      return check(header, token);
    },
    /**
     * Fetches the platform's keys before the first call, and then until there is one: by itself, or where requests are isolated when it
     * is called again. Resolves after one attempt; never rejects.
     */
    prepare: keys.prepare,
    /** Describes the keys in use. */
    inUse: keys.inUse,
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

/** The end of a signature, by which a token is looked up: the hash of a whole header takes longer than all else of authentication. */
export function signatureEnd(header: string): string {
  return header.slice(-32);
}

/** Logs and publishes a denied call. */
function refuserOf(log: Log, counts: boolean): (refusal: TokenRefusal, requestId: string) => void {
  const logThrottled = createThrottledLog(log, 'refused', refusalsMs);
  return (refusal, requestId) => {
    const line = { ...refusal, request: requestId };
    const kind = refusalKind(refusal);
    publishRefusal(kind);
    if (counts) logThrottled(kind, line);
    else log('refused', line);
  };
}

/** The tokens that were used here, until they expire. */
function createUsed() {
  const usedUntil = new Map<string, number>();
  return {
    /** Returns why a token may not be used; null if it may. */
    reasonAgainst(jti: unknown): string | null {
      if (typeof jti !== 'string') return 'jti: missing, but each token is valid for one call only';
      if (usedUntil.has(jti)) return 'jti: used before';
      if (usedUntil.size >= maxUsed)
        for (const [id, until] of usedUntil) if (until <= Date.now()) usedUntil.delete(id);
      if (usedUntil.size >= maxUsed) return `more than ${maxUsed} tokens in use`;
      return null;
    },
    add(jti: string, expiryMs: number): void {
      usedUntil.set(jti, expiryMs);
    },
    release(jti: string): void {
      usedUntil.delete(jti);
    },
  };
}

/** A verified token that a call uses up. */
interface UsedToken {
  readonly jti: string;
  readonly iat: number | undefined;
  readonly expiryMs: number;
}

/** Why a call was denied. */
interface TokenRefusal {
  readonly reason: string;
  readonly expected?: string | null | undefined;
  /** The beginning of the value of a claim. */
  readonly got?: string | undefined;
}

/** Returns the refusal of a token that may have been used before the store lost that; null if it was issued later. */
function refusalAfterLoss(
  { lostBeforeSeconds }: KeyUse,
  iat: number | undefined,
  clockToleranceSeconds: number,
): TokenRefusal | null {
  if (lostBeforeSeconds === null) return null;
  const latestIat = lostBeforeSeconds + clockToleranceSeconds;
  if (iat !== undefined && iat > latestIat) return null;
  return {
    reason: 'may have run before: the store of used tokens may have lost it (TOKEN_ONCE=strict)',
    expected: `iat after ${latestIat}`,
    got: iat === undefined ? 'no iat' : `iat ${iat}`,
  };
}

/** The beginning of a reason, without what the token says: jose's error code and the claim, or the text before the colon. */
function refusalKind({ reason }: TokenRefusal): string {
  return /^ERR_\w+(?:: \w+)?|^[^:]*/.exec(reason)?.[0] ?? reason;
}

function refusalOfToken(error: Error, { issuer, audience }: TokenRules): TokenRefusal {
  const { code = error.message, claim, payload } = error as Partial<JWTClaimValidationFailed>;
  if (!claim) return { reason: code };
  const expected = { iss: issuer, aud: audience }[claim];
  const actual = JSON.stringify(payload?.[claim])?.slice(0, 200);
  return { reason: `${code}: ${claim}`, expected, got: actual };
}

/** How long ago a token of the platform expired, in seconds: its signature is valid. 0 after any other error. */
function expiredSince(error: Error): number {
  const { code, payload } = error as Partial<JWTClaimValidationFailed>;
  const isExpired = code === 'ERR_JWT_EXPIRED' && typeof payload?.exp === 'number';
  if (isExpired) return Math.floor(Date.now() / 1000) - Number(payload.exp);
  return 0;
}

/** Errors of the token itself. After any other error the next key is tried. */
const tokenError = /^ERR_(JWT_|JWS_INVALID$|JOSE_ALG_NOT_ALLOWED$)/;

/** Claims that are read after a token is verified. */
interface Claims {
  readonly exp: number;
  readonly iat?: number;
  readonly jti?: unknown;
}

/** The claims of a valid token. @throws Error if the token is invalid */
async function verify(token: string, rules: TokenRules, keys: Keys): Promise<Claims> {
  const { issuer, audience, clockToleranceSeconds: clockTolerance, maxLifetimeSeconds: maxSeconds } = rules;
  if (audience === null) throw new Error('PLATFORM_AUDIENCE is pending: no token names this server');
  const algorithms = [...rules.algorithms];
  const options = { algorithms, issuer, audience, clockTolerance, requiredClaims: ['exp'] };
  // What the token states about its key (`kid`, `jwk`, …) is not read: platforms sign with a `kid` that their set omits.
  for await (const key of keys.candidates()) {
    const verified = await jwtVerify<{ exp: number }>(token, key, options).catch((error) => {
      if (tokenError.test(error.code)) throw error;
    });
    if (!verified) continue;
    const nowSeconds = Math.floor(Date.now() / 1000);
    const { exp, aud, iat = nowSeconds } = verified.payload;
    if (iat > nowSeconds + maxAheadSeconds) {
      throw new Error(
        `iat: ${iat - nowSeconds} s in the future, at most ${maxAheadSeconds} s are accepted; compare the clocks`,
      );
    }
    if (exp - iat > maxSeconds) throw new Error(`exp: valid for longer than ${maxSeconds} seconds`);
    if ([aud].flat().length !== 1) throw new Error('aud: more than one audience');
    const { typ = 'JWT' } = verified.protectedHeader;
    if (!/^(application\/)?jwt$/i.test(typ)) throw new Error('typ: not a JWT');
    return verified.payload;
  }
  throw new Error(`not signed by the key in use: ${keys.inUse()}`);
}
