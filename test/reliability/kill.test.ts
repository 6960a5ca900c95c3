import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endRuns, type Moment, randomWrite, wholeRun } from '../e2e/kill.ts';
import { scratch } from '../e2e/support.ts';
import { pick, randomFrom, seed } from '../random.ts';
import { record } from './figures.ts';

const kills = process.env.NIGHTLY ? 50 : 16;
const signals: readonly Moment['signal'][] = ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGINT'];

const root = scratch();

it(`a generator killed at ${kills} random moments leaves nothing or everything`, async () => {
  const cwd = join(root, 'killed');
  mkdirSync(cwd);
  const { files, writes } = await wholeRun(cwd);
  const random = randomFrom(seed);
  const moments = Array.from({ length: kills }, (_, index): Moment => {
    return { afterWrite: randomWrite(random, index, writes), signal: pick(random, signals) };
  });
  const seen = await endRuns(cwd, files, moments);
  record('kills', { seed, kills, ...seen });
  expect(seen.nothing).toBeGreaterThan(0);
  expect(seen.everything).toBeGreaterThan(0);
});
