import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProject } from '../templates/built.ts';
import { type Row, writeTable } from './page.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { callHonestly, startVictim } from './victim.ts';

/** With a heap of 512 MB. */
const mostResidentMegabytes = 350;
/** The attack holds on for so long after everything is sent. */
const holdMs = 6_000;

/** The same server without the limits, for the column "without". */
const unlimited = Object.fromEntries(
  [
    'UNPAID_BODY_MS=600000',
    'UNPAID_BODY_BYTES=100000000',
    'BODY_BUDGET_BYTES=10000000000',
    'ANSWER_BUDGET_BYTES=10000000000',
    'ANSWER_STALL_MS=600000',
    'MAX_STREAMS=1000000',
    'MAX_CONNECTIONS=1000000',
    'MAX_PIPELINED=1000000',
    'MAX_LOOP_DELAY_MS=600000',
  ].map((line) => line.split('=')),
);

let project: ReturnType<typeof buildProject>;
const rows: Row[] = [];
beforeAll(() => {
  project = buildProject(join(import.meta.dirname, 'tools.ts'));
});
afterAll(() => {
  project.remove();
  if (rows.length === scenarios.length) writeTable(rows);
});

async function suffer({ run, descriptors }: Scenario, env: Record<string, string>) {
  const victim = await startVictim(project.directory, env, descriptors);
  try {
    const attack = run(victim).then(async (bytes) => {
      await delay(holdMs);
      return bytes;
    });
    const honest = await callHonestly(victim, attack);
    const alive = victim.isAlive();
    const afterwards = alive ? await callHonestly(victim, delay(500)) : undefined;
    const megabytes = victim.peakMegabytes();
    return { bytes: await attack, honest, alive, afterwards, megabytes, limitsMet: [...victim.limitsMet] };
  } finally {
    await victim.kill();
  }
}

describe('a server under attack lives, keeps its memory and answers honest callers afterwards', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const before = await suffer(scenario, unlimited);
    const after = await suffer(scenario, {});
    rows.push({ scenario, before, after });
    expect(after.alive).toBe(true);
    expect(after.megabytes).toBeLessThan(mostResidentMegabytes);
    for (const limit of scenario.limits) expect(after.limitsMet).toContain(limit);
    expect(after.honest.times.length).toBeGreaterThan(0);
    expect(after.afterwards?.times.length).toBeGreaterThan(0);
  });
});
