import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';

/** The marketplace's key, and tokens signed with it. */
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export const issuer = 'https://platform.example';
export const audience = 'https://server.example/mcp';
export const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();

/**
 * Different tokens of equal length, valid for an hour.
 *
 * @param {number} count
 */
export async function signTokens(count) {
  const tokens = [];
  for (let serial = 0; serial < count; serial += 1) {
    const token = await new SignJWT({ toolId: 'bench', jti: String(serial).padStart(8, '0') })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('1 hour')
      .sign(privateKey);
    tokens.push(token);
  }
  return tokens;
}
