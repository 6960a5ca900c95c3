import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { countWrites, endAt, type Moment, randomWrite } from '../e2e/kill.ts';
import { run, scratch } from '../e2e/support.ts';
import { randomFrom, seed } from '../random.ts';
import { nextProgram } from './next-program.ts';
import { bytesOf, makeOldProject, resultOf } from './scenario.ts';

const isWhole = process.env.UPGRADES_PAGE !== undefined;
const kills = isWhole ? 50 : 8;
const root = scratch();
const random = randomFrom(seed);
const flags = ['upgrade', '--no-install', '--json'];

/** A project before an upgrade that ends in a conflict, and after it. */
let before = '';
let after = '';
let next = '';
/** The number of changes that a whole upgrade makes in the project. */
let writes = 0;

beforeAll(async () => {
  next = nextProgram(join(root, 'next'));
  before = join(root, 'before');
  const edit = (directory: string) => {
    const file = join(directory, 'tsconfig.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"es2023"', '"es2025"'));
  };
  await makeOldProject({ directory: before, version: '0.3.0', random: randomFrom(seed), edit });
  after = copy('after');
  const whole = await countWrites(next, flags, after);
  expect(resultOf(whole.result).details).toHaveLength(1);
  writes = whole.writes;
});

it(`an upgrade killed at ${kills} random moments has not begun or waits for its author`, async () => {
  const seen = { before: 0, after: 0 };
  for (let i = 0; i < kills; i += 1) {
    const moment: Moment = { afterWrite: randomWrite(random, i, writes), signal: 'SIGKILL' };
    const killed = copy('killed');
    await endAt(next, flags, { cwd: killed, moment });
    seen[await settle(killed, JSON.stringify(moment))] += 1;
    rmSync(killed, { recursive: true });
  }
  console.log(`killed ${kills} times: ${seen.before} as before, ${seen.after} as after`);
  expect(seen.before).toBeGreaterThan(0);
  expect(seen.after).toBeGreaterThan(0);
});

/** The next run finds the project either as it was, and upgrades it, or upgraded, with the conflict. */
async function settle(killed: string, moment: string): Promise<'before' | 'after'> {
  // It undoes what an unfinished run has left, and writes nothing.
  const dry = await run(process.execPath, [next, ...flags, '--dry-run'], { cwd: killed });
  const isBefore = isDeepStrictEqual(bytesOf(killed), bytesOf(before));
  expect(dry.status, moment).toBe(isBefore ? 0 : 1);
  expect((await upgrade(killed)).status, moment).toBe(1);
  expect(bytesOf(killed), moment).toEqual(bytesOf(after));
  return isBefore ? 'before' : 'after';
}

function upgrade(cwd: string) {
  return run(process.execPath, [next, ...flags], { cwd });
}

function copy(name: string): string {
  const to = join(root, name);
  cpSync(before, to, { recursive: true });
  return to;
}
