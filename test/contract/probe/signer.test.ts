import { createPublicKey } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { context, generic } from '../../../packages/contract/src/platforms/all.ts';
import { createSigner, type Forgery } from '../../../packages/contract/src/wire/signer.ts';

const audience = 'https://tools.example.com/mcp';
const signer = await createSigner(context.token, audience);
const verify = (token: string) =>
  jwtVerify(token, createPublicKey(signer.publicKey), {
    algorithms: ['RS256'],
    issuer: 'https://ctxprotocol.com',
    audience,
    requiredClaims: ['exp'],
  });

describe('createSigner', () => {
  it('signs tokens as the platform does', async () => {
    const { payload } = await verify(await signer.token({ claims: { toolId: 'smoke-test' } }));
    expect(payload).toMatchObject({ toolId: 'smoke-test' });
    expect(Number(payload.exp) - Number(payload.iat)).toBe(context.token.lifetimeSeconds);
  });

  it('uses a local issuer if the profile has none', async () => {
    expect(decodeJwt(await (await createSigner(generic.token, audience)).token()).iss).toBe(
      'https://platform.invalid',
    );
  });

  it.each<Forgery>([
    { by: 'untrusted' },
    { by: 'embedded' },
    { by: 'nobody' },
    { by: 'public-key' },
    { by: 'other-algorithm' },
    { claims: { exp: undefined } },
    { claims: { iss: undefined } },
    { claims: { aud: 'https://other.example/mcp' } },
  ])('forges %j', async (forgery) => {
    await expect(verify(await signer.token(forgery))).rejects.toThrow();
  });

  it('signs with the trusted key and an algorithm that the platform does not use', async () => {
    const token = await signer.token({ by: 'other-algorithm' });
    expect(decodeProtectedHeader(token).alg).toBe('RS512');
    await expect(jwtVerify(token, createPublicKey(signer.publicKey))).resolves.toBeDefined();
  });
});
