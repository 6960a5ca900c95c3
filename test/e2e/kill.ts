import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bins, create, run, scratch, succeeded, tree } from './support.ts';

/** When to kill a run of a program. */
export interface Moment {
  /** The number of changes in its working directory, after the last of which the signal is sent; 0 before it starts. */
  readonly afterWrite: number;
  readonly signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT';
}

/**
 * Returns the write after which a run is killed. The first run ends before all writes, the second after the last one. Half of
 * the others end in the last quarter, in which files are replaced.
 */
export function randomWrite(random: () => number, run: number, writes: number): number {
  if (run === 0) return 0;
  if (run === 1) return writes;
  const share = run % 2 === 0 ? 1 : 0.25;
  return writes - Math.floor(random() * writes * share);
}

const quick = ['--tool', 'get_price', '--yes', '--no-install', '--no-git'];
const preload = join(import.meta.dirname, 'kill-after-write.cjs');
const counts = scratch();

/** Runs a program to its end. Returns its result, and the number of changes in its working directory. */
export async function countWrites(program: string, args: readonly string[], cwd: string) {
  const file = join(counts, 'writes');
  const env = { WRITES_FILE: file };
  const result = await run(process.execPath, ['--require', preload, program, ...args], { cwd, env });
  return { result, writes: Number(readFileSync(file, 'utf8')) };
}

/** One complete run: its files, and the number of its writes. */
export async function wholeRun(cwd: string): Promise<{ files: readonly string[]; writes: number }> {
  const { result, writes } = await countWrites(bins.create, ['whole', ...quick], cwd);
  expect(result.status, result.stderr).toBe(0);
  return { files: [...tree(join(cwd, 'whole')).keys()], writes };
}

/**
 * Kills one run at each moment, in a separate directory, and checks that it left nothing or all of `files`, and that
 * the next run succeeds. Returns how often each was the case.
 */
export async function endRuns(
  cwd: string,
  files: readonly string[],
  moments: readonly Moment[],
): Promise<{ nothing: number; everything: number }> {
  const seen = { nothing: 0, everything: 0 };
  for (const [index, moment] of moments.entries()) {
    const name = `tool-${index}`;
    await endAt(bins.create, [name, ...quick], { cwd, moment });
    const left = [...tree(join(cwd, name)).keys()];
    if (left.length > 0) expect(left, JSON.stringify(moment)).toEqual(files);
    seen[left.length > 0 ? 'everything' : 'nothing'] += 1;
    await succeeded(create([name, ...quick, ...(left.length > 0 ? ['--force'] : [])], { cwd }));
  }
  expect(readdirSync(cwd).filter((name) => !/^(whole|tool-\d+)$/.test(name))).toEqual([]);
  return seen;
}

/** Starts one of our programs in `cwd` and lets it be killed at a moment. */
export async function endAt(
  program: string,
  args: readonly string[],
  { cwd, moment }: { cwd: string; moment: Moment },
): Promise<void> {
  const env = { ...process.env, KILL_AFTER_WRITE: String(moment.afterWrite), KILL_SIGNAL: moment.signal };
  const child = spawn(process.execPath, ['--require', preload, program, ...args], {
    cwd,
    env,
    stdio: 'ignore',
  });
  await once(child, 'exit');
}
