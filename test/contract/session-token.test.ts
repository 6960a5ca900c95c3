import { expect, it } from 'vitest';
import { createTokenSigner } from '../../packages/contract/src/check/token-signer.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import type { Signer } from '../../packages/contract/src/wire/signer.ts';
import { examples } from '../broken/check.ts';
import { serving, signer } from '../broken/trust.ts';
import { instead, methodOf } from '../broken/variant.ts';

/** The tokens of calls in a session and of those without one, and the verdict on session.missing-call. */
async function tokensOf(by: Signer) {
  const inSession = new Set<string | undefined>();
  const outside: (string | undefined)[] = [];
  const variant = instead((request) => {
    const { authorization, 'mcp-session-id': session } = request.headers;
    if (methodOf(request) !== 'tools/call' || authorization === undefined) return undefined;
    if (session === undefined) outside.push(authorization);
    else inSession.add(authorization);
    return undefined;
  });
  const { rules } = await serving(variant, (url) =>
    runContract(
      { url, profile: context, signer: by, examples },
      { selects: ({ id }) => ['gate.valid-token', 'session.missing-call'].includes(id) },
    ),
  );
  return { inSession, outside, verdict: rules.find(({ id }) => id === 'session.missing-call') };
}

it('session.missing-call sends a token that no other call has sent', async () => {
  const { inSession, outside, verdict } = await tokensOf(signer);
  expect(verdict?.status).toBe('pass');
  expect(outside).toHaveLength(1);
  expect(inSession.size).toBeGreaterThan(0);
  expect(inSession.has(outside[0])).toBe(false);
});

it('session.missing-call is not run if only one token is given', async () => {
  const { outside, verdict } = await tokensOf(await createTokenSigner(await signer.token(), context.token));
  expect(verdict).toMatchObject({ status: 'not-run', cause: 'missing' });
  expect(outside).toEqual([]);
});
