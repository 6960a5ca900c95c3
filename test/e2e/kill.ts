import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { bins, create, succeeded, tree } from './support.ts';

/** When to kill a run of the generator. */
export interface Moment {
  /** `write`: the moment when something first appears on disk. */
  readonly from: 'start' | 'write';
  /** Milliseconds after that moment. */
  readonly after: number;
  readonly signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT';
}

const quick = ['--tool', 'get_price', '--yes', '--no-install', '--no-git'];

/** One complete run: its files, and its duration in milliseconds. */
export async function wholeRun(cwd: string): Promise<{ files: readonly string[]; duration: number }> {
  const started = performance.now();
  const { status, stderr } = await create(['whole', ...quick], { cwd });
  expect(status, stderr).toBe(0);
  return { files: [...tree(join(cwd, 'whole')).keys()], duration: performance.now() - started };
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

/**
 * Starts one of our programs in `cwd` and kills it at a moment.
 *
 * @param watched the path that must change for the moment `write`.
 */
export async function endAt(
  program: string,
  args: readonly string[],
  { cwd, moment, watched = cwd }: { cwd: string; moment: Moment; watched?: string },
): Promise<void> {
  const watcher = watch(watched);
  const written = new Promise((resolve) => watcher.once('change', resolve));
  const child = spawn(process.execPath, [program, ...args], { cwd, stdio: 'ignore' });
  const ended = once(child, 'exit');
  if (moment.from === 'write') await Promise.race([written, ended]);
  await Promise.race([delay(moment.after), ended]);
  child.kill(moment.signal);
  await ended;
  watcher.close();
}
