import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endRuns, type Moment, wholeRun } from '../e2e/kill.ts';
import { scratch } from '../e2e/support.ts';
import { pick, randomFrom, seed } from '../random.ts';
import { record } from './figures.ts';

const kills = process.env.NIGHTLY ? 50 : 16;
/** Half of the runs are killed while they write files, which takes a small part of a run. */
const longestWrite = 30;

const signals: readonly Moment['signal'][] = ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGINT'];

const root = scratch();

it(`a generator killed at ${kills} random moments leaves nothing or everything`, async () => {
  const cwd = join(root, 'killed');
  mkdirSync(cwd);
  const { files, duration } = await wholeRun(cwd);
  const random = randomFrom(seed);
  const moments = Array.from({ length: kills }, (_, index): Moment => {
    const signal = pick(random, signals);
    return index % 2 === 0
      ? { from: 'start', after: random() * duration, signal }
      : { from: 'write', after: random() * longestWrite, signal };
  });
  const seen = await endRuns(cwd, files, moments);
  record('kills', { seed, kills, ...seen });
  expect(seen.nothing + seen.everything).toBe(kills);
});
