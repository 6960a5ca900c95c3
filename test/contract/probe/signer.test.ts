import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { context, generic } from '../../../packages/contract/src/platforms/all.ts';
import { knownKey } from '../../../packages/contract/src/wire/known-key.ts';
import { createSigner } from '../../../packages/contract/src/wire/signer.ts';

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

  it('signs with the trusted key and an algorithm that the platform does not use', async () => {
    const token = await signer.token({ by: 'other-algorithm' });
    expect(decodeProtectedHeader(token).alg).toBe('RS512');
    await expect(jwtVerify(token, createPublicKey(signer.publicKey))).resolves.toBeDefined();
  });

  it('forges with the key of RFC 7515, A.2, which gives the signature there, unless the platform has that key', async () => {
    const key = createPrivateKey({ key: knownKey, format: 'jwk' });
    const input =
      'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ';
    const signature = sign('sha256', Buffer.from(input), key).toString('base64url');
    expect(signature).toMatch(/^cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7/);
    await expect(
      jwtVerify(await signer.token({ by: 'untrusted' }), createPublicKey(key)),
    ).resolves.toBeDefined();
    const itsOwn = await createSigner(context.token, audience, { privateKey: key });
    await expect(jwtVerify(await itsOwn.token({ by: 'untrusted' }), createPublicKey(key))).rejects.toThrow();
  });
});
