import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../ports.ts';
import { buildProject } from '../runtime/built.ts';
import { audience, token } from '../runtime/support.ts';
import { record } from './figures.ts';
import { hasRedis, startRedis, writeMarker } from './redis.ts';
import { call, type Environment, type Replica, replica } from './replica.ts';

// What becomes of calls while replicas, or the Redis server that they share, end, pause or change places. Each token is sent to one replica
// by its payer, and then to the others, as by somebody who has seen it.

const project = buildProject(join(import.meta.dirname, 'counting-tools.ts'), true);
afterAll(() => project.remove());

type Redis = Awaited<ReturnType<typeof startRedis>>;

const within = { timeout: 120_000, interval: 50 };
const intervalMs = 25;
const perReplica = 3;

/** Three replicas, and the file in which their tool writes its runs. */
async function replicas(env: Environment) {
  const directory = mkdtempSync(join(tmpdir(), 'runs-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const runs = join(directory, 'runs');
  writeFileSync(runs, '');
  const start = () => replica(project.directory, { ...env, RUNS: runs, DRAIN_MS: '5000' });
  const all = await Promise.all(Array.from({ length: perReplica }, start));
  return { all, start, ran: () => readFileSync(runs, 'utf8').split('\n').slice(0, -1) };
}

/** Two servers at one port of two addresses, of which the second one follows the first, and a name that leads to the first one. */
async function namedPair() {
  const port = await freePort();
  const [first, second] = [
    await startRedis([], { host: '127.0.0.2', port }),
    await startRedis(['--replicaof', `127.0.0.2 ${port}`], { host: '127.0.0.3', port }),
  ];
  const directory = mkdtempSync(join(tmpdir(), 'names-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const NAMES = join(directory, 'names');
  const point = (address: string) => writeFileSync(NAMES, `redis.test ${address}\n`);
  point('127.0.0.2');
  const follows = async () => (await second.client().info('replication')).includes('master_link_status:up');
  await vi.waitUntil(follows, { ...within, interval: 100 });
  await writeMarker(first.client(), audience);
  const NODE_OPTIONS = `--require ${join(import.meta.dirname, 'names.cjs')}`;
  return {
    first,
    env: { STATE_URL: `redis://redis.test:${port}`, NAMES, NODE_OPTIONS },
    /** As a cloud does it: the first one goes on, as the follower of the second. */
    async failOver() {
      await second.client().replicaof('NO', 'ONE');
      point('127.0.0.3');
      await first.client().replicaof('127.0.0.3', port);
    },
  };
}

const isReady = async ({ port, isRunning }: Replica) =>
  isRunning() &&
  (await fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ status }) => status === 200,
    () => false,
  ));

/** Waits until this number of further calls was sent. */
type SendFurther = (count: number) => Promise<unknown>;

/** Sends calls to the replicas that are ready until the work is done, and each token again to the others. Counts what became of them. */
async function callsDuring(
  all: readonly Replica[],
  ran: () => readonly string[],
  work: (sendFurther: SendFurther) => Promise<unknown>,
) {
  let ready: readonly Replica[] = all;
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const states = await Promise.all(all.map(isReady));
      ready = all.filter((_, index) => states[index]);
      await setTimeout(100);
    }
  };
  const sent: Promise<number | null>[] = [];
  const send = async (index: number): Promise<number | null> => {
    const bearer = await token();
    const [payee, ...others] = ready.map((_, place) => ready[(place + index) % ready.length] as Replica);
    const statusOf = (one: Replica) =>
      call(one, bearer, 'count', { id: `call-${index}` }).then(
        ({ status }) => status,
        // Nobody took it: a proxy sends it to another replica.
        (error: Error & { cause?: { code?: string } }) => (error.cause?.code === 'ECONNREFUSED' ? null : 0),
      );
    const status = payee ? await statusOf(payee) : 0;
    await Promise.all(others.map(statusOf));
    return status;
  };
  const sending = async () => {
    while (!isOver) {
      sent.push(send(sent.length));
      await setTimeout(intervalMs);
    }
  };
  const running = [watch(), sending()];
  await vi.waitUntil(() => ran().length > 0, within);
  await work((count) => {
    const target = sent.length + count;
    return vi.waitUntil(() => sent.length >= target, within);
  });
  isOver = true;
  await Promise.all(running);
  const statuses = (await Promise.all(sent)).filter((status) => status !== null);
  const runs = new Map<string, number>();
  for (const id of ran()) runs.set(id, (runs.get(id) ?? 0) + 1);
  const answered = statuses.filter((status) => status === 200).length;
  const later = statuses.filter((status) => status === 503).length;
  const denied = statuses.filter((status) => status === 401).length;
  return {
    sent: statuses.length,
    answered,
    later,
    denied,
    lost: statuses.length - answered - later - denied,
    twice: [...runs.values()].filter((times) => times > 1).length,
  };
}

interface Trial {
  readonly all: readonly Replica[];
  readonly redis: Redis;
  readonly failOver: () => Promise<void>;
  readonly sendFurther: SendFurther;
}

/** What happens to a replica, or to Redis, in the middle of the calls. */
const events: readonly [string, (trial: Trial) => Promise<unknown>][] = [
  ['nothing happens', async ({ sendFurther }) => sendFurther(40)],
  [
    'a replica ends by SIGTERM',
    async ({ all: [one] }) => {
      one?.signal('SIGTERM');
      await vi.waitUntil(() => !one?.isRunning(), within);
    },
  ],
  ['a replica is killed', async ({ all: [one] }) => one?.signal('SIGKILL')],
  [
    'Redis ends and comes back',
    async ({ redis, sendFurther }) => {
      await redis.kill();
      await sendFurther(40);
      await redis.start();
    },
  ],
  [
    'Redis pauses for 6 calls, four times',
    async ({ redis, sendFurther }) => {
      for (let count = 0; count < 4; count++) {
        redis.signal('SIGSTOP');
        await sendFurther(6);
        redis.signal('SIGCONT');
        await sendFurther(16);
      }
    },
  ],
  [
    'Redis pauses for 80 calls',
    async ({ redis, sendFurther }) => {
      redis.signal('SIGSTOP');
      await sendFurther(80);
      redis.signal('SIGCONT');
    },
  ],
  ['its name leads to another server', async ({ failOver }) => failOver()],
];
/** Events after which Redis may have lost used tokens. */
const losses: readonly string[] = ['Redis ends and comes back', 'its name leads to another server'];
const isShared = ({ states, isRunning }: Replica) => !isRunning() || states().at(-1) !== false;

describe.skipIf(!hasRedis)('calls (skipped without redis-server)', () => {
  it.each(
    (['on', 'strict'] as const).flatMap((once) =>
      events.map(([name, begin]) => [once, name, begin] as const),
    ),
  )('with TOKEN_ONCE=%s while %s', async (once, name, begin) => {
    const { first: redis, env, failOver } = await namedPair();
    const { all, ran } = await replicas({ ...env, TOKEN_ONCE: once });
    const figures = await callsDuring(all, ran, async (sendFurther) => {
      await sendFurther(20);
      await begin({ all, redis, failOver, sendFurther });
      await sendFurther(20);
      await vi.waitUntil(() => all.every(isShared), within);
      await sendFurther(20);
    });
    record(`outage-${once}-${events.findIndex(([other]) => other === name)}`, { once, name, ...figures });
    expect(figures.answered).toBeGreaterThan(0);
    if (once === 'strict') expect(figures.twice).toBe(0);
    if (once === 'on' || !losses.includes(name)) expect(figures.denied).toBe(0);
    if (name !== 'a replica is killed') expect(figures.lost).toBe(0);
    // Those that were alone know each other's tokens again; on a busy machine Redis may once more answer late.
    const running = all.filter(({ isRunning }) => isRunning());
    const accepting = async () => {
      const bearer = await token();
      const results = await Promise.all(running.map((one) => call(one, bearer, 'count', { id: 'last' })));
      return results.filter(({ status }) => status === 200).length;
    };
    await expect.poll(accepting, within).toBe(1);
    if (once === 'on') expect(figures.later).toBe(0);
  });

  it('get 401, with a line and a metric, if Redis has lost their token, and TOKEN_ONCE=strict', async () => {
    const redis = await startRedis();
    const client = redis.client();
    await writeMarker(client, audience);
    const { all, ran } = await replicas({
      STATE_URL: redis.url,
      TOKEN_ONCE: 'strict',
      METRICS_PORT: '0',
    });
    const [payee, ...others] = all as [Replica, ...Replica[]];
    const bearer = await token();
    const statusOf = (one: Replica) => async () => (await call(one, bearer, 'count', { id: 'once' })).status;
    await expect.poll(statusOf(payee), within).toBe(200);
    await client.flushall();
    for (const one of others) {
      await expect.poll(statusOf(one), within).toBe(401);
      const refused = () => one.events().findLast(({ event }) => event === 'refused');
      expect(await vi.waitUntil(refused, within)).toMatchObject({
        reason: 'may have run before: the store of used tokens may have lost it (TOKEN_ONCE=strict)',
        expected: expect.stringMatching(/^iat after \d+$/),
        got: expect.stringMatching(/^iat \d+$/),
      });
      const metrics = await (await fetch(one.metrics)).text();
      expect(metrics).toContain('mcp_server_refusals_total{reason="may have run before"} 1');
    }
    expect(ran()).toEqual(['once']);
  });

  it('get 503 with Retry-After while no store can be asked, and TOKEN_ONCE=strict', async () => {
    const { all } = await replicas({ STATE_URL: 'redis://127.0.0.1:9', TOKEN_ONCE: 'strict' });
    const bearer = await token();
    for (const one of all) {
      const { status, headers } = await call(one, bearer, 'count', { id: 'none' });
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    }
  });

  it('follow the server that Sentinels name', async () => {
    const first = await startRedis();
    const second = await startRedis(['--replicaof', `127.0.0.1 ${first.port}`]);
    const sentinel = await startRedis([], { sentinel: true });
    const admin = sentinel.client();
    await admin.call('SENTINEL', 'MONITOR', 'tokens', '127.0.0.1', String(first.port), '1');
    // A busy server is not down.
    await admin.call('SENTINEL', 'SET', 'tokens', 'down-after-milliseconds', '3000');
    await admin.call('SENTINEL', 'SET', 'tokens', 'failover-timeout', '3000');
    const knows = async () =>
      JSON.stringify(await admin.call('SENTINEL', 'REPLICAS', 'tokens')).includes(String(second.port));
    await vi.waitUntil(knows, { ...within, interval: 200 });
    await writeMarker(first.client(), audience);
    const STATE_URL = `redis+sentinel://127.0.0.1:9,127.0.0.1:${sentinel.port}/tokens`;
    const { all, ran } = await replicas({ STATE_URL, TOKEN_ONCE: 'strict' });
    const figures = await callsDuring(all, ran, async (sendFurther) => {
      await sendFurther(20);
      await first.kill();
      await vi.waitUntil(() => all.every(({ states }) => states().includes(false)), within);
      await vi.waitUntil(() => all.every(isShared), within);
      await sendFurther(20);
    });
    expect(figures).toMatchObject({ lost: 0, twice: 0 });
    expect(figures.answered).toBeGreaterThan(0);
    expect(await second.client().role()).toEqual(expect.arrayContaining(['master']));
    record(`outage-strict-${events.length}`, {
      once: 'strict',
      name: 'Sentinels name another server',
      ...figures,
    });
  });
});
