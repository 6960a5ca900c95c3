// Tokens that are valid for one call (`TOKEN_ONCE`).

import type { TokenDenial } from './token-denial.ts';
import type { TokenRules } from './verify-token.ts';

/** The used tokens that replicas share, by key: `token <jti>`. */
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

/** Whether a call may run. `unknown`: whether its token was used before cannot be checked now. */
export type UseResult = 'admitted' | 'denied' | 'unknown';

const maxUsedTokens = 100_000;

/**
 * Remembers the tokens that were used, until they expire, for a server whose tokens are valid for one call only.
 *
 * @param replicas all of them together accept a token once; null if there is only this one
 */
export function createUsedTokens(
  rules: Pick<TokenRules, 'once' | 'clockToleranceSeconds'>,
  replicas: UsedKeys | null,
  logDenial: (denial: TokenDenial, requestId: string) => void,
) {
  /** By `jti`, when a used token expires, in milliseconds. */
  const usedUntil = new Map<string, number>();
  const forgetExpired = () => {
    for (const [jti, until] of usedUntil) {
      if (until <= Date.now()) usedUntil.delete(jti);
    }
  };
  const useUpForReplicas = async (
    usedKeys: UsedKeys,
    { jti, iat, expiryMs }: UsedToken,
    requestId: string,
  ): Promise<UseResult> => {
    const use = await usedKeys.markUsed(`token ${jti}`, Math.ceil(expiryMs - Date.now()));
    if (use === null) {
      if (rules.once === 'on') return 'admitted';
      // The store may have marked the token although its answer was late. So a retry asks again; the store admits the same replica.
      usedUntil.delete(jti);
      logDenial({ reason: 'TOKEN_ONCE=strict: the store of used tokens does not answer' }, requestId);
      return 'unknown';
    }
    const loss = lostUseDenial(use, iat, rules.clockToleranceSeconds);
    if (loss) {
      usedUntil.delete(jti); // so that a further call is denied for the same reason, not as used before
      logDenial(loss, requestId);
      return 'denied';
    }
    if (use.isFirst) return 'admitted';
    logDenial({ reason: 'jti: used before, on another replica' }, requestId);
    return 'denied';
  };
  return {
    /** Returns why a token may not be used; null if it may. */
    findDenialReason(jti: unknown): string | null {
      if (typeof jti !== 'string') return 'jti: missing, but each token is valid for one call only';
      if (usedUntil.has(jti)) return 'jti: used before';
      if (usedUntil.size >= maxUsedTokens) forgetExpired();
      if (usedUntil.size >= maxUsedTokens) return `more than ${maxUsedTokens} tokens in use`;
      return null;
    },
    /** Marks a token as used. If its call is denied, logs why. */
    useUp(token: UsedToken, requestId: string): UseResult | Promise<UseResult> {
      usedUntil.set(token.jti, token.expiryMs);
      if (replicas) return useUpForReplicas(replicas, token, requestId);
      return 'admitted';
    },
  };
}

/** A verified token that a call uses up. */
export interface UsedToken {
  readonly jti: string;
  readonly iat: number | undefined;
  readonly expiryMs: number;
}

/** Returns the denial of a token whose use the store may have lost; null if the token was issued after the loss. */
export function lostUseDenial(
  { lostBeforeSeconds }: KeyUse,
  iat: number | undefined,
  clockToleranceSeconds: number,
): TokenDenial | null {
  if (lostBeforeSeconds === null) return null;
  const latestIat = lostBeforeSeconds + clockToleranceSeconds;
  if (iat !== undefined && iat > latestIat) return null;
  return {
    reason: 'may have run before: the store of used tokens may have lost it (TOKEN_ONCE=strict)',
    expected: `iat after ${latestIat}`,
    got: iat === undefined ? 'no iat' : `iat ${iat}`,
  };
}
