// Verifies a JWT: signature, claims, lifetime, tolerance for clocks.

import type { JWTClaimValidationFailed } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import type { KeySources, Keys } from './platform-keys.ts';

/** Requirements for a token (C§5). */
export interface TokenRules {
  /** Request header that carries the token, lower case. */
  readonly header: string;
  /** Scheme in front of the token; empty if the header is only the token. */
  readonly scheme: string;
  readonly algorithms: readonly string[];
  readonly issuer: string;
  /** The exact value of the `aud` claim; null until it is known. Until then, no token is valid. */
  readonly audience: string | null;
  /** The environment variable that contains the audience. */
  readonly audienceFrom: string;
  readonly clockToleranceSeconds: number;
  /** Longest validity of a token, counted from `iat`, or from now if it has no `iat`. */
  readonly maxLifetimeSeconds: number;
  /**
   * Whether a token, identified by its `jti`, is valid for one call only. With `strict`, no call runs while the store of the replicas does
   * not answer, or if the store may have lost the use of the token.
   */
  readonly once: 'off' | 'on' | 'strict';
  /** HTTP status of a refusal; null if the platform does not specify one. */
  readonly refusalStatus: number | null;
  readonly keys: KeySources;
}

/** How far the platform's clock may be ahead of this one. A token with a later `iat` is denied. */
const maxAheadSeconds = 60;

/** How long ago a token with a valid signature expired, in seconds; 0 for any other error. */
export function secondsSinceExpiry(error: Error): number {
  const { code, payload } = error as Partial<JWTClaimValidationFailed>;
  const isExpired = code === 'ERR_JWT_EXPIRED' && typeof payload?.exp === 'number';
  if (isExpired) return Math.floor(Date.now() / 1000) - Number(payload.exp);
  return 0;
}

/** The codes of errors that another key would not change. After any other error, the next key is tried. */
const tokenError = /^ERR_(JWT_|JWS_INVALID$|JOSE_ALG_NOT_ALLOWED$)/;

/** Claims that are read after a token is verified. */
export interface Claims {
  readonly exp: number;
  readonly iat?: number;
  readonly jti?: unknown;
}

/** The claims of a valid token. @throws Error if the token is invalid */
export async function verifyToken(token: string, rules: TokenRules, keys: Keys): Promise<Claims> {
  const { issuer, audience, clockToleranceSeconds: clockTolerance, maxLifetimeSeconds: maxSeconds } = rules;
  if (audience === null) throw new Error('PLATFORM_AUDIENCE is pending: no token names this server');
  const algorithms = [...rules.algorithms];
  const options = { algorithms, issuer, audience, clockTolerance, requiredClaims: ['exp'] };
  // What the token states about its key (`kid`, `jwk`, …) is not read: platforms sign with a `kid` that their set omits.
  for await (const key of keys.candidateKeys()) {
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
  throw new Error(`not signed by the key in use: ${keys.describeKeys()}`);
}
