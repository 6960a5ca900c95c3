import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { createTokenSigner } from '../../packages/contract/src/check/token-signer.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { NotRun } from '../../packages/contract/src/wire/not-run.ts';
import type { TokenVariant } from '../../packages/contract/src/wire/signer.ts';
import { token } from '../runtime/support.ts';

describe('a signer with one token of the platform', () => {
  it.each<TokenVariant>([
    { header: { typ: 'at+jwt' } },
    { claims: { exp: undefined } },
    { claims: { aud: 'https://other.example/mcp' } },
    { by: 'public-key' },
    { by: 'other-algorithm', algorithm: 'RS512' },
  ])('does not make the forgery %j', async (forgery) => {
    const signer = await createTokenSigner(await token(), generic.token);
    await expect(signer.token(forgery)).rejects.toThrow(NotRun);
  });

  it.each(['untrusted', 'embedded'] as const)(
    'gives the forgery %s the header and the claims of the token',
    async (by) => {
      const original = await token({ sub: 'caller' }, { kid: 'key-1', typ: 'at+jwt' });
      const forged = await (await createTokenSigner(original, generic.token)).token({ by });
      expect(decodeProtectedHeader(forged)).toMatchObject(decodeProtectedHeader(original));
      expect(decodeJwt(forged)).toEqual(decodeJwt(original));
      expect(forged.split('.')[2]).not.toBe(original.split('.')[2]);
    },
  );

  it('signs forgeries with the algorithm of the token if the platform has several', async () => {
    const platform = { ...generic.token, algorithms: ['ES256', 'RS256'] };
    const forged = await (await createTokenSigner(await token(), platform)).token({ by: 'untrusted' });
    expect(decodeProtectedHeader(forged).alg).toBe('RS256');
  });
});
