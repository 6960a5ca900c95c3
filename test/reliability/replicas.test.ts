import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSessions } from '../../packages/runtime/src/server/session.ts';
import { startApi } from '../api-server.ts';
import { startProxy } from '../attacks/proxies.ts';
import { recordProof } from '../deploy/figures.ts';
import { expectChecked } from '../e2e/rates.ts';
import { scaffold, scratch } from '../e2e/support.ts';
import { buildProject } from '../runtime/built.ts';
import { audience, issuer, platformKey, token } from '../runtime/support.ts';
import { balancers } from './balancers.ts';
import { hasRedis, startRedis, startSlowConnection } from './redis.ts';
import { call, type Environment, type Replica, replica, secret } from './replica.ts';

// Replicas of a server that share a Redis server, as `deploy add redis` connects them.

const project = buildProject(join(import.meta.dirname, 'sharing-tools.ts'), true);
afterAll(() => project.remove());

function threeReplicas(env: Environment, directory = project.directory): Promise<readonly Replica[]> {
  return Promise.all(Array.from({ length: 3 }, () => replica(directory, env)));
}

/**
 * What replicas do that share a store. A machine under load may take longer than the time limit of a command, and the log then says
 * that a replica works alone: that run does not count.
 */
async function whileShared<T>(
  env: Environment,
  directory: string,
  work: (all: readonly Replica[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const redis = await startRedis();
    const all = await threeReplicas({ ...env, STATE_URL: redis.url }, directory);
    const [ended] = await Promise.allSettled([work(all)]);
    for (const one of all) one.signal('SIGTERM');
    await Promise.all(all.map(({ exit }) => exit));
    const isShared = all.every(({ states }) => states().length === 0);
    if (isShared && ended.status === 'fulfilled') return ended.value;
    if (ended.status === 'rejected' && (isShared || attempt === 10)) throw ended.reason;
    expect(attempt).toBeLessThan(10);
  }
}

const answers = async (all: readonly Replica[]) => {
  const results = await Promise.all(
    all.map(async (one) => call(one, await token(), 'echo', { text: 'here' })),
  );
  return results.map(({ status, body }) => [status, body.result?.structuredContent?.text]);
};
const allAnswer = Array.from({ length: 3 }, () => [200, 'here']);

/** The statuses of a ping with this session. */
const knownBy = (all: readonly Replica[], session: Environment) =>
  Promise.all(all.map(async ({ client }) => (await client.request('ping', {}, session)).status));
const everywhere = (status: number) => Array.from({ length: 3 }, () => status);

if (!hasRedis) recordProof('redis', { notRun: 'there is no Redis: `apt-get install redis-server`' });
describe.skipIf(!hasRedis)('replicas (skipped without redis-server)', () => {
  const root = scratch();

  it.each(balancers)('pass the whole contract behind $name, session.delete included', async (balancer) => {
    const { directory } = await scaffold([`behind-${balancer.name.toLowerCase()}`, '--deploy', 'redis'], {
      cwd: root,
    });
    const { advice, passed } = await whileShared({}, directory, async (all) => {
      const front = await startProxy(
        balancer,
        all.map(({ port }) => port),
      );
      onTestFinished(() => front.stop());
      const known = { issuer, audience };
      return expectChecked(`http://127.0.0.1:${front.port}`, root, platformKey, known);
    });
    expect(advice).toBe(0);
    recordProof('redis', {
      how: 'three replicas behind Caddy and behind HAProxy, at the URL of the proxy',
      rules: `${passed} passed, 0 failed`,
    });
  });

  it('accept a token for one call together', async () => {
    const accepted = await whileShared({ TOKEN_ONCE: 'on' }, project.directory, async (all) => {
      const counts: number[] = [];
      for (let count = 0; count < 30; count++) {
        const bearer = await token();
        const results = await Promise.all(
          [...all, ...all].map((one) => call(one, bearer, 'echo', { text: 'once' })),
        );
        const statuses = results.map(({ status }) => status);
        expect(statuses.every((status) => status === 200 || status === 401)).toBe(true);
        counts.push(statuses.filter((status) => status === 200).length);
      }
      return counts;
    });
    expect(accepted).toEqual(Array.from({ length: 30 }, () => 1));
  });

  it('ask an API as often as one of them may, and each page once', async () => {
    const { url: API_URL, asked } = await pages();
    const got = await whileShared({ API_URL }, project.directory, async (all) => {
      asked.length = 0;
      const ask = async (one: Replica, page: string) => {
        const { body } = await call(one, await token(), 'ask', { page });
        return body.result.structuredContent?.page;
      };
      for (const one of all) expect(await ask(one, 'same')).toBe('same');
      const once = [...asked];
      const others = Array.from({ length: 15 }, (_, index) => `page-${index}`);
      const answered = await Promise.all(others.map((page, index) => ask(all[index % 3] as Replica, page)));
      const pagesOf = (list: readonly (string | undefined)[]) => list.filter((page) => page !== undefined);
      return { once, answered: pagesOf(answered).length, asked: asked.length };
    });
    expect(got).toEqual({ once: ['same'], answered: 4, asked: 5 });
  });

  it('work alone while Redis is stopped or killed, and know all ended sessions when it is back', async () => {
    const redis = await startRedis();
    const all = await threeReplicas({ STATE_URL: redis.url });
    const [first] = all as [Replica, Replica, Replica];
    const early = await first.client.session();
    expect((await first.client.send(undefined, early, 'DELETE')).status).toBe(204);
    await expect.poll(() => knownBy(all, early)).toEqual(everywhere(400));

    const outage = async (end: () => unknown, begin: () => unknown) => {
      const session = await first.client.session();
      await end();
      await vi.waitUntil(async () => {
        expect(await answers(all)).toEqual(allAnswer);
        return all.every(({ states }) => states().at(-1) === false);
      }, 120_000);
      const said = all.map(({ states }) => states().length);
      expect((await first.client.send(undefined, session, 'DELETE')).status).toBe(204);
      for (let count = 0; count < 20; count++) expect(await answers(all)).toEqual(allAnswer);
      expect(await knownBy(all, session)).toEqual([400, 200, 200]);
      expect(all.map(({ states }) => states().length)).toEqual(said);
      await begin();
      await vi.waitFor(async () => expect(await knownBy(all, session)).toEqual(everywhere(400)), 120_000);
      const isBack = () => all.every(({ states }) => states().at(-1) === true);
      await vi.waitUntil(isBack, 120_000);
      return session;
    };
    const whileStopped = await outage(
      () => redis.signal('SIGSTOP'),
      () => redis.signal('SIGCONT'),
    );
    const whileKilled = await outage(redis.kill, redis.start);

    const late = await replica(project.directory, { STATE_URL: redis.url });
    for (const session of [early, whileStopped, whileKilled])
      expect(await knownBy([late], session)).toEqual([400]);
    for (const { output } of [...all, late]) expect(output.stdout + output.stderr).not.toContain('passw0rd');
  });

  it('work alone without any Redis, with a slow one and with foreign data, and say so once', async () => {
    const redis = await startRedis();
    const slow = await startSlowConnection(redis.port, 300);
    const foreign = redis.client();
    const list = `market-mcp:${audience}:ended-sessions`;
    const all = await Promise.all(
      [9, slow, redis.port].map((port) =>
        replica(project.directory, { STATE_URL: `redis://:passw0rd@127.0.0.1:${port}` }),
      ),
    );
    const [, , healthy] = all as [Replica, Replica, Replica];
    await foreign.set(list, 'no stream');
    await vi.waitUntil(async () => {
      expect(await answers(all)).toEqual(allAnswer);
      return all.every(({ states }) => states().length > 0);
    }, 120_000);
    for (let count = 0; count < 20; count++) expect(await answers(all)).toEqual(allAnswer);
    for (const { states } of all) expect(states()).toEqual([false]);
    await foreign.del(list);
    await vi.waitFor(() => expect(healthy.states().at(-1)).toBe(true), 120_000);
    for (const { output } of all) expect(output.stdout + output.stderr).not.toContain('passw0rd');
  });

  it('ignore what others write to the list and to the keys', async () => {
    const redis = await startRedis();
    const { url: API_URL } = await pages();
    const all = await threeReplicas({ STATE_URL: redis.url, API_URL, TOKEN_ONCE: 'on' });
    const [first, second, third] = all as [Replica, Replica, Replica];
    const ask = async (one: Replica) => (await call(one, await token(), 'ask', { page: 'same' })).body.result;
    expect((await ask(first)).structuredContent).toEqual({ page: 'same' });
    const foreign = redis.client();
    const list = `market-mcp:${audience}:ended-sessions`;
    const open = await first.client.session();
    const forged = open['mcp-session-id'].replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'));
    for (const text of ['', '\u0000\uffff', forged, '{}', 'x'.repeat(20_000_000)]) {
      await foreign.xadd(list, '*', 'text', text);
      await foreign.xadd(list, '*', text.slice(0, 1_000), '', 'more', 'fields');
    }
    for (const key of await foreign.keys('market-mcp:*')) {
      if (key !== list) await foreign.set(key, 'x'.repeat(1_000_000));
    }
    expect((await ask(second)).structuredContent).toEqual({ page: 'same' });
    for (const key of await foreign.keys('market-mcp:*')) {
      if (key === list) continue;
      await foreign.del(key);
      await foreign.sadd(key, 'another type');
    }
    expect((await ask(third)).structuredContent).toEqual({ page: 'same' });
    expect(await answers(all)).toEqual(allAnswer);
    expect(await knownBy(all, open)).toEqual(everywhere(200));
    await first.client.send(undefined, open, 'DELETE');
    await vi.waitFor(async () => expect(await knownBy(all, open)).toEqual(everywhere(400)), 120_000);
    expect(all.every(({ isRunning }) => isRunning())).toBe(true);
  });

  it('and Redis keep a limited number of ended sessions', async () => {
    const redis = await startRedis();
    const all = await threeReplicas({ STATE_URL: redis.url, MAX_PIPELINED: '1000' });
    const count = process.env.NIGHTLY ? 200_000 : 120_000;
    const { open } = createSessions(secret, 3_600, { audience });
    const each = count / 12;
    const last = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const ids = Array.from({ length: each }, open);
        await endSessions((all[index % 3] as Replica).port, ids);
        return ids.at(-1) ?? '';
      }),
    );
    const kept = await redis.client().xlen(`market-mcp:${audience}:ended-sessions`);
    expect(kept).toBeLessThan(101_000);
    const late = await replica(project.directory, { STATE_URL: redis.url });
    for (const id of last) {
      const session = { 'mcp-session-id': id };
      await vi.waitFor(
        async () => expect(await knownBy([...all, late], session)).toEqual([...everywhere(400), 400]),
        60_000,
      );
    }
    // Each has 128 MB of memory for its objects.
    expect([...all, late].every(({ isRunning }) => isRunning())).toBe(true);
  });
});

/** An API that answers each page with its name, and the pages that it was asked for. */
async function pages(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const { origin } = await startApi(({ target }) => {
    const page = target.split('/').at(-1) ?? '';
    asked.push(page);
    return { body: { page } };
  });
  return { url: origin, asked };
}

/** Sends a DELETE for each session on one connection, 100 at a time. */
async function endSessions(port: number, ids: readonly string[]): Promise<void> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let answered = 0;
  let rest = '';
  socket.on('data', (text: string) => {
    const parts = (rest + text).split('HTTP/1.1 204');
    answered += parts.length - 1;
    rest = parts.at(-1)?.slice(-20) ?? '';
    socket.emit('answered');
  });
  for (let from = 0; from < ids.length; from += 100) {
    const batch = ids.slice(from, from + 100);
    const head = (id: string) =>
      `DELETE /mcp HTTP/1.1\r\nhost: tools.example\r\nmcp-session-id: ${id}\r\n\r\n`;
    socket.write(batch.map(head).join(''));
    while (answered < from + batch.length) await once(socket, 'answered');
  }
  socket.destroy();
}
