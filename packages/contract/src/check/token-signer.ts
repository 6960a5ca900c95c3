import { decodeJwt } from 'jose';
import type { Json } from '../json/value.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { NotRun } from '../wire/not-run.ts';
import { createSigner, type Signer } from '../wire/signer.ts';

/** Claims that decide whether a token is valid. A given token cannot be reissued with other values. */
const deciding = new Set(['iss', 'aud', 'exp', 'nbf', 'iat']);

/**
 * A signer without a key: it uses one token that the platform signed for every valid request. Its
 * forgeries are signed with another key or not at all, and contain the claims of the token.
 *
 * @throws Error if the token is not a JWT.
 */
export async function createTokenSigner(token: string, platform: PlatformProfile['token']): Promise<Signer> {
  const payload = decodeJwt(token) as Record<string, Json>;
  const { iss = '', aud = '' } = payload;
  const untrusted = await createSigner(platform, String(aud), { issuer: String(iss) });
  return {
    issuer: untrusted.issuer,
    audience: untrusted.audience,
    publicKey: untrusted.publicKey,
    async token({ claims = {}, by = 'platform' } = {}) {
      if (by === 'untrusted' || by === 'embedded' || by === 'nobody') {
        return untrusted.token({ by, claims: { ...payload, ...claims } });
      }
      if (by !== 'platform' || Object.keys(claims).some((name) => deciding.has(name))) {
        throw NotRun.without('claims');
      }
      return token;
    },
  };
}
