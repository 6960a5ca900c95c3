import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Json, JsonObject } from '../json/value.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { NotRun } from '../wire/not-run.ts';
import { createSigner, type Signer } from '../wire/signer.ts';

/** Claims that decide whether a token is valid. A given token cannot be reissued with other values. */
const deciding = new Set(['iss', 'aud', 'exp', 'nbf', 'iat']);

/**
 * A signer without a key: it uses one token that the platform signed for every valid request. Its forgeries are signed
 * with another key or not at all, and contain the claims of the token. Those with a signature also have its header, so that a
 * server can refuse them only for the signature.
 *
 * @throws Error if the token is not a JWT.
 */
export async function createTokenSigner(token: string, platform: PlatformProfile['token']): Promise<Signer> {
  const payload = decodeJwt(token) as Record<string, Json>;
  const { alg: tokenAlgorithm, ...tokenHeader } = decodeProtectedHeader(token);
  const { iss = '', aud = '' } = payload;
  // Forgeries use the first one.
  const algorithms = [tokenAlgorithm ?? '', ...platform.algorithms].filter((algorithm) =>
    platform.algorithms.includes(algorithm),
  );
  const untrusted = await createSigner({ ...platform, algorithms }, String(aud), { issuer: String(iss) });
  return {
    issuer: untrusted.issuer,
    audience: untrusted.audience,
    publicKey: untrusted.publicKey,
    async token({ claims = {}, header, by = 'platform' } = {}) {
      if (by === 'untrusted' || by === 'embedded' || by === 'nobody') {
        return untrusted.token({ by, header: tokenHeader as JsonObject, claims: { ...payload, ...claims } });
      }
      const isReissued = header !== undefined || Object.keys(claims).some((name) => deciding.has(name));
      if (by !== 'platform' || isReissued) throw NotRun.without('forgery');
      return token;
    },
  };
}
