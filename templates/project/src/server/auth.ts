import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { JWTClaimValidationFailed } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
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

/** Where the keys that verify tokens come from: the first of these that gives one. */
export interface KeySources {
  /** Excludes the others. */
  readonly configured: KeyObject | null;
  /** URL of the key set (JWKS) that the platform publishes. */
  readonly jwksUrl: URL | null;
  /** Holds until a key set could be fetched. */
  readonly fallback: { readonly key: KeyObject; readonly source: string } | null;
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

/**
 * Authentication by tokens that the platform signed for this server. The header of a verified token is remembered until the
 * token expires; refusals are logged with their reason, never with the token.
 *
 * @param explains also logs calls without a token, and what a claim was: not in production, where anybody could fill the log
 */
export function createAuthentication(rules: TokenRules, log: Log, explains = false): Authentication {
  const keys = createKeys(rules.keys, log);
  const verify = createVerifier(rules, keys);
  const trustedUntil = new Map<string, number>();
  const used = createUsed();
  /** Requests that were let in: what asks again for the same one uses its token no second time. */
  const admitted = new WeakSet<IncomingHttpHeaders>();
  const admit = (headers: IncomingHttpHeaders, isGood: boolean) => {
    if (isGood) admitted.add(headers);
    return isGood;
  };

  const check = async (header: string): Promise<boolean> => {
    trustedUntil.delete(header);
    const token = tokenOf(header, rules.scheme);
    if (token === null) return withoutToken();
    try {
      const { exp, jti } = await verify(token);
      const expiryMs = (exp + rules.clockToleranceSeconds) * 1000;
      if (rules.once) {
        if (typeof jti !== 'string') throw new Error('no jti, which a token for one call needs');
        if (!used.first(jti, expiryMs)) throw new Error('used before');
        return true;
      }
      trustedUntil.set(header, Math.min(expiryMs, Date.now() + longestRememberedMs));
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
      if (rules.once) return admitted.has(headers) || check(header).then((isGood) => admit(headers, isGood));
      return Date.now() < (trustedUntil.get(header) ?? 0) || check(header);
    },
    mayAdmit(headers) {
      const token = tokenOf(headers[rules.header]?.toString() ?? '', rules.scheme);
      return token !== null && tokenForm.test(token);
    },
    prepare: async () => void (await keys.current()),
    holds: keys.holds,
  };
}

/** A JWT in compact form. */
const tokenForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Why a token is refused, in jose's code and the claim's name. Text of the token is shown only where `explains`. */
function refusalOf(error: Error, { issuer, audience }: TokenRules, explains: boolean): string {
  const { code, claim } = error as { readonly code?: string; readonly claim?: string };
  if (!explains && code !== undefined) return claim === undefined ? code : `${code}: ${claim}`;
  const message = error.message.slice(0, 200);
  if (!explains || !(error instanceof JWTClaimValidationFailed)) return message;
  const expected = error.claim === 'aud' ? audience : error.claim === 'iss' ? issuer : undefined;
  if (expected === undefined) return message;
  const got = JSON.stringify(error.payload[error.claim])?.slice(0, 200);
  return `${message}: expected ${JSON.stringify(expected)}, got ${got}`;
}

/** The token in a header; null where there is none, or not in that scheme. */
function tokenOf(header: string, scheme: string): string | null {
  if (scheme === '') return header || null;
  const prefix = `${scheme} `;
  if (header.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return null;
  return header.slice(prefix.length).trimStart() || null;
}

const mostUsed = 100_000;

/** The tokens that were used and are not yet expired. Where there are too many of them, no other is taken. */
function createUsed() {
  const used = new Map<string, number>();
  return {
    /** Whether a token was not used before. */
    first(jti: string, expiryMs: number): boolean {
      if ((used.get(jti) ?? 0) > Date.now()) return false;
      if (used.size >= mostUsed) {
        for (const [id, until] of used) if (until <= Date.now()) used.delete(id);
        if (used.size >= mostUsed) throw new Error(`more than ${mostUsed} tokens in use`);
      }
      used.set(jti, expiryMs);
      return true;
    },
  };
}

interface Claims {
  /** In seconds, as `iat` is. */
  readonly exp: number;
  readonly iat?: number;
  readonly aud?: unknown;
  readonly jti?: unknown;
}

/** @returns a function that resolves to the claims of a valid token and rejects for any other. */
function createVerifier(rules: TokenRules, keys: Keys): (token: string) => Promise<Claims> {
  const options = {
    algorithms: [...rules.algorithms],
    issuer: rules.issuer,
    audience: rules.audience,
    requiredClaims: ['exp'],
    clockTolerance: rules.clockToleranceSeconds,
  };
  return async (token) => {
    // A `kid` only orders the keys: platforms sign with one that their set omits. `jku`, `jwk` and `x5u` are not read.
    const { kid } = decodeProtectedHeader(token);
    do {
      const all = await keys.current();
      const named = all.filter((key) => kid !== undefined && key.kid === kid);
      for (const { key } of [...named, ...all.filter((key) => !named.includes(key))]) {
        try {
          const { payload } = await jwtVerify(token, key, options);
          const claims = payload as Claims;
          checkClaims(claims, rules);
          return claims;
        } catch (error) {
          if (error instanceof ClaimError || tokenErrors.has((error as { code?: unknown }).code)) throw error;
        }
      }
    } while (await keys.renew());
    throw new Error(`signed by another key than the one that holds (${keys.holds()})`);
  };
}

/** What no other key would change; any other error may lie in the key, and the next one is tried. */
const tokenErrors: ReadonlySet<unknown> = new Set([
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JWS_INVALID',
  'ERR_JWT_CLAIM_VALIDATION_FAILED',
  'ERR_JWT_EXPIRED',
  'ERR_JWT_INVALID',
]);

class ClaimError extends Error {}

/** What jose leaves open. @throws ClaimError */
function checkClaims({ iat, exp, aud }: Claims, rules: TokenRules): void {
  const now = Math.floor(Date.now() / 1000);
  const issued = iat ?? now;
  if (issued > now + rules.clockToleranceSeconds) throw new ClaimError('iat: in the future');
  if (exp - issued > rules.maxLifetimeSeconds) {
    throw new ClaimError(`exp: valid for longer than ${rules.maxLifetimeSeconds} seconds`);
  }
  if ([aud].flat().length !== 1) throw new ClaimError('aud: more than one audience');
}

interface PlatformKey {
  readonly key: KeyObject;
  readonly kid?: unknown;
}

/** The keys that may have signed a token. */
interface Keys {
  current(): Promise<readonly PlatformKey[]>;
  /** Whether other keys may be known now than a moment ago: they were fetched anew. */
  renew(): Promise<boolean>;
  holds(): string;
}

const freshMs = 3_600_000;
const cooldownMs = 30_000;
const retryMs = { held: 300_000, none: 5_000 };

/**
 * A key set is fetched at the start, every hour, and when no known key has signed a token, at most every 30 s. Where
 * fetching fails, the last keys stay in use; before there are any, the fallback.
 */
function createKeys({ configured, jwksUrl, fallback }: KeySources, log: Log): Keys {
  const first = configured ?? fallback?.key;
  let keys: readonly PlatformKey[] = first ? [{ key: first }] : [];
  let holds = configured
    ? 'PLATFORM_PUBLIC_KEY'
    : fallback
      ? `the built-in key (${fallback.source})`
      : 'none yet';
  if (configured || !jwksUrl) {
    return { current: async () => keys, renew: async () => false, holds: () => holds };
  }

  let triedAt = Number.NEGATIVE_INFINITY;
  let dueAt = triedAt;
  let fetching: Promise<void> | undefined;
  let reported = '';
  const report = (event: string, members: { readonly reason?: string }) => {
    const text = JSON.stringify(members);
    if (reported !== holds + text) log(event, { holds, ...members });
    reported = holds + text;
  };
  const fetchKeys = async () => {
    triedAt = Date.now();
    try {
      keys = await download(jwksUrl);
      dueAt = Date.now() + freshMs;
      holds = `${keys.length} from ${jwksUrl}`;
      report('keys', {});
    } catch (error) {
      dueAt = Date.now() + (keys.length > 0 ? retryMs.held : retryMs.none);
      const reason = `${jwksUrl} ${reasonOf(error)}`;
      if (keys.length > 0) report('keys', { reason });
      else report('warning', { reason: `Every paid call is refused, for want of a key: ${reason}` });
    }
    fetching = undefined;
  };
  const refresh = () => {
    fetching ??= fetchKeys();
    return fetching;
  };
  let started: Promise<void> | undefined;
  return {
    async current() {
      const late = Date.now() >= dueAt ? refresh() : undefined;
      started ??= late;
      await (keys.length > 0 ? started : late);
      return keys;
    },
    async renew() {
      const known = keys;
      if (fetching || Date.now() >= triedAt + cooldownMs) await refresh();
      return keys !== known;
    },
    holds: () => holds,
  };
}

const bounds = { bytes: 65_536, keys: 20, redirects: 3, ms: 5_000 };

/** @throws Error whose message continues a sentence that begins with the URL */
async function download(address: URL): Promise<readonly PlatformKey[]> {
  const signal = AbortSignal.timeout(bounds.ms);
  let url = address;
  for (let hops = 0; ; hops++) {
    const response = await fetch(url, {
      signal,
      redirect: 'manual',
      headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    });
    const location = response.headers.get('location');
    if (response.status === 200) return keysIn(await textOf(response));
    await response.body?.cancel();
    if (response.status < 300 || response.status > 399 || location === null) {
      throw new Error(`answers with status ${response.status}`);
    }
    url = new URL(location, url);
    if (!isSameSite(address, url)) throw new Error(`redirects to another site, ${url.origin}`);
    if (hops === bounds.redirects) throw new Error('redirects too often');
  }
}

/** Whether a redirect stays with its host or goes to one below it or to its `www`. */
function isSameSite(from: URL, to: URL): boolean {
  const site = from.hostname.replace(/^www\./, '');
  const within = to.hostname === site || to.hostname.endsWith(`.${site}`);
  return within && to.protocol === from.protocol && to.port === from.port;
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > bounds.bytes) throw new Error(`answers with more than ${bounds.bytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function keysIn(text: string): readonly PlatformKey[] {
  let list: unknown;
  try {
    list = Object(JSON.parse(text)).keys;
  } catch {
    throw new Error('answers with something that is not JSON');
  }
  const keys = Array.isArray(list) ? list.slice(0, bounds.keys).flatMap(keyOf) : [];
  if (keys.length === 0) throw new Error('holds no key that can be used');
  return keys;
}

/** A key by its parameters or its certificate (`x5c`); none where it cannot be read or is not for signatures. */
function keyOf(jwk: unknown): PlatformKey[] {
  const { kid, use = 'sig', n, x, x5c } = Object(jwk);
  if (use !== 'sig') return [];
  try {
    const key =
      n === undefined && x === undefined
        ? new X509Certificate(Buffer.from(String(x5c[0]), 'base64')).publicKey
        : createPublicKey({ key: Object(jwk), format: 'jwk' });
    return [{ key, kid }];
  } catch {
    return [];
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { readonly cause?: { readonly code?: string } };
  if (name === 'TimeoutError') return `does not answer within ${bounds.ms} ms`;
  return cause?.code ? `cannot be reached (${cause.code})` : message;
}
