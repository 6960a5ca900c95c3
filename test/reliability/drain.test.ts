import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLauncher } from '../../src/check/launch.ts';
import type { Instance } from '../../src/contract/target.ts';
import { startProxy } from '../attacks/proxies.ts';
import { buildProject } from '../runtime/built.ts';
import { audience, issuer, publicKey, RawClient, token } from '../runtime/support.ts';
import { balancers } from './balancers.ts';

// Replicas of a server behind a proxy that asks /ready: one of them ends while calls arrive.

const project = buildProject(join(import.meta.dirname, 'counting-tools.ts'));
afterAll(() => project.remove());

const runs = join(project.directory, 'runs');
const replicas = 3;
const callers = 16;

const environment = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PLATFORM_AUDIENCE: audience,
  PLATFORM_ISSUER: issuer,
  PLATFORM_PUBLIC_KEY: publicKey,
  SESSION_SECRET: 'a secret of thirty-two characters',
  DRAIN_MS: '5000',
  RUNS: runs,
};

let headers: Record<string, string>;
beforeAll(async () => {
  headers = { authorization: `Bearer ${await token()}` };
});

it.each(balancers)('a replica behind $name ends and loses no call, and none runs twice', async (proxy) => {
  writeFileSync(runs, '');
  const { launch, killAll } = createLauncher(join(project.directory, 'dist/src/main.js'), environment, {
    cwd: project.directory,
  });
  const servers: Instance[] = [];
  for (let count = 0; count < replicas; count++) servers.push(await launch({}));
  const ports = servers.map(({ url }) => Number(new URL(url).port));
  const front = await startProxy(proxy, ports);
  try {
    const client = new RawClient(`http://127.0.0.1:${front.port}/mcp`);
    const own = { ...headers, ...(await client.session()) };
    const outcomes = new Map<string, number>();
    let isOver = false;
    let sent = 0;
    const caller = async () => {
      while (!isOver) {
        const id = `${proxy.name} ${sent++}`;
        const params = { name: 'count', arguments: { id } };
        const outcome = await client
          .send({ jsonrpc: '2.0', id, method: 'tools/call', params }, own)
          .then(({ status }) => String(status))
          .catch((error: Error) => error.message);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    };
    const calling = Array.from({ length: callers }, caller);
    const [first] = servers;
    expect(servers.every(({ healthy }) => healthy)).toBe(true);
    await setTimeout(1_000);
    first?.signal('SIGTERM');
    expect(await first?.exit).toEqual({ code: 0, signal: null });
    await setTimeout(1_000);
    isOver = true;
    await Promise.all(calling);

    // A busy server may refuse a call at once (503), which the caller can repeat.
    const { 200: answered = 0, 503: refused = 0, ...lost } = Object.fromEntries(outcomes);
    expect([lost, answered + refused]).toEqual([{}, sent]);
    expect(refused).toBeLessThanOrEqual(5);
    const ran = readFileSync(runs, 'utf8').trimEnd().split('\n');
    expect(ran).toHaveLength(answered);
    expect(new Set(ran).size).toBe(answered);
  } finally {
    await front.stop();
    await Promise.all(servers.map((server) => server.stop()));
    killAll();
  }
});
