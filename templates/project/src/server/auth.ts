import type { IncomingHttpHeaders } from 'node:http';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import type { JWTClaimValidationFailed } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import { createKeys, type KeySources, type Keys } from './keys.ts';
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
  /** How long a token may be valid, from its issue or, where it names none, from now. */
  readonly maxLifetimeSeconds: number;
  /** Whether a token (its `jti`) is good for one call only. */
  readonly once: boolean;
  /** HTTP status of the refusal; null where the platform leaves it open. */
  readonly refusalStatus: number | null;
  readonly keys: KeySources;
}

/** Lets in only requests with a valid token of the platform. */
export interface Authentication {
  /** Whether a request with these headers carries such a token. */
  admits(headers: IncomingHttpHeaders): boolean | Promise<boolean>;
  /** Whether it carries what has the form of a token. */
  mayAdmit(headers: IncomingHttpHeaders): boolean;
  /** Fetches the platform's keys ahead of the first call; never rejects. */
  prepare(): Promise<void>;
  /** Which key holds at the moment, in words. */
  holds(): string;
}

/** The authentication of a server whose check is switched off (C§5.5). */
export const noAuthentication: Authentication = {
  admits: () => true,
  mayAdmit: () => true,
  prepare: async () => {},
  holds: () => 'none, AUTH is off',
};

const mostRemembered = 1_000;
const longestRememberedMs = 600_000;
const mostUsed = 100_000;

/** A JWT in compact form. */
const tokenForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Authentication by tokens that the platform signed for this server. The header of a verified token is remembered until the
 * token expires; refusals are logged with their reason, never with the token.
 *
 * @param explains also logs calls without a token, and what a claim was: not in production, where anybody could fill the log
 */
export function createAuthentication(rules: TokenRules, log: Log, explains = false): Authentication {
  const keys = createKeys(rules.keys, log);
  const trustedUntil = new Map<string, number>();
  const used = new Map<string, number>();

  /** Takes a token for its one call. Where too many are in use, no other is taken. */
  const use = (jti: unknown, expiryMs: number): void => {
    if (typeof jti !== 'string') throw new Error('no jti, which a token for one call needs');
    if ((used.get(jti) ?? 0) > Date.now()) throw new Error('used before');
    if (used.size >= mostUsed) for (const [id, until] of used) if (until <= Date.now()) used.delete(id);
    if (used.size >= mostUsed) throw new Error(`more than ${mostUsed} tokens in use`);
    used.set(jti, expiryMs);
  };

  const check = async (header: string): Promise<boolean> => {
    trustedUntil.delete(header);
    const token = tokenOf(header, rules.scheme);
    if (token === null) return withoutToken();
    try {
      const { exp, jti } = await verify(token, rules, keys);
      const expiryMs = (exp + rules.clockToleranceSeconds) * 1000;
      if (rules.once) use(jti, expiryMs);
      else trustedUntil.set(header, Math.min(expiryMs, Date.now() + longestRememberedMs));
      if (trustedUntil.size > mostRemembered) trustedUntil.delete(trustedUntil.keys().next().value ?? '');
      return true;
    } catch (error) {
      log('refused', { reason: refusalOf(error as Error, rules, explains) });
      return false;
    }
  };

  const withoutToken = () => {
    const { header, scheme } = rules;
    if (explains) log('refused', { reason: `no token: expected ${header}: ${`${scheme} <token>`.trim()}` });
    return false;
  };

  return {
    admits(headers) {
      const header = headers[rules.header]?.toString();
      if (header === undefined) return withoutToken();
      return Date.now() < (trustedUntil.get(header) ?? 0) || check(header);
    },
    mayAdmit(headers) {
      const header = headers[rules.header]?.toString() ?? '';
      return trustedUntil.has(header) || tokenForm.test(tokenOf(header, rules.scheme) ?? '');
    },
    prepare: keys.ready,
    holds: keys.holds,
  };
}

/** Why a token is refused, in jose's code and the claim's name. Text of the token is shown only where `explains`. */
function refusalOf(error: Error, { issuer, audience }: TokenRules, explains: boolean): string {
  const { code, claim = '', payload = {} } = error as Partial<JWTClaimValidationFailed>;
  const message = error.message.slice(0, 200);
  if (!explains) return [code ?? message, claim].filter(Boolean).join(': ');
  const expected = { aud: audience, iss: issuer }[claim];
  if (expected === undefined) return message;
  return `${message}: expected "${expected}", got ${JSON.stringify(payload[claim])?.slice(0, 200)}`;
}

/** The token in a header; null where there is none, or not in that scheme. */
function tokenOf(header: string, scheme: string): string | null {
  if (scheme === '') return header || null;
  const prefix = `${scheme} `;
  if (header.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return null;
  return header.slice(prefix.length).trimStart() || null;
}

interface Claims {
  /** In seconds, as `iat` is. */
  readonly exp: number;
  readonly iat?: number;
  readonly aud?: unknown;
  readonly jti?: unknown;
}

/** The claims of a valid token. @throws Error for any other */
async function verify(token: string, rules: TokenRules, keys: Keys): Promise<Claims> {
  const claims = await signedClaims(token, rules, keys);
  const { iat, exp, aud } = claims;
  const now = Math.floor(Date.now() / 1000);
  const issued = iat ?? now;
  if (issued > now + rules.clockToleranceSeconds) throw new Error('iat: in the future');
  if (exp - issued > rules.maxLifetimeSeconds) {
    throw new Error(`exp: valid for longer than ${rules.maxLifetimeSeconds} seconds`);
  }
  if ([aud].flat().length !== 1) throw new Error('aud: more than one audience');
  return claims;
}

/** What no other key would change; any other error may lie in the key, and the next one is tried. */
const tokenError = /^ERR_(JWT_|JWS_INVALID$|JOSE_ALG_NOT_ALLOWED$)/;

async function signedClaims(token: string, rules: TokenRules, keys: Keys): Promise<Claims> {
  const options = {
    algorithms: [...rules.algorithms],
    issuer: rules.issuer,
    audience: rules.audience,
    requiredClaims: ['exp'],
    clockTolerance: rules.clockToleranceSeconds,
  };
  // A `kid` only orders the keys: platforms sign with one that their set omits. `jku`, `jwk` and `x5u` are not read.
  for await (const { key } of keys.candidates(decodeProtectedHeader(token).kid)) {
    try {
      return (await jwtVerify(token, key, options)).payload as Claims;
    } catch (error) {
      if (tokenError.test(Object(error).code)) throw error;
    }
  }
  throw new Error(`signed by another key than the one that holds (${keys.holds()})`);
}
