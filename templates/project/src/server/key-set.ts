import { X509Certificate } from 'node:crypto';
import type { JWK } from 'jose';
import { createRemoteJWKSet, customFetch, type RemoteJWKSet } from 'jose/jwks/remote';

const freshMs = 3_600_000;
const cooldownMs = 30_000;
const retryMs = 5_000;

/**
 * The keys a platform publishes, fetched when first needed and again after an hour, or when a token names an unknown
 * key, at most every 30 s. Where fetching fails, the last keys stay in use, and the platform is left alone for 5 s.
 */
export function createKeySet(url: URL): RemoteJWKSet {
  let last: string | undefined;
  let retryAt = 0;
  return createRemoteJWKSet(url, {
    cacheMaxAge: freshMs,
    cooldownDuration: cooldownMs,
    [customFetch]: async (address, options) => {
      if (Date.now() >= retryAt) {
        try {
          last = JSON.stringify(await download(address, options));
        } catch (error) {
          retryAt = Date.now() + retryMs;
          if (last === undefined) throw error;
        }
      }
      if (last === undefined) throw new Error('the key set could not be fetched a moment ago');
      return new Response(last);
    },
  });
}

async function download(address: string, options: RequestInit): Promise<{ keys: JWK[] }> {
  const response = await fetch(address, options);
  if (response.status !== 200) throw new Error(`the key set answers with status ${response.status}`);
  const { keys } = Object(await response.json());
  if (!Array.isArray(keys)) throw new Error('the key set has no list of keys');
  return { keys: keys.flatMap(withParameters) };
}

/** A key that is given by its certificate alone (`x5c`) gets its parameters from there; an unreadable one is left out. */
function withParameters(key: JWK): JWK[] {
  const [certificate] = key.x5c ?? [];
  if (certificate === undefined || key.n !== undefined || key.x !== undefined) return [key];
  try {
    const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64'));
    return [{ ...(publicKey.export({ format: 'jwk' }) as JWK), ...key }];
  } catch {
    return [];
  }
}
