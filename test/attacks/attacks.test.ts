import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProject } from '../runtime/built.ts';
import { flood } from './attacker.ts';
import { type Outcome, type Row, writeTable } from './page.ts';
import { proxies, startProxy } from './proxies.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { callHonestly, type Era, startVictim } from './victim.ts';

/** With a heap of 512 MB. */
const maxResidentMegabytes = 350;
const graceMs = 600_000;

/** The same server without limits, for the column "without". */
const unlimited = Object.fromEntries(
  [
    'UNPAID_BODY_MS=600000',
    'UNPAID_BODY_BYTES=100000000',
    'MAX_MEMORY_BYTES=100000000000',
    'ANSWER_STALL_MS=600000',
    'MAX_STREAMS=1000000',
    'MAX_CONNECTIONS=1000000',
    'MAX_PIPELINED=1000000',
    'MAX_LOOP_DELAY_MS=600000',
  ].map((line) => line.split('=')),
);

/** Set by `npm run attacks`: runs all attacks, also without the limits and behind proxies, unless it is `direct`. */
const isForPage = process.env.ATTACKS_PAGE !== undefined;
const isDirect = process.env.ATTACKS_PAGE === 'direct';
/** Whether all attacks run, or only the daily ones. */
const isWhole = isForPage || process.env.NIGHTLY !== undefined;
/** Duration of the attack after everything is sent. */
const holdMs = isWhole ? 6_000 : 2_000;

let project: ReturnType<typeof buildProject>;
const rows: Row[] = [];
beforeAll(() => {
  project = buildProject(join(import.meta.dirname, 'tools.ts'));
});
afterAll(() => {
  project.remove();
  writeTable(rows, isForPage && rows.length === attacks.length + proxies.length * proxied.length);
});

async function suffer(
  scenario: Scenario,
  era: Era,
  env: Record<string, string>,
  proxy?: (typeof proxies)[number],
): Promise<Outcome> {
  // The default is a share of this machine's heap; the bound below is that of a small one.
  const small = {
    MAX_MEMORY_BYTES: '134217728',
    // On a busy machine the attacker needs more than the default to open all connections.
    REQUEST_TIMEOUT_MS: String(graceMs),
    // Only who waits for all of it takes so long to end, however busy the machine is.
    ...(scenario.calls ? {} : { SHUTDOWN_GRACE_MS: String(graceMs) }),
    ...env,
  };
  const server = await startVictim(project.directory, small, scenario.descriptors);
  const front =
    proxy &&
    (await startProxy(proxy, [server.port]).catch(async (error) => {
      await server.kill();
      throw error;
    }));
  const victim = front ? { ...server, port: front.port } : server;
  const what = await scenario.flood(victim, era);
  await victim.longestTurn();
  const attack = flood(victim.port, what);
  try {
    const held = attack.then(() => delay(holdMs));
    const honest = await callHonestly(victim, held);
    const longestTurn = await victim.longestTurn();
    const alive = victim.isAlive();
    let afterwards: Outcome['afterwards'];
    // A busy machine may need longer.
    for (let time = 0; alive && time < 60 && !afterwards?.times.length; time++)
      afterwards = await callHonestly(victim, delay(500));
    const megabytes = victim.peakMegabytes();
    const ended = alive ? await victim.terminate() : undefined;
    const { bytes } = await attack;
    const limitsMet = [...victim.limitsMet];
    return { bytes, honest, longestTurn, alive, afterwards, megabytes, ended, limitsMet };
  } finally {
    await (await attack).end();
    await front?.stop();
    await server.kill();
  }
}

/** The attacks of every push; the others run every night. */
const daily = [
  'pipelined lists',
  'unfinished paid bodies',
  'finished paid bodies',
  'finished bodies',
  'finished small bodies without a token',
  'chunks of one byte, 5 connections',
  'tiny headers',
  'one silent socket from each of many addresses',
  'slow readers',
];

const attacks = scenarios.flatMap((scenario) =>
  (scenario.eras ?? (['sessions'] as const))
    .filter((era) => isWhole || (era === 'sessions' && daily.includes(scenario.name)))
    .map((era) => ({
      scenario,
      era,
      name: era === 'sessions' ? scenario.name : `${scenario.name}, stateless`,
    })),
);
/** Attacks that no proxy weakens: their limits must be reached behind each. */
const passing = ['unfinished paid bodies', 'slow readers'];
/** Outside of `npm run attacks`, only some run through proxies; on every push, through the first. */
const fronts = isWhole ? proxies : proxies.slice(0, 1);
const proxied = attacks.filter(
  ({ scenario, era }) =>
    !isDirect &&
    scenario.descriptors === undefined &&
    (isForPage || (era === 'sessions' && passing.includes(scenario.name))),
);

function expectToLive(outcome: Outcome, { calls }: Scenario): void {
  expect(outcome.ended?.code).toBe(0);
  // Nothing but calls and their answers may use the grace period.
  if (!calls) expect(outcome.ended?.ms).toBeLessThan(graceMs);
  expect(outcome.alive).toBe(true);
  expect(outcome.megabytes).toBeLessThan(maxResidentMegabytes);
  expect(outcome.honest.times.length).toBeGreaterThan(0);
  expect(outcome.afterwards?.times.length).toBeGreaterThan(0);
}

describe('a server under attack keeps running, stays within its memory and answers honest callers', () => {
  test.each(attacks)('$name', async ({ scenario, era, name }) => {
    const before = isForPage && !isDirect ? await suffer(scenario, era, unlimited) : undefined;
    const after = await suffer(scenario, era, {});
    rows.push({ name, scenario, before, after });
    expect(after.limitsMet).toEqual(expect.arrayContaining([...scenario.limits]));
    expectToLive(after, scenario);
  });

  describe.each(fronts)('behind $name', (proxy) => {
    test.each(proxied)('$name', async ({ scenario, era, name }) => {
      const after = await suffer(scenario, era, { CLIENT_ADDRESS_HEADER: 'x-forwarded-for' }, proxy);
      rows.push({ name: `${name}, behind ${proxy.name}`, scenario, before: undefined, after });
      const limits = passing.includes(scenario.name) ? scenario.limits : [];
      expect(after.limitsMet).toEqual(expect.arrayContaining([...limits]));
      expectToLive(after, scenario);
    });
  });
});
