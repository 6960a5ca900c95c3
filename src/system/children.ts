import type { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for children to shut down gracefully, in milliseconds. */
const graceMs = 3_000;
const pollMs = 25;

const running = new Set<number>();
let isEnding = false;
let onChange = (_some: boolean): void => {};

/** Calls back with true before a child starts, and after one has ended with whether others are running. */
export function watchChildren(listener: (some: boolean) => void): void {
  onChange = listener;
}

/** Must be called before a child is started, so that no signal is missed in between. */
export function childStarting(): void {
  onChange(true);
}

/** Registers a child process that leads its own process group; undefined if it could not be started. */
export function childStarted(pid: number | undefined): void {
  if (pid !== undefined) running.add(pid);
}

/** Resolves when the program may continue; never while the children are being ended. */
export async function childEnded(pid: number | undefined): Promise<void> {
  if (isEnding) return new Promise(() => {});
  if (pid !== undefined) running.delete(pid);
  onChange(running.size > 0);
}

/** Ends all running children and their descendants, by force after the time limit. */
export async function endChildren(): Promise<void> {
  isEnding = true;
  // Loaded here: every run watches for children, and few have one.
  const { spawnSync } = await import('node:child_process');
  const signal = (pid: number, name: NodeJS.Signals | 0) => signalled(pid, name, spawnSync);
  const deadline = Date.now() + graceMs;
  for (const pid of running) signal(pid, 'SIGTERM');
  while ([...running].some((pid) => signal(pid, 0)) && Date.now() < deadline) await delay(pollMs);
  for (const pid of running) signal(pid, 'SIGKILL');
}

/** Returns whether the process existed. Windows has no process groups and no SIGTERM: there, the whole tree is ended by force. */
function signalled(pid: number, name: NodeJS.Signals | 0, start: typeof spawnSync): boolean {
  try {
    if (process.platform !== 'win32') return process.kill(-pid, name);
    const tree = ['/pid', String(pid), '/t', '/f'];
    const isEnded = name !== 0 && start('taskkill', tree, { stdio: 'ignore' }).status === 0;
    return isEnded || process.kill(pid, name);
  } catch {
    return false;
  }
}
