import { createPublicKey, type JsonWebKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JWTClaimValidationFailed } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import { isolatesRequests } from './limits.ts';
import { createCount, type Log, publishRefusal } from './log.ts';
import { provide } from './readings.ts';
import type { Replicas } from './session.ts';

/** Sources of the keys that verify tokens. */
export interface KeySources {
  /** The key in use until a key set is fetched, and its name in the log. */
  readonly initial: { readonly key: JsonWebKey; readonly name: string } | null;
  /** URL of the platform's key set (JWKS); null if the initial key is the only one. */
  readonly jwksUrl: URL | null;
}

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
  /** Whether a token, identified by its `jti`, is valid for one call only. */
  readonly once: boolean;
  /** HTTP status of a refusal; null if the platform does not specify one. */
  readonly refusalStatus: number | null;
  readonly keys: KeySources;
}

/** What the headers of a request say about its caller. */
export interface Caller {
  /** Whether the headers hold a valid token. */
  readonly isPaying: boolean;
  /**
   * Whether the caller may call a tool now. Uses up a token that is valid for one call; logs a refusal.
   *
   * @param request the id of the request
   */
  mayCall(request: string): boolean | Promise<boolean>;
}

type Authentication = ReturnType<typeof createAuthentication>;

const paying: Caller = { isPaying: true, mayCall: () => true };

/** For a server that does not check tokens (C§5.5). */
export const noAuthentication: Authentication = {
  identify: () => paying,
  prepare: async () => {},
  inUse: () => 'none, AUTH is off',
  hasKey: () => true,
};

const maxRemembered = 1_000;
const longestRememberedMs = 600_000;
const maxUsed = 100_000;
/** How far a platform's clock may be ahead of ours. A token with a later `iat` is refused. */
const maxAheadSeconds = 60;

/** In production, anyone could fill the log with refused calls. */
const refusalsMs = 60_000;

/**
 * Verifies tokens that the platform signed for this server. The header of a verified token is cached for up to ten minutes,
 * at most until the token expires. Refused calls are logged with a reason, never with the token.
 *
 * @param counts logs each kind of refusal at most once a minute, with the number of times; otherwise each refusal
 * @param replicas those for which a token is valid for one call together; null for this one alone
 */
export function createAuthentication(
  rules: TokenRules,
  log: Log,
  counts = false,
  replicas: Pick<Replicas, 'claim'> | null = null,
) {
  const { header: headerName, scheme } = rules;
  const prefix = scheme && `${scheme} `;
  /** Captures the token in a header. */
  const form = new RegExp(`^${prefix} *([\\w-]+\\.[\\w-]+\\.[\\w-]+)$`, 'i');
  const keys = createKeys(rules.keys, log);
  const trusted = new Map<string, { readonly caller: Caller; readonly until: number }>();
  const used = new Map<string, number>();
  let warnsAt = 0;

  const count = createCount(log, 'refused', refusalsMs);
  const refuse = (refusal: Refusal, request: string) => {
    const line = { ...refusal, request };
    const kind = kindOf(refusal);
    publishRefusal(kind);
    if (counts) count(kind, line);
    else log('refused', line);
  };
  const refused = (refusal: Refusal): Caller => ({
    isPaying: false,
    mayCall(request) {
      refuse(refusal, request);
      return false;
    },
  });
  const withoutToken = refused({ reason: `no token: expected ${headerName}: ${prefix}<token>` });

  /** Marks a token as used. Returns why it may not be used. */
  const use = (jti: unknown, expiryMs: number): string | null => {
    if (typeof jti !== 'string') return 'jti: missing, but each token is valid for one call only';
    if (used.has(jti)) return 'jti: used before';
    if (used.size >= maxUsed) for (const [id, until] of used) if (until <= Date.now()) used.delete(id);
    if (used.size >= maxUsed) return `more than ${maxUsed} tokens in use`;
    used.set(jti, expiryMs);
    return null;
  };

  /** The caller with a verified token, which may expire while the body of the request arrives. */
  const bearer = (jti: unknown, expiryMs: number): Caller => ({
    isPaying: true,
    mayCall(request) {
      const isLate = Date.now() >= expiryMs;
      const late = 'exp: the token expired before the request was complete';
      const reason = isLate ? late : rules.once ? use(jti, expiryMs) : null;
      if (reason !== null) refuse({ reason }, request);
      if (reason !== null || !rules.once || !replicas) return reason === null;
      return claimed(replicas.claim(`token ${jti}`, Math.ceil(expiryMs - Date.now())), request);
    },
  });
  const claimed = async (claim: Promise<boolean>, request: string): Promise<boolean> => {
    const isFirst = await claim;
    if (!isFirst) refuse({ reason: 'jti: used before, on another replica' }, request);
    return isFirst;
  };

  /** @param what the token shows of the clocks */
  const warnOfSkew = (seconds: number, what: string) => {
    if (seconds <= rules.clockToleranceSeconds || Date.now() < warnsAt) return;
    warnsAt = Date.now() + longestRememberedMs;
    log('warning', { text: `A token ${what}. Compare the clock of this machine with the platform's.` });
  };

  const check = async (header: string, token: string): Promise<Caller> => {
    try {
      const { exp, iat = 0, jti } = await verify(token, rules, keys);
      const ahead = iat - Math.floor(Date.now() / 1000);
      warnOfSkew(ahead, `was issued ${ahead} s in the future (iat)`);
      const expiryMs = (exp + rules.clockToleranceSeconds) * 1000;
      const caller = bearer(jti, expiryMs);
      if (!rules.once) {
        if (trusted.size >= maxRemembered) trusted.clear();
        trusted.set(header, { caller, until: Math.min(expiryMs, Date.now() + longestRememberedMs) });
      }
      return caller;
    } catch (error) {
      const since = expiredSince(error as Error);
      const late = since > rules.maxLifetimeSeconds ? 0 : since; // an old token shows nothing
      warnOfSkew(late, `was signed correctly and had expired ${late} s before (exp)`);
      return refused(refusalOf(error as Error, rules));
    }
  };

  return {
    /** Verifies the token in the headers of a request. Never rejects. */
    identify(headers: IncomingHttpHeaders): Caller | Promise<Caller> {
      const header = headers[headerName]?.toString() ?? '';
      const known = trusted.get(header);
      if (known && Date.now() < known.until) return known.caller;
      const token = form.exec(header)?.[1];
      return token === undefined ? withoutToken : check(header, token);
    },
    /** Fetches the platform's keys before the first call; never rejects. */
    prepare: keys.ready,
    /** Describes the keys in use. */
    inUse: keys.inUse,
    /** Whether there is a key. */
    hasKey: keys.hasKey,
  };
}

/** Why a call was refused. */
interface Refusal {
  readonly reason: string;
  readonly expected?: string | null | undefined;
  /** The beginning of the value of a claim. */
  readonly got?: string | undefined;
}

/** The beginning of a reason, without what the token says: jose's error code and the claim, or the text before the colon. */
function kindOf({ reason }: Refusal): string {
  return /^ERR_\w+(?:: \w+)?|^[^:]*/.exec(reason)?.[0] ?? reason;
}

function refusalOf(error: Error, { issuer, audience }: TokenRules): Refusal {
  const { code = error.message, claim, payload } = error as Partial<JWTClaimValidationFailed>;
  if (!claim) return { reason: code };
  const expected = { iss: issuer, aud: audience }[claim];
  const got = JSON.stringify(payload?.[claim])?.slice(0, 200);
  return { reason: `${code}: ${claim}`, expected, got };
}

/** How long ago a token of the platform expired, in seconds: its signature is valid. 0 after any other error. */
function expiredSince(error: Error): number {
  const { code, payload } = error as Partial<JWTClaimValidationFailed>;
  const isExpired = code === 'ERR_JWT_EXPIRED' && typeof payload?.exp === 'number';
  return isExpired ? Math.floor(Date.now() / 1000) - Number(payload.exp) : 0;
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
  // What the token says of its key (`kid`, `jwk`, …) is not read: platforms sign with a `kid` that their set omits.
  for await (const key of keys.candidates()) {
    const verified = await jwtVerify<{ exp: number }>(token, key, options).catch((error) => {
      if (tokenError.test(error.code)) throw error;
    });
    if (!verified) continue;
    const now = Math.floor(Date.now() / 1000);
    const { exp, aud, iat = now } = verified.payload;
    if (iat > now + maxAheadSeconds) {
      throw new Error(
        `iat: ${iat - now} s in the future, at most ${maxAheadSeconds} s are accepted; compare the clocks`,
      );
    }
    if (exp - iat > maxSeconds) throw new Error(`exp: valid for longer than ${maxSeconds} seconds`);
    if ([aud].flat().length !== 1) throw new Error('aud: more than one audience');
    return verified.payload;
  }
  throw new Error(`not signed by the key in use: ${keys.inUse()}`);
}

type Keys = ReturnType<typeof createKeys>;

const refetchMs = { routine: 600_000, unknownKey: 30_000, noKey: 10_000 };

/**
 * Fetches the key set at the start, every ten minutes, and when no known key verifies a token (at most every 30 s). If a
 * fetch fails, the last keys stay in use.
 */
function createKeys({ initial, jwksUrl }: KeySources, log: Log) {
  let keys: readonly JsonWebKey[] = initial ? [initial.key] : [];
  let inUse = initial?.name ?? 'none: calls are refused until a key set is fetched';
  let failure: string | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let first: Promise<void> | undefined;
  let latest: Promise<void> | undefined;
  let hasEnded = false;
  const isAlone = isolatesRequests();
  provide('keys', () => ({ value: keys.length }));

  const fetchKeys = async (url: URL) => {
    const before = `${inUse} ${failure}`;
    try {
      keys = await download(url);
      inUse = `${keys.length} from ${url}`;
      failure = undefined;
    } catch (error) {
      const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } };
      failure = `${url}: ${message} ${cause?.code ?? ''}`.trimEnd();
    }
    hasEnded = true;
    if (`${inUse} ${failure}` === before) return;
    log(keys.length > 0 ? 'keys' : 'warning', { inUse, reason: failure });
  };
  /**
   * Fetches keys if the last fetch began at least so many milliseconds ago. Waits for the last fetch, where requests are isolated
   * only for its own; never rejects.
   */
  const refetch = (ms: number) => {
    const isDue = Date.now() >= triedAt + ms || (isAlone && !hasEnded);
    if (jwksUrl && isDue) {
      triedAt = Date.now();
      latest = fetchKeys(jwksUrl);
      first ??= latest;
    }
    return isAlone && !isDue ? undefined : latest;
  };
  /** Waits for the first fetch; never rejects. Later fetches run in the background, if the host lets them. */
  const ready = async () => {
    const fetching = refetch(refetchMs.routine);
    await (isAlone ? fetching : first);
  };
  return {
    ready,
    /** The known keys, then the newly fetched ones. */
    async *candidates(): AsyncIterable<JsonWebKey> {
      await ready();
      const known = keys;
      yield* known;
      await refetch(known.length > 0 ? refetchMs.unknownKey : refetchMs.noKey);
      if (keys !== known) yield* keys;
    },
    inUse: () => inUse,
    hasKey: () => keys.length > 0,
  };
}

const bounds = { ms: 5_000, redirects: 3, characters: 65_536, keys: 20 };

/** Follows redirects to the same host, its `www` host and subdomains. */
async function download(address: URL): Promise<readonly JsonWebKey[]> {
  const signal = AbortSignal.timeout(bounds.ms);
  const headers = { accept: 'application/json' };
  let url = address;
  for (let hops = 0; hops <= bounds.redirects; hops++) {
    const response = await fetch(url, { signal, redirect: 'manual', headers });
    if (response.status === 200) return keysIn(response);
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (location === null) throw new Error(`status ${response.status}`);
    url = new URL(location, url);
    if (!isWithin(url, address)) throw new Error(`redirect to another site, ${url.origin}`);
  }
  throw new Error('too many redirects');
}

function isWithin({ protocol, host }: URL, site: URL): boolean {
  const siteHost = site.host.replace(/^www\./, '');
  return protocol === site.protocol && (host === siteHost || host.endsWith(`.${siteHost}`));
}

async function keysIn({ body }: Response): Promise<readonly JsonWebKey[]> {
  let text = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.length > bounds.characters) throw new Error(`more than ${bounds.characters} characters`);
  }
  const list: unknown = Object(JSON.parse(text)).keys;
  const keys = Array.isArray(list) ? list.slice(0, bounds.keys).flatMap(keyOf) : [];
  if (keys.length === 0) throw new Error('no usable key');
  return keys;
}

/** Reads a key from its parameters or its certificate (`x5c`); empty if it is unreadable or not for signatures. */
function keyOf(jwk: unknown): readonly JsonWebKey[] {
  const { use = 'sig', n, x, x5c } = Object(jwk);
  if (use !== 'sig') return [];
  try {
    if (n !== undefined || x !== undefined)
      return [jwkOf(createPublicKey({ key: Object(jwk), format: 'jwk' }))];
    return [jwkOf(new X509Certificate(Buffer.from(String(x5c[0]), 'base64')).publicKey)];
  } catch {
    return [];
  }
}

/** A public key in the only form that every host can verify with. */
export function jwkOf(key: KeyObject): JsonWebKey {
  return key.export({ format: 'jwk' });
}
