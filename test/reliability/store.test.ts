import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReplicas } from '../../packages/runtime/src/replicas.ts';
import type { TokenRules } from '../../packages/runtime/src/server/verify-token.ts';
import type { SharedState } from '../../packages/runtime/src/store.ts';
import { redisState } from '../../templates/project/src/redis.ts';
import { hasRedis, startRedis } from './redis.ts';

// What replicas do with a store that is late, full, gone or new, in this process, with the store of a project.

interface Line {
  readonly event: string;
  readonly text?: string;
  readonly shared?: boolean;
  readonly reason?: string;
}

interface Settings {
  readonly cacheBytes?: number;
  readonly tokens?: string;
  readonly namespace?: string;
  readonly once?: TokenRules['once'];
}

/** A replica that has asked its store. */
async function replica(state: SharedState, settings: Settings = {}) {
  const { cacheBytes = 1_000_000, tokens, namespace = 'test', once = 'on' } = settings;
  const lines: Line[] = [];
  const { replicas, start } = createReplicas(state, {
    ...{ namespace, cacheBytes, once },
    tokens: tokens === undefined ? null : redisState(tokens),
    log: (event, facts) => void lines.push({ event, ...facts }),
  });
  const ended: string[] = [];
  replicas.follow((id) => void ended.push(id));
  await start(5_000);
  return {
    ...replicas,
    /** Whether this replica is the first that claims the key; null if the store does not answer. */
    claim: async (key: string, ms: number) => (await replicas.markUsed(key, ms))?.isFirst ?? null,
    lines,
    /** The sessions that it knows to have ended. */
    ended,
    states: () => lines.flatMap(({ event, shared }) => (event === 'state' ? [shared] : [])),
    warnings: () => lines.flatMap(({ text = [] }) => text),
  };
}

// The 100 ms that an answer has pass where a test says so, and while it waits for something (vi.waitUntil): no other answer is late.
let now = 0;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return () => vi.restoreAllMocks();
});
afterEach(() => void vi.useRealTimers());

/** Lets the time for an answer end. `busyMs` before, this process did something else. */
async function pass(busyMs = 0): Promise<void> {
  now += 100 + busyMs;
  vi.advanceTimersByTime(100);
  // Those in which the store looks for what has arrived, and asks again.
  for (let turn = 0; turn < 10; turn++) await nextTurn();
}

const until = (is: () => unknown) => vi.waitUntil(is, { timeout: 120_000 });

describe.skipIf(!hasRedis)('the store of replicas (skipped without redis-server)', () => {
  it.each(['on', 'strict'] as const)(
    'is not lost when it is late once, and each token is claimed once, with TOKEN_ONCE=%s',
    async (once) => {
      const redis = await startRedis();
      const all = await Promise.all([1, 2, 3].map(() => replica(redisState(redis.url), { once })));
      for (let count = 0; count < 5; count++) {
        const token = randomUUID();
        redis.signal('SIGSTOP');
        const claims = all.map(({ claim }) => claim(token, 60_000));
        await pass();
        redis.signal('SIGCONT');
        const claimed = await Promise.all(claims);
        expect(claimed.toSorted()).toEqual([false, false, true]);
      }
      expect(all.flatMap(({ states }) => states())).toEqual([]);
    },
  );

  it('is not lost while this process computes, whose answers are there when it is done', async () => {
    const redis = await startRedis();
    const [first, second] = await Promise.all([1, 2].map(() => replica(redisState(redis.url))));
    for (let count = 0; count < 10; count++) {
      const token = randomUUID();
      const claims = [first, second].map((one) => one?.claim(token, 60_000));
      await new Promise<void>((resolve) => process.nextTick(resolve)); // they are sent
      // Redis has answered them when it answers this, and this process has read nothing meanwhile.
      execFileSync('redis-cli', ['-p', String(redis.port), 'ping']);
      await pass();
      expect((await Promise.all(claims)).toSorted()).toEqual([false, true]);
    }
    expect([first?.states(), second?.states()]).toEqual([[], []]);
  });

  it('is lost after two late answers, and the log says whether this process was busy', async () => {
    const redis = await startRedis();
    const [idle, busy] = await Promise.all([1, 2].map(() => replica(redisState(redis.url))));
    redis.signal('SIGSTOP');
    const claims = [idle?.claim('one', 60_000)];
    await pass();
    await pass();
    expect(idle?.lines.at(-1)?.reason).toBe('no answer in 200 ms');
    claims.push(busy?.claim('two', 60_000));
    await pass(140);
    await pass();
    expect(busy?.lines.at(-1)?.reason).toBe('no answer in 200 ms; this replica was busy for 140 ms');
    expect(await Promise.all(claims)).toEqual([null, null]);
    redis.signal('SIGCONT');
    await until(() => idle?.states().at(-1) && busy?.states().at(-1));
    expect(await idle?.claim('one', 60_000)).toBe(true); // its first claim has arrived late
  });

  it('holds cached answers up to a limit, those that end last, and claims beside them', async () => {
    const redis = await startRedis(['--maxmemory', '8mb', '--maxmemory-policy', 'noeviction']);
    const cacheBytes = 2_000_000;
    const { set, get, claim, states } = await replica(redisState(redis.url), { cacheBytes });
    const client = redis.client();
    const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
    const before = await used();
    for (let index = 0; index < 3_000; index++) {
      const text = 'x'.repeat(index % 10 === 0 ? 90_000 : 10);
      await set(`answer ${index}`, text, 3_600_000 + index * 1_000);
      if (index % 100 === 0) expect(await claim(`token ${index}`, 600_000)).toBe(true);
    }
    expect((await used()) - before).toBeLessThan(cacheBytes * 1.5);
    expect(await get('answer 2999')).toBe('x'.repeat(10));
    expect(await get('answer 0')).toBeNull();
    for (let index = 0; index < 3_000; index += 100)
      expect(await claim(`token ${index}`, 600_000)).toBe(true);
    const other = await replica(redisState(redis.url), { cacheBytes });
    for (let index = 0; index < 3_000; index += 100) {
      expect(await other.claim(`token ${index}`, 600_000)).toBe(false);
    }
    expect(states()).toEqual([]);
  });

  it('gives the bytes of answers back that are written again, or have ended', async () => {
    const redis = await startRedis();
    const { set, get } = await replica(redisState(redis.url), { cacheBytes: 10_000 });
    for (let count = 0; count < 50; count++) await set('same', 'x'.repeat(4_000), 60_000);
    await set('short', 'y'.repeat(4_000), 60_000);
    expect([await get('same'), await get('short')].map((text) => text?.length)).toEqual([4_000, 4_000]);
    await set('larger than all', 'z'.repeat(10_000), 60_000);
    expect(await get('larger than all')).toBeNull();
    expect(await get('same')).not.toBeNull();
    await set('same', '', 1);
    while ((await get('same')) !== null);
    await set('third', 'x'.repeat(4_000), 60_000);
    expect((await get('short'))?.length).toBe(4_000);
  });

  it('says at the start what the store removes when it is full, or that it is not known', async () => {
    const evicting = await startRedis(['--maxmemory', '8mb', '--maxmemory-policy', 'allkeys-lru']);
    const volatile = await startRedis(['--maxmemory', '8mb', '--maxmemory-policy', 'volatile-ttl']);
    const keeping = await startRedis();
    const warnings = async (url: string, settings?: Settings) =>
      (await replica(redisState(url), settings)).warnings();
    expect(await warnings(keeping.url)).toEqual([]);
    expect(await warnings(evicting.url)).toEqual([
      expect.stringMatching(
        /^STATE_URL: .*\(maxmemory-policy allkeys-lru\): used tokens.* and ended sessions.*TOKEN_STATE_URL/,
      ),
    ]);
    expect(await warnings(volatile.url)).toEqual([expect.stringContaining('volatile-ttl): used tokens')]);
    expect(await warnings(volatile.url, { once: 'off' })).toEqual([]);
    expect(await warnings(volatile.url, { tokens: keeping.url })).toEqual([]);
    expect(await warnings(keeping.url, { tokens: volatile.url })).toEqual([
      expect.stringMatching(/^TOKEN_STATE_URL: .*volatile-ttl/),
    ]);
    await keeping.client().call('ACL', 'SETUSER', 'limited', 'on', '>passw0rd', '~*', '+@all', '-info');
    const limited = keeping.url.replace('default', 'limited');
    expect(await warnings(limited)).toEqual([expect.stringContaining('cannot be known')]);
    const { keep, info, ...earlier } = redisState(keeping.url);
    expect([await warnings(keeping.url), await (await replica(earlier)).warnings()]).toEqual([
      [],
      [expect.stringContaining('market-mcp upgrade')],
    ]);
  });

  it('may be another one for tokens, which survive what the first one loses', async () => {
    const shared = await startRedis();
    const own = await startRedis();
    const [first, second] = await Promise.all(
      [1, 2].map(() => replica(redisState(shared.url), { tokens: own.url })),
    );
    expect(await first?.claim('token', 60_000)).toBe(true);
    await first?.set('answer', 'text', 60_000);
    await shared.client().flushall();
    expect(await second?.claim('token', 60_000)).toBe(false);
    await own.kill();
    expect(await second?.claim('other', 60_000)).toBeNull();
    await first?.set('answer', 'text', 60_000);
    expect(await second?.get('answer')).toBe('text');
    await own.start();
    await until(() => second?.states().at(-1) === true);
    expect(await second?.claim('token', 60_000)).toBe(false);
  });

  it('cannot be a Redis Cluster', async () => {
    const redis = await startRedis(['--cluster-enabled', 'yes']);
    await expect(replica(redisState(redis.url))).rejects.toThrow(
      /^STATE_URL: .*Redis Cluster.*not supported/,
    );
  });

  it('tells 50 replicas after an outage what they do not know, nothing else', async () => {
    const redis = await startRedis();
    const client = redis.client();
    const list = 'market-mcp:test:ended-sessions';
    await fill(client, list, 5_000);
    const all = await Promise.all(
      Array.from({ length: 50 }, () => replica(redisState(redis.url), { cacheBytes: 0, once: 'off' })),
    );
    for (const { ended } of all) expect(ended).toHaveLength(5_000);
    await redis.kill();
    await all[0]?.endSession('ended meanwhile');
    await redis.start();
    await until(() => all.every(({ ended }) => ended.at(-1) === 'ended meanwhile'));
    for (const { ended } of all) expect(ended).toHaveLength(5_001);
    const after = redis.client();
    const sent = Number(/total_net_output_bytes:(\d+)/.exec(await after.info('stats'))?.[1]);
    expect(sent).toBeLessThan(5_000_000);
  });

  it('is followed from its beginning if it has lost what was read', async () => {
    const redis = await startRedis(['--appendonly', 'no']);
    const list = 'market-mcp:test:ended-sessions';
    await fill(redis.client(), list, 3);
    const { ended, lines } = await replica(redisState(redis.url), { cacheBytes: 0, once: 'off' });
    expect(ended).toEqual(['0', '1', '2']);
    await redis.kill();
    await redis.start();
    // With positions before those that were read, as on a server whose clock is behind.
    await redis.client().xadd(list, '1-1', 'text', 'early');
    await until(() => ended.at(-1) === 'early');
    await until(() => lines.at(-1)?.shared);
  });
});

/** Adds numbered entries to a list. */
async function fill(client: Redis, list: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const texts = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => String(from + index));
    await Promise.all(texts.map((text) => client.xadd(list, '*', 'text', text)));
  }
}
