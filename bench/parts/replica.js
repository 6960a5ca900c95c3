import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { call, identitiesFor } from '../lib/contestants.js';
import { load } from '../lib/load.js';
import { buildProject, specOf } from '../lib/product.js';
import { hasRedis, startRedis } from '../lib/redis.js';
import { atMost, figure, withSpread } from '../lib/section.js';
import { startServer } from '../lib/server.js';
import { interleaved, pairedRatio, spreadOf } from '../lib/statistics.js';
import { audience, issuer, publicKeyPem, signTokens } from '../lib/tokens.js';

/** @import { Extent, LoadResult } from '../lib/load.js' */
/** @import { Part } from '../lib/section.js' */

/**
 * What callers send.
 *
 * @typedef {object} Calls
 * @property {Readonly<Record<string, string>>} env
 * @property {readonly string[]} tokens
 * @property {Extent} warmUp
 * @property {Extent} extent
 */

/** `npm run docs scaling` copies its table into docs/deploy.md. @type {Part} */
export const replica = {
  name: 'replica',
  async run({ quick }) {
    const project = buildProject(['--spec', specOf(3), '--deploy', 'redis']);
    const [warm, amount] = quick ? [50, 100] : [1_000, 5_000];
    const tokens = await signTokens(warm + amount);
    /** @type {Calls} */
    const oneToken = {
      env: {},
      tokens: tokens.slice(0, 1),
      warmUp: { duration: quick ? 1 : 3 },
      extent: { duration: quick ? 1 : 3 },
    };
    /** @type {Calls} */
    const once = { env: { TOKEN_ONCE: 'on' }, tokens, warmUp: { amount: warm }, extent: { amount } };
    const [alone, shared] = ['one token', 'one token, with `STATE_URL`'];
    const settings = new Map([
      [alone, () => measured(project, oneToken, false)],
      ['a token for each call, `TOKEN_ONCE=on`', () => measured(project, once, false)],
    ]);
    if (hasRedis) {
      settings.set(shared, () => measured(project, oneToken, true));
      settings.set('a token for each call, `TOKEN_ONCE=on`, with `STATE_URL`', () =>
        measured(project, once, true),
      );
    }
    const runs = await interleaved(quick ? 1 : 5, settings);
    const cpuOf = (/** @type {string} */ name) =>
      (runs.get(name) ?? []).map(({ serverCpuUs }) => serverCpuUs);
    const memory = [...runs.values()].flat().map(({ rssMb }) => rssMb.after);
    return {
      title: 'One replica',
      text: 'A generated server whose tool asks nobody, 16 connections, pinned to one core; the load and Redis run on the others. With `STATE_URL`, replicas share ended sessions, which costs calls nothing, and used tokens, which each call waits for.',
      tables: [
        {
          head: ['tools/call', 'calls/s', 'CPU µs', 'calls/s and core', 'p50 ms', 'p99 ms', 'MB'],
          rows: [...runs].map(([name, results]) => {
            const of = (/** @type {(result: LoadResult) => number} */ read) => results.map(read);
            return [
              name,
              withSpread(of(({ perSecond }) => perSecond)),
              withSpread(of(({ serverCpuUs }) => serverCpuUs)),
              figure(1e6 / spreadOf(of(({ serverCpuUs }) => serverCpuUs)).median),
              withSpread(of(({ p50 }) => p50)),
              withSpread(of(({ p99 }) => p99)),
              withSpread(of(({ rssMb }) => rssMb.after)),
            ];
          }),
        },
      ],
      reaches: [
        atMost('resident memory of a replica', spreadOf(memory), 150, 'MB'),
        ...(hasRedis
          ? [
              atMost(
                'CPU of a call, one token: with `STATE_URL` against without',
                pairedRatio(cpuOf(shared), cpuOf(alone)),
                1.1,
              ),
            ]
          : []),
      ],
      notes: hasRedis ? [] : ['redis-server is not installed: not measured with `STATE_URL`.'],
    };
  },
};

/** @param {string} project @param {Calls} calls @param {boolean} shares */
async function measured(project, { env, tokens, warmUp, extent }, shares) {
  const redis = shares ? await startRedis() : undefined;
  const server = await startServer(join(project, 'dist/src/main.js'), {
    PLATFORM_PUBLIC_KEY: publicKeyPem,
    PLATFORM_ISSUER: issuer,
    PLATFORM_AUDIENCE: audience,
    MAX_TOKEN_SECONDS: '3600', // the lifetime of the tokens here
    SESSION_SECRET: randomBytes(32).toString('hex'),
    ...env,
    ...(redis && { STATE_URL: redis.url }),
  });
  try {
    const identities = await identitiesFor(server, { sessions: true, token: tokens[0] });
    const { url, pid } = server;
    return await load({ url, pid, method: 'tools/call', params: call, identities, tokens, warmUp, extent });
  } finally {
    await server.stop();
    await redis?.stop();
  }
}
