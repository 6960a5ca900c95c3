import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createReplicas } from '../../packages/runtime/src/replicas.ts';
import { createAuthenticator } from '../../packages/runtime/src/server/auth.ts';
import type { TokenRules } from '../../packages/runtime/src/server/verify-token.ts';
import type { SharedState } from '../../packages/runtime/src/store.ts';
import { redisState } from '../../templates/project/src/redis.ts';
import { admissionOf, config, token } from '../runtime/support.ts';
import { hasRedis, nowSeconds, startRedis, startRelay, writeMarker } from './redis.ts';

// What TOKEN_ONCE=strict does after Redis has lost used tokens, in this process, with the store of a project.

const within = { timeout: 120_000, interval: 20 };
const trials = 20;
/** Nothing listens there. */
const closedPort = 1;
const mayHaveRun = 'may have run before: the store of used tokens may have lost it (TOKEN_ONCE=strict)';

interface Line {
  readonly event: string;
  readonly text?: string;
  readonly shared?: boolean;
  readonly reason?: string;
}

/** A replica of a server, when it has asked its store. */
async function startReplica(state: SharedState, namespace = 'test', once: TokenRules['once'] = 'strict') {
  const lines: Line[] = [];
  const log = (event: string, facts?: object) => void lines.push({ event, ...facts });
  const { replicas, start } = createReplicas(state, { namespace, cacheBytes: 0, once, tokens: null, log });
  const { token: rules } = config({ TOKEN_ONCE: once, STATE_URL: 'redis://localhost' });
  if (rules === null) throw new Error('AUTH is off');
  const { identify } = createAuthenticator(rules, log, false, replicas);
  await start(60_000);
  return {
    claim: replicas.markUsed,
    /** Whether a call with the token runs, once the store answers. */
    async runs(bearer: string): Promise<boolean> {
      for (;;) {
        const admission = await admissionOf(identify({ authorization: `Bearer ${bearer}` }));
        if (admission !== 'unknown') return admission === 'admitted';
        await vi.waitUntil(() => lines.findLast(({ event }) => event === 'state')?.shared, within);
      }
    },
    states: () => lines.flatMap(({ event, shared }) => (event === 'state' ? [shared] : [])),
    refusals: () => lines.flatMap(({ event, reason }) => (event === 'refused' ? [reason] : [])),
    warnings: () => lines.flatMap(({ text }) => text ?? []),
  };
}

/** A store that loses used tokens. */
interface LossyStore {
  readonly url: string;
  /** A client of the server that takes writes. */
  client(): Redis;
  /** Called before a token is used. */
  prepare?(): Promise<unknown>;
  lose(): Promise<unknown>;
}

async function killedRedis(): Promise<LossyStore> {
  const redis = await startRedis(['--appendonly', 'no']);
  const client = redis.client();
  const lose = async () => {
    await redis.kill();
    await redis.start();
  };
  return { url: redis.url, client: () => client, lose };
}

async function flushedRedis(): Promise<LossyStore> {
  const redis = await startRedis();
  const client = redis.client();
  return { url: redis.url, client: () => client, lose: () => client.flushall() };
}

/** Two servers at one address. The one that follows gets no used tokens, and is then promoted. */
async function laggingPair(): Promise<LossyStore> {
  const redis = await startRedis();
  const other = await startRedis(['--replicaof', `127.0.0.1 ${redis.port}`]);
  const relay = await startRelay(redis.port);
  let primary = { port: redis.port, client: redis.client() };
  let follower = { port: other.port, client: other.client() };
  return {
    url: `redis://127.0.0.1:${relay.port}`,
    client: () => primary.client,
    async prepare() {
      await primary.client.wait(1, 0);
      await follower.client.replicaof('127.0.0.1', closedPort);
    },
    async lose() {
      await follower.client.replicaof('NO', 'ONE');
      [primary, follower] = [follower, primary];
      relay.leadTo(primary.port);
      await follower.client.replicaof('127.0.0.1', primary.port);
    },
  };
}

/** The commands for calls that Redis gets while the work is done, in lower case: from clients, and from scripts. */
async function commandsDuring(client: Redis, work: () => Promise<unknown>) {
  const monitor = await client.monitor();
  monitor.on('error', () => {});
  onTestFinished(() => monitor.disconnect());
  const sent: string[] = [];
  const scripted: string[] = [];
  let isOver = false;
  monitor.on('monitor', (_, [name = '', key = '']: string[], source: string) => {
    if (name === 'echo') isOver = true;
    const isForCall = !['echo', 'xread'].includes(name) && !key.endsWith(':probe');
    if (isForCall) (source === 'lua' ? scripted : sent).push(name.toLowerCase());
  });
  await work();
  await client.echo('over');
  await vi.waitUntil(() => isOver, within);
  return { sent, scripted };
}

describe.skipIf(!hasRedis)('TOKEN_ONCE=strict (skipped without redis-server)', () => {
  it.each([
    ['Redis is killed, without a file', killedRedis],
    ['a lagging replica of Redis is promoted', laggingPair],
    ['FLUSHALL empties Redis', flushedRedis],
  ])(`runs a token once in ${trials} trials in which %s`, async (_, start) => {
    const store = await start();
    for (let trial = 0; trial < trials; trial++) {
      const namespace = randomUUID();
      await writeMarker(store.client(), namespace);
      const replicas = await Promise.all([1, 2, 3].map(() => startReplica(redisState(store.url), namespace)));
      const [payee, ...others] = replicas;
      await store.prepare?.();
      const bearer = await token();
      expect(await payee?.runs(bearer)).toBe(true);
      await store.lose();
      expect(await Promise.all(replicas.map(({ runs }) => runs(bearer)))).toEqual([false, false, false]);
      expect(others.map(({ refusals }) => refusals().at(-1))).toEqual([mayHaveRun, mayHaveRun]);
      // As one that is issued half a minute after the loss.
      const later = await token({ iat: nowSeconds() + 30 });
      expect((await Promise.all(replicas.map(({ runs }) => runs(later)))).toSorted()).toEqual([
        false,
        false,
        true,
      ]);
    }
  });

  it('denies nothing after a connection to the same run of Redis', async () => {
    const redis = await startRedis();
    const client = redis.client();
    await writeMarker(client, 'test');
    const marker = await client.hgetall('market-mcp:test:run');
    const relay = await startRelay(redis.port);
    const url = `redis://127.0.0.1:${relay.port}`;
    const replicas = await Promise.all([1, 2].map(() => startReplica(redisState(url))));
    const [payee, other] = replicas;
    const [usedToken, unusedToken, lastToken] = await Promise.all([token(), token(), token()]);
    expect(await payee?.runs(usedToken)).toBe(true);
    relay.endConnections();
    await vi.waitUntil(() => replicas.every(({ states }) => states().at(-1) === true), within);
    expect([await other?.runs(usedToken), await other?.runs(unusedToken)]).toEqual([false, true]);
    expect(other?.refusals()).toContain('jti: used before, on another replica');
    expect(other?.refusals()).not.toContain(mayHaveRun);
    expect(await (await startReplica(redisState(url))).runs(lastToken)).toBe(true);
    expect(await client.hgetall('market-mcp:test:run')).toEqual(marker);
  });

  it('denies used tokens when the address leads back to a server that was left', async () => {
    const [left, next] = [await startRedis(), await startRedis()];
    await writeMarker(left.client(), 'test', nowSeconds() - 60);
    await writeMarker(next.client(), 'test', nowSeconds() - 30);
    const relay = await startRelay(left.port);
    const url = `redis://127.0.0.1:${relay.port}`;
    const replicas = await Promise.all([1, 2].map(() => startReplica(redisState(url))));
    relay.leadTo(next.port);
    await vi.waitUntil(() => replicas.every(({ states }) => states().at(-1) === true), within);
    const [bearer, otherBearer] = await Promise.all([token(), token()]);
    const [payee, other] = replicas;
    expect([await payee?.runs(bearer), await other?.runs(otherBearer)]).toEqual([true, true]);
    relay.leadTo(left.port);
    expect(await other?.runs(bearer)).toBe(false);
    expect(other?.refusals().at(-1)).toBe(mayHaveRun);
  });

  it('writes one marker for replicas that find none at once, and each claim is one command', async () => {
    const redis = await startRedis();
    const client = redis.client();
    const stores = Array.from({ length: 20 }, () => redisState(redis.url));
    await Promise.all(stores.map((store) => store.info?.())); // they are connected
    const { sent, scripted } = await commandsDuring(client, async () => {
      const claims = await Promise.all(
        stores.map((store, index) => store.claimSince?.(`token ${index}`, 60_000, 'owner', 'marker', 0)),
      );
      expect(claims).toEqual(stores.map(() => ({ isFirst: true, since: claims[0]?.since })));
    });
    expect(sent).toEqual(stores.map(() => 'eval'));
    expect(scripted.filter((name) => name === 'hset')).toHaveLength(1);
  });

  it('leaves the claims of "on" as they are, without a marker', async () => {
    const redis = await startRedis();
    const { claim } = await startReplica(redisState(redis.url), 'test', 'on');
    expect(await vi.waitUntil(() => claim('token', 60_000), within)).toEqual({
      isFirst: true,
      lostBeforeSeconds: null,
    });
    expect(await redis.client().keys('*:run')).toEqual([]);
  });

  it('warns at the start where a restart loses used tokens', async () => {
    const forgetful = await startRedis(['--appendonly', 'no']);
    const durable = await startRedis();
    const warnings = async (url: string, once?: TokenRules['once']) =>
      (await startReplica(redisState(url), 'test', once)).warnings();
    expect(await warnings(forgetful.url)).toEqual([
      expect.stringMatching(/^STATE_URL: .*neither an append-only file nor replicas/),
    ]);
    expect(await warnings(forgetful.url, 'on')).toEqual([]);
    expect(await warnings(durable.url)).toEqual([]);
    await startRedis(['--appendonly', 'no', '--replicaof', `127.0.0.1 ${forgetful.port}`]);
    await forgetful.client().wait(1, 0);
    expect(await warnings(forgetful.url)).toEqual([]);
  });

  it('does not start without run_id of INFO, while "on" does', async () => {
    const redis = await startRedis();
    await redis.client().call('ACL', 'SETUSER', 'limited', 'on', '>passw0rd', '~*', '+@all', '-info');
    const limited = redis.url.replace('default', 'limited');
    const refusal = /^TOKEN_ONCE: "strict" needs run_id of INFO, which the server of STATE_URL hides/;
    await expect(startReplica(redisState(limited))).rejects.toThrow(refusal);
    const managed = redisState(redis.url);
    const info = async () => (await redis.client().info()).replace(/^run_id:.*\r\n/m, '');
    await expect(startReplica({ ...managed, info })).rejects.toThrow(refusal);
    await startReplica({ ...managed, info }, 'test', 'on');
  });

  it('warns of a src/redis.ts of 0.4.0, which claims as before', async () => {
    const redis = await startRedis();
    const { claimSince, ...earlier } = redisState(redis.url);
    const { claim, warnings } = await startReplica(earlier);
    expect(warnings()).toEqual([
      expect.stringMatching(
        /^src\/redis\.ts is of an earlier version: .*TOKEN_ONCE=strict.*market-mcp upgrade$/,
      ),
    ]);
    expect(await claim('token', 60_000)).toEqual({ isFirst: true, lostBeforeSeconds: null });
  });
});
