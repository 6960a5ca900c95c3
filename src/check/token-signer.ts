import { decodeJwt } from 'jose';
import type { Json } from '../contract/model.ts';
import { NotRun } from '../contract/not-run.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { createSigner, type Signer } from '../contract/signer.ts';

/** Claims that decide whether a token is valid; a token that was given cannot be had with others. */
const deciding = new Set(['iss', 'aud', 'exp', 'nbf', 'iat']);

/**
 * A signer that has no key but one token, which the platform has signed: it stands in for every valid token, and
 * forgeries that need another key or none carry its claims.
 *
 * @throws Error where the token is not a JWT.
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
        throw new NotRun('one token was given, not the key that could sign such a one (--signing-key)');
      }
      return token;
    },
  };
}
