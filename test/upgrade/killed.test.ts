import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { endAt, type Moment } from '../e2e/kill.ts';
import { bins, scratch } from '../e2e/support.ts';
import { randomFrom, seed } from '../random.ts';
import { editsOf } from './edits.ts';
import { bytesOf, oldProject, resultOf, upgrade } from './scenario.ts';

const isWhole = process.env.UPGRADES_PAGE !== undefined;
const kills = isWhole ? 50 : 8;
/** Longer than it takes to write all files after the first one in `watched`, in milliseconds. */
const longestWrite = 100;
/** A directory whose files change in the middle of the upgrade. */
const watched = 'src';
const root = scratch();
const random = randomFrom(seed);

/** A project before an upgrade that ends in a conflict, and after it. */
let before = '';
let after = '';
let duration = 0;

beforeAll(async () => {
  const names = ['package.json: another dev script', 'runtime: a header', 'README.md: a section'];
  const version = '0.1.0';
  const chosen = editsOf(version).filter(({ name }) => names.includes(name));
  const { project } = await oldProject({ root, version, index: 0, seed, chosen });
  before = project.directory;
  after = copy('after');
  const started = performance.now();
  expect(resultOf(await upgrade(after)).details).toHaveLength(2);
  duration = performance.now() - started;
});

it(`an upgrade killed at ${kills} random moments has not begun or waits for its author`, async () => {
  const seen = { before: 0, after: 0 };
  for (let i = 0; i < kills; i += 1) {
    const moment = momentOf(i, duration);
    const killed = copy('killed');
    await endAt(bins.market, ['upgrade', '--no-install', '--json'], {
      cwd: killed,
      moment,
      watched: join(killed, watched),
    });
    seen[await settle(killed, JSON.stringify(moment))] += 1;
    rmSync(killed, { recursive: true });
  }
  console.log(`killed ${kills} times: ${seen.before} as before, ${seen.after} as after`);
  expect(seen.before).toBeGreaterThan(0);
}, 600_000);

/** The next run finds the project either unchanged, and upgrades it, or upgraded, and undoes or continues the upgrade. */
async function settle(killed: string, moment: string): Promise<'before' | 'after'> {
  const next = await upgrade(killed, '--continue');
  const state = bytesOf(killed);
  if (isDeepStrictEqual(state, bytesOf(before))) {
    expect(JSON.parse(next.stderr).error.code, moment).toBe('NO_UPGRADE');
    expect(resultOf(await upgrade(killed)).details, moment).toHaveLength(2);
    expect(bytesOf(killed), moment).toEqual(bytesOf(after));
    return 'before';
  }
  expect(state, moment).toEqual(bytesOf(after));
  expect(JSON.parse(next.stderr).error.code, moment).toBe('UPGRADE_CONFLICTS');
  const aborted = await upgrade(killed, '--abort');
  expect(aborted.status, aborted.stderr).toBe(0);
  expect(bytesOf(killed), moment).toEqual(bytesOf(before));
  return 'after';
}

it('an undo killed at any moment leaves the upgrade waiting or undone', async () => {
  const seen = { waiting: 0, gone: 0 };
  const whole = join(root, 'whole');
  cpSync(after, whole, { recursive: true });
  const started = performance.now();
  await upgrade(whole, '--abort');
  const undo = performance.now() - started;
  for (let i = 0; i < kills / 2; i += 1) {
    const killed = join(root, 'killed');
    cpSync(after, killed, { recursive: true });
    const moment = momentOf(i, undo);
    await endAt(bins.market, ['upgrade', '--abort', '--json'], {
      cwd: killed,
      moment,
      watched: join(killed, watched),
    });
    const again = await upgrade(killed, '--abort');
    const isGone = again.status !== 0;
    if (isGone) expect(JSON.parse(again.stderr).error.code).toBe('NO_UPGRADE');
    expect(bytesOf(killed), JSON.stringify(moment)).toEqual(bytesOf(before));
    seen[isGone ? 'gone' : 'waiting'] += 1;
    rmSync(killed, { recursive: true });
  }
  console.log(`taken back: ${seen.waiting} waited, ${seen.gone} were gone`);
}, 600_000);

/** @param duration of the whole run, in milliseconds */
function momentOf(i: number, duration: number): Moment {
  return i % 2 === 0
    ? { from: 'start', after: random() * duration * 1.1, signal: 'SIGKILL' }
    : { from: 'write', after: random() * longestWrite, signal: 'SIGKILL' };
}

function copy(name: string): string {
  const to = join(root, name);
  cpSync(before, to, { recursive: true });
  return to;
}
