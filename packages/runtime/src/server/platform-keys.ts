// Fetches the platform's keys (JWKS) and keeps them current.

import { createPublicKey, type JsonWebKey, type KeyObject, X509Certificate } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isolatesRequests } from './limits.ts';
import { type Log, provideGauge } from './log.ts';

/** Sources of the keys that verify tokens. */
export interface KeySources {
  /** The key in use until a key set is fetched, and its name in the log. */
  readonly initial: { readonly key: JsonWebKey; readonly name: string } | null;
  /** URL of the platform's key set (JWKS); null if the initial key is the only one. */
  readonly jwksUrl: URL | null;
}

export type Keys = ReturnType<typeof createKeys>;

const refetchMs = { routine: 600_000, unknownKey: 30_000, noKey: 10_000 };

/**
 * Fetches the key set at the start, every ten minutes, and when no known key verifies a token (at most every 30 s). If a
 * fetch fails, the last keys stay in use.
 */
export function createKeys({ initial, jwksUrl }: KeySources, log: Log) {
  let keys: readonly JsonWebKey[] = initial ? [initial.key] : [];
  let keysDescription = initial?.name ?? 'none: calls are refused until a key set is fetched';
  let fetchFailure: string | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let firstFetch: Promise<void> | undefined;
  let latestFetch: Promise<void> | undefined;
  let hasFetchEnded = false;
  const hasIsolatedRequests = isolatesRequests();
  provideGauge('keys', () => ({ value: keys.length }));

  const fetchKeys = async (url: URL) => {
    const previousState = `${keysDescription} ${fetchFailure}`;
    try {
      keys = await download(url);
      keysDescription = `${keys.length} from ${url}`;
      fetchFailure = undefined;
    } catch (error) {
      const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } };
      fetchFailure = `${url}: ${message} ${cause?.code ?? ''}`.trimEnd();
    }
    hasFetchEnded = true;
    if (`${keysDescription} ${fetchFailure}` === previousState) return;
    log(keys.length > 0 ? 'keys' : 'warning', { inUse: keysDescription, reason: fetchFailure });
  };
  /**
   * Fetches keys if the last fetch began at least `ms` ago. Returns the promise of the latest fetch; where requests are isolated, only of a
   * fetch that this call began. Never rejects.
   */
  const refetch = (ms: number) => {
    const isDue = Date.now() >= triedAt + ms || (hasIsolatedRequests && !hasFetchEnded);
    if (jwksUrl && isDue) {
      triedAt = Date.now();
      latestFetch = fetchKeys(jwksUrl);
      firstFetch ??= latestFetch;
    }
    if (hasIsolatedRequests && !isDue) return undefined;
    return latestFetch;
  };
  /**
   * Starts the routine fetch if it is due, and waits only for the first fetch. Where requests are isolated, waits for the fetch that this
   * call began. Never rejects.
   */
  const waitForFirstFetch = async () => {
    const routineFetch = refetch(refetchMs.routine);
    await (hasIsolatedRequests ? routineFetch : firstFetch);
  };
  let isTrying = false;
  const tryUntilFound = async () => {
    if (isTrying) return;
    isTrying = true;
    while (keys.length === 0) {
      // At a random time, so that not all replicas fetch at once.
      await pause(refetchMs.noKey * (0.8 + 0.4 * Math.random()), undefined, { ref: false });
      if (keys.length === 0) await refetch(0);
    }
    isTrying = false;
  };
  return {
    async prepare() {
      await waitForFirstFetch();
      if (!hasIsolatedRequests) void tryUntilFound();
      else if (keys.length === 0) await refetch(refetchMs.noKey);
    },
    hasKey: () => keys.length > 0,
    /** The known keys, then the newly fetched ones. */
    async *candidateKeys(): AsyncIterable<JsonWebKey> {
      await waitForFirstFetch();
      const knownKeys = keys;
      yield* knownKeys;
      await refetch(knownKeys.length > 0 ? refetchMs.unknownKey : refetchMs.noKey);
      if (keys !== knownKeys) yield* keys;
    },
    describeKeys: () => keysDescription,
  };
}

const downloadLimits = { ms: 5_000, redirects: 3, characters: 65_536, keys: 20 };

/** Follows redirects to the same host, its `www` host and subdomains. */
async function download(address: URL): Promise<readonly JsonWebKey[]> {
  const signal = AbortSignal.timeout(downloadLimits.ms);
  const headers = { accept: 'application/json' };
  let url = address;
  for (let hops = 0; hops <= downloadLimits.redirects; hops++) {
    const response = await fetch(url, { signal, redirect: 'manual', headers });
    if (response.status === 200) return readKeySet(response);
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

async function readKeySet({ body }: Response): Promise<readonly JsonWebKey[]> {
  let text = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.length > downloadLimits.characters)
      throw new Error(`more than ${downloadLimits.characters} characters`);
  }
  const list: unknown = Object(JSON.parse(text)).keys;
  const keys = Array.isArray(list) ? list.slice(0, downloadLimits.keys).flatMap(readKey) : [];
  if (keys.length === 0) throw new Error('no usable key');
  return keys;
}

/** Reads a key from its parameters or its certificate (`x5c`); empty if it is unreadable or not for signatures. */
function readKey(jwk: unknown): readonly JsonWebKey[] {
  const { use = 'sig', n, x, x5c } = Object(jwk);
  if (use !== 'sig') return [];
  try {
    if (n !== undefined || x !== undefined)
      return [exportJwk(createPublicKey({ key: Object(jwk), format: 'jwk' }))];
    return [exportJwk(new X509Certificate(Buffer.from(String(x5c[0]), 'base64')).publicKey)];
  } catch {
    return [];
  }
}

/** Exports a public key as JWK, the form that every host supports. */
export function exportJwk(key: KeyObject): JsonWebKey {
  return key.export({ format: 'jwk' });
}
