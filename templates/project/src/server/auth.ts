import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JWTClaimValidationFailed } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import type { Log } from './log.ts';

/** Sources of the keys that verify tokens. */
export interface KeySources {
  /** If set, the only key. */
  readonly configured: KeyObject | null;
  /** URL of the platform's key set (JWKS). */
  readonly jwksUrl: URL | null;
  /** Used until a key set is fetched. */
  readonly fallback: { readonly key: KeyObject; readonly source: string } | null;
}

/** Requirements for a token (C§5). */
export interface TokenRules {
  /** Request header that carries the token, lower case. */
  readonly header: string;
  /** Scheme in front of the token; empty if the header is only the token. */
  readonly scheme: string;
  readonly algorithms: readonly string[];
  readonly issuer: string;
  /** The exact value of the `aud` claim. */
  readonly audience: string;
  readonly clockToleranceSeconds: number;
  /** Longest validity of a token, counted from `iat`, or from now if it has no `iat`. */
  readonly maxLifetimeSeconds: number;
  /** Whether a token, identified by its `jti`, is valid for one call only. */
  readonly once: boolean;
  /** HTTP status of a refusal; null if the platform does not specify one. */
  readonly refusalStatus: number | null;
  readonly keys: KeySources;
}

type Authentication = ReturnType<typeof createAuthentication>;

/** For a server that does not check tokens (C§5.5). */
export const noAuthentication: Authentication = {
  admits: () => true,
  mayAdmit: () => true,
  prepare: async () => {},
  inUse: () => 'none, AUTH is off',
};

const mostRemembered = 1_000;
const longestRememberedMs = 600_000;
const mostUsed = 100_000;
const compactJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Verifies tokens that the platform signed for this server. The header of a verified token is cached for up to ten minutes,
 * at most until the token expires. Refusals are logged with a reason, never with the token.
 *
 * @param explains also logs calls without a token, and the values of claims; not for production, where anyone could fill the log
 */
export function createAuthentication(rules: TokenRules, log: Log, explains = false) {
  const keys = createKeys(rules.keys, log);
  const trustedUntil = new Map<string, number>();
  const used = new Map<string, number>();

  /** Marks a token as used. Refuses it if it was used before or too many tokens are in use. */
  const use = (jti: unknown, expiryMs: number): void => {
    if (typeof jti !== 'string') throw new Error('jti: missing, but each token is valid for one call only');
    if ((used.get(jti) ?? 0) > Date.now()) throw new Error('jti: used before');
    if (used.size >= mostUsed) for (const [id, until] of used) if (until <= Date.now()) used.delete(id);
    if (used.size >= mostUsed) throw new Error(`more than ${mostUsed} tokens in use`);
    used.set(jti, expiryMs);
  };

  const check = async (header: string): Promise<boolean> => {
    trustedUntil.delete(header);
    const token = tokenOf(header, rules.scheme);
    if (token === null) {
      const form = `${rules.header}: ${`${rules.scheme} <token>`.trim()}`;
      if (explains) log('refused', { reason: `no token: expected ${form}` });
      return false;
    }
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

  return {
    /** Whether the headers hold a valid token. */
    admits(headers: IncomingHttpHeaders): boolean | Promise<boolean> {
      const header = headers[rules.header]?.toString() ?? '';
      return Date.now() < (trustedUntil.get(header) ?? 0) || check(header);
    },
    /** Whether the headers hold text in the form of a token. */
    mayAdmit(headers: IncomingHttpHeaders): boolean {
      const header = headers[rules.header]?.toString() ?? '';
      return trustedUntil.has(header) || compactJwt.test(tokenOf(header, rules.scheme) ?? '');
    },
    /** Fetches the platform's keys before the first call; never rejects. */
    prepare: keys.ready,
    /** Describes the keys in use. */
    inUse: keys.inUse,
  };
}

/** The reason for a refusal: jose's error code and the name of the claim. With `explains`, the value of the claim too. */
function refusalOf(error: Error, { issuer, audience }: TokenRules, explains: boolean): string {
  const { code, claim = '', payload = {} } = error as Partial<JWTClaimValidationFailed>;
  const message = error.message.slice(0, 200);
  if (!explains) return [code ?? message, claim].filter(Boolean).join(': ');
  const expected = { aud: audience, iss: issuer }[claim];
  if (expected === undefined) return message;
  return `${message}: expected "${expected}", got ${JSON.stringify(payload[claim])?.slice(0, 200)}`;
}

/** The token in a header; null if the header has no token or another scheme. */
function tokenOf(header: string, scheme: string): string | null {
  const prefix = scheme && `${scheme} `;
  const hasPrefix = header.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  return (hasPrefix && header.slice(prefix.length).trimStart()) || null;
}

/** Errors of the token itself. After any other error the next key is tried. */
const tokenError = /^ERR_(JWT_|JWS_INVALID$|JOSE_ALG_NOT_ALLOWED$)/;

/** The claims of a valid token. @throws Error if the token is invalid */
async function verify(token: string, rules: TokenRules, keys: Keys) {
  const { issuer, audience, clockToleranceSeconds: clockTolerance, maxLifetimeSeconds: maxSeconds } = rules;
  const algorithms = [...rules.algorithms];
  const options = { algorithms, issuer, audience, clockTolerance, requiredClaims: ['exp'] };
  // What the token says of its key (`kid`, `jwk`, …) is not read: platforms sign with a `kid` that their set omits.
  for await (const key of keys.candidates()) {
    const verified = await jwtVerify<{ exp: number }>(token, key, options).catch((error) => {
      if (tokenError.test(error.code)) throw error;
    });
    if (!verified) continue;
    const now = Math.floor(Date.now() / 1000);
    const { exp, aud, iat = now } = verified.payload;
    if (iat > now + clockTolerance) throw new Error('iat: in the future');
    if (exp - iat > maxSeconds) throw new Error(`exp: valid for longer than ${maxSeconds} seconds`);
    if ([aud].flat().length !== 1) throw new Error('aud: more than one audience');
    return verified.payload;
  }
  throw new Error(`not signed by the key in use: ${keys.inUse()}`);
}

type Keys = ReturnType<typeof createKeys>;

const refetchMs = { fresh: 3_600_000, stale: 300_000, none: 5_000, unknownKey: 30_000 };

/**
 * Fetches the key set at the start, every hour, and when no known key verifies a token (at most every 30 s). If a fetch
 * fails, the last keys stay in use, or the fallback if no fetch has succeeded yet.
 */
function createKeys({ configured, jwksUrl, fallback }: KeySources, log: Log) {
  const own = configured ?? fallback?.key;
  let keys: readonly KeyObject[] = own ? [own] : [];
  let inUse = fallback ? `the built-in key (${fallback.source})` : 'none yet';
  if (configured) inUse = 'PLATFORM_PUBLIC_KEY';
  let triedAt = Number.NEGATIVE_INFINITY;
  let nextMs = 0;
  let first: Promise<void> | undefined;
  let fetching: Promise<void> | undefined;
  let logged = '';

  const fetchKeys = async (url: URL) => {
    let reason: string | undefined;
    try {
      keys = await download(url);
      inUse = `${keys.length} from ${url}`;
      nextMs = refetchMs.fresh;
    } catch (error) {
      reason = `${url} ${reasonOf(error)}`;
      nextMs = keys.length > 0 ? refetchMs.stale : refetchMs.none;
    }
    triedAt = Date.now();
    fetching = undefined;
    if (logged === `${inUse} ${reason}`) return;
    logged = `${inUse} ${reason}`;
    if (keys.length > 0) log('keys', { inUse, reason });
    else log('warning', { inUse, reason: `Every tools/call is refused, because there is no key: ${reason}` });
  };
  /** Fetches keys if the last fetch ended at least so many milliseconds ago; never rejects. */
  const refetch = (ms: number) => {
    if (jwksUrl && !configured && Date.now() >= triedAt + ms) fetching ??= fetchKeys(jwksUrl);
    first ??= fetching;
    return fetching;
  };
  /** Resolves when keys are known or the fetch has failed; never rejects. */
  const ready = async () => {
    const running = refetch(nextMs);
    await (keys.length > 0 ? first : running);
  };
  return {
    ready,
    /** The known keys, then the newly fetched ones. */
    async *candidates(): AsyncIterable<KeyObject> {
      await ready();
      const known = keys;
      yield* known;
      await refetch(refetchMs.unknownKey);
      if (keys !== known) yield* keys;
    },
    inUse: () => inUse,
  };
}

const bounds = { bytes: 65_536, keys: 20, redirects: 3, ms: 5_000 };

/**
 * Follows redirects to the same host, its `www` host and subdomains.
 *
 * @throws Error whose message completes a sentence that starts with the URL
 */
async function download(address: URL): Promise<readonly KeyObject[]> {
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
  const signal = AbortSignal.timeout(bounds.ms);
  const site = address.hostname.replace(/^www\./, '');
  let url = address;
  for (let hops = 0; hops <= bounds.redirects; hops++) {
    const response = await fetch(url, { signal, redirect: 'manual', headers });
    const { status } = response;
    if (status === 200) return keysIn(response);
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (status < 300 || status > 399 || location === null) throw new Error(`answers with status ${status}`);
    url = new URL(location, url);
    const isSameSite = url.hostname === site || url.hostname.endsWith(`.${site}`);
    if (!isSameSite || url.protocol !== address.protocol || url.port !== address.port) {
      throw new Error(`redirects to another site, ${url.origin}`);
    }
  }
  throw new Error('redirects too many times');
}

async function keysIn(response: Response): Promise<readonly KeyObject[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > bounds.bytes) throw new Error(`answers with more than ${bounds.bytes} bytes`);
  }
  const list: unknown = Object(JSON.parse(Buffer.concat(chunks).toString())).keys;
  const keys = Array.isArray(list) ? list.slice(0, bounds.keys).flatMap(keyOf) : [];
  if (keys.length === 0) throw new Error('has no usable key');
  return keys;
}

/** Reads a key from its parameters or its certificate (`x5c`); empty if it is unreadable or not for signatures. */
function keyOf(jwk: unknown): readonly KeyObject[] {
  const { use = 'sig', n, x, x5c } = Object(jwk);
  if (use !== 'sig') return [];
  try {
    if (n !== undefined || x !== undefined) return [createPublicKey({ key: Object(jwk), format: 'jwk' })];
    return [new X509Certificate(Buffer.from(String(x5c[0]), 'base64')).publicKey];
  } catch {
    return [];
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { readonly cause?: { readonly code?: string } };
  if (name === 'SyntaxError') return 'answers with something that is not JSON';
  if (name === 'TimeoutError') return `does not answer within ${bounds.ms} ms`;
  return cause?.code ? `cannot be reached (${cause.code})` : message;
}
