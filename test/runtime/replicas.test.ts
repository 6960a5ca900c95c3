import { createPublicKey } from 'node:crypto';
import { expect, it } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { createReplicas } from '../../packages/runtime/src/replicas.ts';
import { createAuthentication } from '../../packages/runtime/src/server/auth.ts';
import { readingsOf } from '../../packages/runtime/src/server/log.ts';
import type { SharedState } from '../../packages/runtime/src/store.ts';
import { audience, issuer, platformKey, start, token } from './support.ts';

const silent = () => new Promise<never>(() => {});
const silentState: SharedState = {
  append: silent,
  read: silent,
  claim: silent,
  take: silent,
  get: silent,
  set: silent,
};

it.each([
  ['of this version', { keep: silent, info: silent }, []],
  ['of 0.3.0', {}, [{ event: 'warning', text: expect.stringContaining('market-mcp upgrade') }]],
])(
  'works alone, and says so, if a store %s accepts commands at the start and never answers',
  async (_, further, warnings) => {
    const lines: unknown[] = [];
    const log = (event: string, facts?: object) => void lines.push({ event, ...facts });
    const options = { namespace: 'test', cacheBytes: 1_000, once: true, tokens: null, log };
    const { replicas, start } = createReplicas({ ...silentState, ...further }, options);
    await start(50);
    expect(lines).toEqual([...warnings, { event: 'state', shared: false, reason: 'no answer in 50 ms' }]);
    expect(await replicas.claim('token', 1_000)).toBeNull();
    expect(readingsOf('shared')).toEqual([{ value: 0 }]);
  },
);

/** The authentication of a replica whose store answers each claim so. */
function authentication(once: 'on' | 'strict', claims: (boolean | null)[]) {
  const rules = {
    ...{
      ...generic.token,
      once,
      issuer,
      audience,
      audienceFrom: 'PLATFORM_AUDIENCE',
      maxLifetimeSeconds: 1_200,
    },
    keys: {
      initial: { key: createPublicKey(platformKey).export({ format: 'jwk' }), name: 'the test' },
      jwksUrl: null,
    },
  };
  const claim = async () => claims.shift() as boolean | null;
  return createAuthentication(rules, () => {}, false, { claim });
}

it('while the store does not answer, "on" accepts a token once, "strict" later, once the store has answered', async () => {
  const authorization = `Bearer ${await token()}`;
  const admitted = async ({ identify }: ReturnType<typeof authentication>) =>
    (await identify({ authorization })).mayCall('id');
  const on = authentication('on', [null]);
  expect([await admitted(on), await admitted(on)]).toEqual([true, false]);
  const strict = authentication('strict', [null, null, true]);
  const all = [
    await admitted(strict),
    await admitted(strict),
    await admitted(strict),
    await admitted(strict),
  ];
  expect(all).toEqual(['later', 'later', true, false]);
  const used = authentication('strict', [null, false]);
  expect([await admitted(used), await admitted(used)]).toEqual(['later', false]);
});

it('a server with "strict" refuses to start without a store', async () => {
  await expect(start({ env: { TOKEN_ONCE: 'strict', STATE_URL: 'redis://localhost' } })).rejects.toThrow(
    /^TOKEN_ONCE: "strict" needs a store/,
  );
});
