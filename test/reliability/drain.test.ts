import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startProxy } from '../attacks/proxies.ts';
import { freePort } from '../ports.ts';
import { buildProject } from '../runtime/built.ts';
import { audience, issuer, publicKey, RawClient, token } from '../runtime/support.ts';
import { balancers } from './balancers.ts';
import { record } from './figures.ts';

// Replicas of a server behind a proxy that asks /ready: one of them ends while calls arrive.

const project = buildProject(join(import.meta.dirname, 'counting-tools.ts'));
afterAll(() => project.remove());

const runs = join(project.directory, 'runs');
const replicas = 3;
/** Calls a second that are tried; the figures say how many there were. */
const rate = Number(process.env.DRAIN_RATE) || (process.env.NIGHTLY ? 2_000 : 400);
const callers = 32;

const environment = {
  PATH: process.env.PATH,
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PLATFORM_AUDIENCE: audience,
  PLATFORM_ISSUER: issuer,
  PLATFORM_PUBLIC_KEY: publicKey,
  SESSION_SECRET: 'a secret of thirty-two characters',
  DRAIN_MS: '5000',
  // A busy machine is no reason to refuse a call.
  MAX_LOOP_DELAY_MS: '600000',
  RUNS: runs,
};

let headers: Record<string, string>;
beforeAll(async () => {
  headers = { authorization: `Bearer ${await token()}` };
});

/** A replica once it answers. Nobody reads its log: that would take time of the calls. */
async function startReplica() {
  const port = await freePort();
  const child = spawn(process.execPath, ['dist/src/main.js'], {
    cwd: project.directory,
    env: { ...environment, PORT: String(port) },
    stdio: 'ignore',
  });
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`a replica ended with ${child.exitCode}`);
    await setTimeout(20);
  }
  return { port, exit, signal: (name: NodeJS.Signals) => child.kill(name) };
}

/** Calls at the requested rate on connections that stay open. `stop` returns how often each status or error came. */
function startCalls(port: number, session: Record<string, string>) {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const outcomes = new Map<string, number>();
  const startedAt = performance.now();
  let isOver = false;
  let sent = 0;
  const call = (id: string) =>
    new Promise<string>((resolve) => {
      const params = { name: 'count', arguments: { id } };
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
      const own = {
        'content-type': 'application/json',
        'content-length': body.length,
        ...headers,
        ...session,
      };
      const options = { port, host: '127.0.0.1', path: '/mcp', method: 'POST', agent, headers: own };
      const calling = request(options, (response) => {
        response
          .resume()
          .once('close', () => resolve(response.complete ? String(response.statusCode) : 'cut off'));
      });
      calling.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      calling.end(body);
    });
  const caller = async () => {
    while (!isOver) {
      const number = sent++;
      const early = startedAt + (number * 1_000) / rate - performance.now();
      if (early > 0) await setTimeout(early);
      const outcome = await call(`call ${number}`);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  const calling = Promise.all(Array.from({ length: callers }, caller));
  const stop = async () => {
    isOver = true;
    await calling;
    agent.destroy();
    const perSecond = Math.round((sent * 1_000) / (performance.now() - startedAt));
    return { sent, perSecond, outcomes: Object.fromEntries(outcomes) };
  };
  /** Waits until this number of further calls was answered. */
  const answerFurther = (count: number) => {
    const answered = () => outcomes.get('200') ?? 0;
    const target = answered() + count;
    return vi.waitUntil(() => answered() >= target, { timeout: 120_000 });
  };
  return { stop, answerFurther };
}

/** Ends one of three replicas during calls. */
async function endOne(proxy: (typeof balancers)[number], signal: NodeJS.Signals) {
  writeFileSync(runs, '');
  const servers = await Promise.all(Array.from({ length: replicas }, startReplica));
  const front = await startProxy(
    proxy,
    servers.map(({ port }) => port),
  );
  onTestFinished(() => front.stop());
  const session = await new RawClient(`http://127.0.0.1:${front.port}/mcp`).session();
  const { stop, answerFurther } = startCalls(front.port, session);
  await answerFurther(200);
  const [first] = servers;
  first?.signal(signal);
  const exit = await first?.exit;
  await answerFurther(200);
  const result = await stop();
  record(`${signal} behind ${proxy.name}`, result);
  const ran = readFileSync(runs, 'utf8').trimEnd().split('\n');
  expect(new Set(ran).size, 'no call ran twice').toBe(ran.length);
  const { 200: answered = 0, ...others } = result.outcomes;
  expect(ran.length).toBeGreaterThanOrEqual(answered);
  return { ...result, exit, ran: ran.length, answered, others };
}

describe.each(balancers)('one of three replicas behind $name', (proxy) => {
  it('ends and loses no call, and none runs twice', async () => {
    const { sent, exit, ran, answered, others } = await endOne(proxy, 'SIGTERM');
    expect(exit).toEqual([0, null]);
    // The replica that ends may refuse a call (503), which the caller can repeat.
    const { 503: refused = 0, ...lost } = others;
    expect([lost, answered + refused]).toEqual([{}, sent]);
    expect(ran).toBe(answered);
  });

  it('is killed, and no call runs twice', async () => {
    // How many calls are lost is printed: what the killed replica had received, and what waits on its connections.
    const { exit } = await endOne(proxy, 'SIGKILL');
    expect(exit).toEqual([null, 'SIGKILL']);
  });
});
