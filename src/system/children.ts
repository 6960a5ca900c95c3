import { setTimeout as delay } from 'node:timers/promises';

/** How long children may take to shut down gracefully, in milliseconds. */
const graceMs = 3_000;
const pollMs = 25;

const running = new Set<number>();
let isEnding = false;
let onChange = (_some: boolean): void => {};

/** Calls back before a child starts, with true, and after one has ended, with whether others run. */
export function watchChildren(listener: (some: boolean) => void): void {
  onChange = listener;
}

/** To be called before a child is started: no signal may come between. */
export function childStarting(): void {
  onChange(true);
}

/** Remembers a child process that leads a process group of its own; undefined where it could not be started. */
export function childStarted(pid: number | undefined): void {
  if (pid !== undefined) running.add(pid);
}

/** Resolves so that the work goes on; never while the children are being ended. */
export async function childEnded(pid: number | undefined): Promise<void> {
  if (isEnding) return new Promise(() => {});
  if (pid !== undefined) running.delete(pid);
  onChange(running.size > 0);
}

/** Ends every child that still runs, with all that it started; by force what takes too long. */
export async function endChildren(): Promise<void> {
  isEnding = true;
  const deadline = Date.now() + graceMs;
  for (const pid of running) signal(pid, 'SIGTERM');
  while ([...running].some((pid) => signal(pid, 0)) && Date.now() < deadline) await delay(pollMs);
  for (const pid of running) signal(pid, 'SIGKILL');
}

/** Whether there was anything to signal. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === 'win32' ? pid : -pid, name);
  } catch {
    return false;
  }
}
