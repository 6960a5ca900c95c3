import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { type ShutdownTimes, shutdownTimes } from '../../src/plan/shutdown-times.ts';
import { randomFrom, seed } from '../random.ts';
import { buildProject } from '../runtime/built.ts';
import { serveBuilt } from '../runtime/serve-built.ts';
import { live, type RawClient, token } from '../runtime/support.ts';
import { record } from './figures.ts';

// Servers with the variables of each target end while calls run and arrive. Each call must be answered or logged.

/** Shutdowns of each target; `SHUTDOWNS=20` tries so many, with calls of up to 20 s. */
const shutdowns = Number(process.env.SHUTDOWNS) || 1;
const longestMs = process.env.SHUTDOWNS ? 20_000 : 4_000;
const callsPerSecond = 10;
/** Calls that have begun when the server is ended. */
const callsBefore = (callsPerSecond * longestMs) / 2_000;
/** A call that takes longer than any shutdown. */
const endlessMs = 600_000;
/** How many servers run at once. */
const atOnce = 5;

const project = buildProject(join(import.meta.dirname, 'working-tools.ts'));
afterAll(() => project.remove());

const random = randomFrom(seed);
const times = shutdownTimes(generic.limits.callMs);

interface Environment {
  readonly SHUTDOWN_GRACE_MS: string;
  readonly DRAIN_MS?: string;
}

function environmentOf({ drainMs, graceMs }: ShutdownTimes): Environment {
  return { SHUTDOWN_GRACE_MS: String(graceMs), DRAIN_MS: String(drainMs) };
}

type Answer = Awaited<ReturnType<RawClient['request']>>;
type Outcome = 'answered' | 'aborted' | 'refused' | 'failed';

/**
 * Ends a server under load. Returns how its calls ended, and what its log says of them.
 *
 * @param hasEndless whether the first call would never end by itself
 */
async function shutDown(env: Environment, hasEndless: boolean) {
  const runs = join(mkdtempSync(join(project.directory, 'runs-')), 'runs');
  writeFileSync(runs, '');
  // A busy machine is no reason to refuse a call.
  const patient = { MAX_LOOP_DELAY_MS: '600000', CALL_TIMEOUT_MS: String(endlessMs) };
  const settings = { ...live, ...env, ...patient, RUNS: runs };
  const server = await serveBuilt(project.directory, settings);
  const headers = { ...(await server.client.session()), authorization: `Bearer ${await token()}` };
  const outcomes = new Map<string, Outcome>();
  const begun = () => readFileSync(runs, 'utf8').split('\n').slice(0, -1);
  const call = async (index: number) => {
    const id = `call ${index}`;
    const randomMs = 1_000 + Math.floor(random() * (longestMs - 1_000));
    const ms = hasEndless && index === 0 ? endlessMs : randomMs;
    const params = { name: 'work', arguments: { id, ms } };
    const answer = await server.client.request('tools/call', params, headers).catch(() => null);
    outcomes.set(id, outcomeOf(answer));
  };
  const calls: Promise<void>[] = [];
  let hasEnded = false;
  const load = (async () => {
    while (!hasEnded) {
      calls.push(call(calls.length));
      await setTimeout(1_000 / callsPerSecond);
    }
  })();
  await vi.waitUntil(() => begun().length >= callsBefore, { timeout: 120_000 });
  server.child.kill('SIGTERM');
  const exit = await server.exit;
  hasEnded = true;
  await load;
  await Promise.all(calls);

  const ran = begun();
  const count = (outcome: Outcome) => [...outcomes.values()].filter((other) => other === outcome).length;
  const lines = server.events().filter(({ event }) => event === 'call');
  const { aborted, cut } = server.events().at(-1);
  return {
    code: exit.code,
    sent: outcomes.size,
    ran: ran.length,
    answered: count('answered'),
    aborted: count('aborted'),
    /** Calls that the server did not accept: their tools did not run. */
    notRun: [...outcomes.keys()].filter((id) => !ran.includes(id)).length,
    lost: ran.filter((id) => outcomes.get(id) === 'failed').length,
    ranTwice: ran.length - new Set(ran).size,
    logged: { calls: lines.length, aborted, cut },
  };
}

function outcomeOf(answer: Answer | null): Outcome {
  if (answer === null) return 'failed';
  if (answer.status === 503) return 'refused';
  const { structuredContent } = answer.body.result;
  return structuredContent.error === 'SERVER_STOPPING' ? 'aborted' : 'answered';
}

/** Ends servers one after another in each of several lanes. */
async function shutDownAll(env: Environment, hasEndless = false) {
  const results: Awaited<ReturnType<typeof shutDown>>[] = [];
  let begun = 0;
  const lane = async () => {
    while (begun++ < shutdowns) results.push(await shutDown(env, hasEndless));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function recordAll(name: string, results: Awaited<ReturnType<typeof shutDownAll>>): void {
  const total = (member: 'sent' | 'answered' | 'aborted' | 'notRun' | 'lost' | 'ranTwice') =>
    sum(results.map((result) => result[member]));
  const members = ['sent', 'answered', 'aborted', 'notRun', 'lost', 'ranTwice'] as const;
  const figures = Object.fromEntries(members.map((member) => [member, total(member)]));
  record(`shutdown ${name}`, { shutdowns: results.length, ...figures });
}

it.each([
  ['Docker', { SHUTDOWN_GRACE_MS: String(times.docker.graceMs) }],
  ['Compose, Railway, Render and Fly', environmentOf(times.compose)],
  ['Kubernetes', environmentOf(times.kubernetes)],
])('with the variables of %s, each call that runs is answered', async (name, env) => {
  const results = await shutDownAll(env);
  recordAll(name, results);
  expect(results).toHaveLength(shutdowns);
  for (const { code, ran, answered, aborted, lost, ranTwice, logged } of results) {
    expect({ code, aborted, lost, ranTwice }).toEqual({ code: 0, aborted: 0, lost: 0, ranTwice: 0 });
    expect(answered).toBe(ran);
    expect(logged).toEqual({ calls: ran, aborted: 0, cut: 0 });
  }
});

it('with less time than the calls take, each call is answered or aborted, and logged', async () => {
  const results = await shutDownAll({ SHUTDOWN_GRACE_MS: '2000' }, true);
  recordAll('with 2 s', results);
  for (const { code, ran, answered, aborted, lost, ranTwice, logged } of results) {
    expect({ code, lost, ranTwice }).toEqual({ code: 0, lost: 0, ranTwice: 0 });
    expect(aborted).toBeGreaterThan(0);
    expect(answered + aborted).toBe(ran);
    expect(logged).toEqual({ calls: ran, aborted, cut: 0 });
  }
});
