import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Log } from './log.ts';

/** Where the keys that verify tokens come from: the first of these that gives one. */
export interface KeySources {
  /** Excludes the others. */
  readonly configured: KeyObject | null;
  /** URL of the key set (JWKS) that the platform publishes. */
  readonly jwksUrl: URL | null;
  /** Holds until a key set could be fetched. */
  readonly fallback: { readonly key: KeyObject; readonly source: string } | null;
}

interface PlatformKey {
  readonly key: KeyObject;
  readonly kid?: unknown;
}

/** The keys that may have signed a token. */
export interface Keys {
  /** Resolves when keys are known, or cannot be had; never rejects. */
  ready(): Promise<void>;
  /** Those of that name first; after the known ones those that are fetched anew. */
  candidates(kid: unknown): AsyncIterable<PlatformKey>;
  /** Which key holds at the moment, in words. */
  holds(): string;
}

const freshMs = 3_600_000;
const cooldownMs = 30_000;
const retryMs = { held: 300_000, none: 5_000 };

/**
 * A key set is fetched at the start, every hour, and when no known key has signed a token, at most every 30 s. Where
 * fetching fails, the last keys stay in use; before there are any, the fallback.
 */
export function createKeys({ configured, jwksUrl, fallback }: KeySources, log: Log): Keys {
  const own = configured ?? fallback?.key;
  let keys: readonly PlatformKey[] = own ? [{ key: own }] : [];
  const source = fallback ? `the built-in key (${fallback.source})` : 'none yet';
  let holds = configured ? 'PLATFORM_PUBLIC_KEY' : source;
  const url = configured ? null : jwksUrl;
  let triedAt = url ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  let dueAt = triedAt;
  let first: Promise<void> | undefined;
  let fetching: Promise<void> | undefined;
  let reported = '';

  const fetchKeys = async () => {
    triedAt = Date.now();
    let reason: string | undefined;
    try {
      keys = await download(url as URL);
      holds = `${keys.length} from ${url}`;
    } catch (error) {
      reason = `${url} ${reasonOf(error)}`;
    }
    const isKnown = keys.length > 0;
    dueAt = Date.now() + (reason === undefined ? freshMs : isKnown ? retryMs.held : retryMs.none);
    fetching = undefined;
    const state = `${holds} ${reason}`;
    if (state === reported) return;
    reported = state;
    if (isKnown) log('keys', { holds, reason });
    else log('warning', { holds, reason: `Every paid call is refused, for want of a key: ${reason}` });
  };
  const refresh = () => {
    fetching ??= fetchKeys();
    first ??= fetching;
    return fetching;
  };
  const ready = async () => {
    if (Date.now() >= dueAt) void refresh();
    await (keys.length > 0 ? first : fetching);
  };
  return {
    ready,
    async *candidates(kid) {
      await ready();
      const known = keys;
      yield* namedFirst(known, kid);
      if (fetching || Date.now() >= triedAt + cooldownMs) await refresh();
      if (keys !== known) yield* namedFirst(keys, kid);
    },
    holds: () => holds,
  };
}

function namedFirst(keys: readonly PlatformKey[], kid: unknown): readonly PlatformKey[] {
  const isNamed = (key: PlatformKey) => kid !== undefined && key.kid === kid;
  return [...keys.filter(isNamed), ...keys.filter((key) => !isNamed(key))];
}

const bounds = { bytes: 65_536, keys: 20, redirects: 3, ms: 5_000 };

/** @throws Error whose message continues a sentence that begins with the URL */
async function download(address: URL): Promise<readonly PlatformKey[]> {
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
  const signal = AbortSignal.timeout(bounds.ms);
  let url = address;
  for (let hops = 0; hops <= bounds.redirects; hops++) {
    const response = await fetch(url, { signal, redirect: 'manual', headers });
    if (response.status === 200) return keysIn(await textOf(response));
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) {
      throw new Error(`answers with status ${response.status}`);
    }
    url = new URL(location, url);
    if (!isSameSite(address, url)) throw new Error(`redirects to another site, ${url.origin}`);
  }
  throw new Error('redirects too often');
}

/** Whether a redirect stays with its host or goes to one below it or to its `www`. */
function isSameSite(from: URL, to: URL): boolean {
  const site = from.hostname.replace(/^www\./, '');
  const within = to.hostname === site || to.hostname.endsWith(`.${site}`);
  return within && to.protocol === from.protocol && to.port === from.port;
}

async function textOf(response: Response): Promise<string> {
  let text = Buffer.alloc(0);
  for await (const chunk of response.body ?? []) {
    text = Buffer.concat([text, chunk]);
    if (text.length > bounds.bytes) throw new Error(`answers with more than ${bounds.bytes} bytes`);
  }
  return text.toString();
}

function keysIn(text: string): readonly PlatformKey[] {
  const list: unknown = Object(JSON.parse(text)).keys;
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
  if (name === 'SyntaxError') return 'answers with something that is not JSON';
  if (name === 'TimeoutError') return `does not answer within ${bounds.ms} ms`;
  return cause?.code ? `cannot be reached (${cause.code})` : message;
}
