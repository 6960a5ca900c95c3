import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CryptoKey, JWTHeaderParameters } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import * as errors from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import { dropOldest } from './bounded.ts';
import { createKeySet } from './key-set.ts';
import type { Log } from './log.ts';

/** What a token must be for a call to run (C§5). */
export interface TokenRules {
  /** Request header that carries the token, lower case. */
  readonly header: string;
  /** Scheme in front of the token; empty where the header holds the token alone. */
  readonly scheme: string;
  readonly algorithms: readonly string[];
  readonly issuer: string;
  /** What the `aud` claim must equal byte for byte. */
  readonly audience: string;
  readonly clockToleranceSeconds: number;
  /** HTTP status of the refusal; null where the platform leaves it open. */
  readonly refusalStatus: number | null;
  readonly key: KeyObject | URL;
}

/** Whether a request carries a valid token of the platform. */
export type Gate = (headers: IncomingHttpHeaders) => boolean | Promise<boolean>;

/** The gate of a server whose check is switched off (C§5.5). */
export const openGate: Gate = () => true;

const mostRemembered = 1_000;
const longestRememberedMs = 600_000;

/**
 * A gate that lets in only tokens that the platform signed for this server. The header of a verified token is remembered
 * until the token expires; refusals are logged with their reason, never with the token.
 */
export function createGate(rules: TokenRules, log: Log): Gate {
  const verify = createVerifier(rules);
  const trustedUntil = new Map<string, number>();

  const remember = (header: string, expirySeconds: number) => {
    const now = Date.now();
    const expiry = (expirySeconds + rules.clockToleranceSeconds) * 1000;
    trustedUntil.set(header, Math.min(expiry, now + longestRememberedMs));
    dropOldest(trustedUntil, mostRemembered);
  };

  const check = async (header: string) => {
    trustedUntil.delete(header);
    const token = tokenOf(header, rules.scheme);
    if (token === null) return false;
    try {
      remember(header, await verify(token));
      return true;
    } catch (error) {
      log('refused', { reason: (error as Error).message });
      return false;
    }
  };

  return (headers) => {
    const header = headers[rules.header]?.toString();
    if (header === undefined) return false;
    const until = trustedUntil.get(header);
    return (until !== undefined && Date.now() < until) || check(header);
  };
}

/** The token in a header; null where there is none, or not in that scheme. */
function tokenOf(header: string, scheme: string): string | null {
  if (scheme === '') return header || null;
  const prefix = `${scheme} `;
  if (header.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return null;
  return header.slice(prefix.length).trimStart() || null;
}

/** @returns a function that resolves to the `exp` of a valid token, in seconds, and rejects for any other. */
function createVerifier(rules: TokenRules): (token: string) => Promise<number> {
  const keysFor = rules.key instanceof URL ? createKeySet(rules.key) : null;
  const options = {
    algorithms: [...rules.algorithms],
    issuer: rules.issuer,
    audience: rules.audience,
    requiredClaims: ['exp'],
    clockTolerance: rules.clockToleranceSeconds,
  };

  /** The keys that may have signed a token. A `kid` only orders them: platforms sign with one that their set omits. */
  async function* candidates(header: JWTHeaderParameters): AsyncGenerator<KeyObject | CryptoKey> {
    if (keysFor === null) return yield rules.key as KeyObject;
    let key: CryptoKey;
    try {
      key = await keysFor(header);
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return yield* error;
      if (!(error instanceof errors.JWKSNoMatchingKey) || header.kid === undefined) throw error;
      return yield* candidates({ ...header, kid: undefined });
    }
    yield key;
  }

  return async (token) => {
    const header = decodeProtectedHeader(token) as JWTHeaderParameters;
    if (!rules.algorithms.includes(header.alg)) throw new Error('algorithm not allowed');
    for await (const key of candidates(header)) {
      try {
        const { payload } = await jwtVerify(token, key, options);
        return payload.exp as number;
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  };
}
