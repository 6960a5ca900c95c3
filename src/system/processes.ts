import type { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

/** A child process that has ended. */
export interface ProcessResult {
  /** Undefined if it was ended by a signal or could not be started. */
  readonly exitCode: number | undefined;
  /** It could not be started: the program does not exist. */
  readonly missing: boolean;
  readonly stdout: string;
  /** The last lines of both streams, in the order of arrival. */
  readonly lastLines: readonly string[];
}

export interface ProcessOptions {
  readonly cwd: string;
  /** Added to this process's environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Called for each line of stdout and stderr when it arrives. */
  readonly onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  /** Lines to omit from a report of a failure. */
  readonly isNoise?: (line: string) => boolean;
}

const keptLines = 20;

// execa is loaded when the first process starts, because it is a third of what creating a project loads.

/** A child that reads nothing and leads its own process group, except on Windows. */
const ownOptions = { stdin: 'ignore', reject: false, detached: process.platform !== 'win32' } as const;

/**
 * Runs a program to its end, without a terminal. Never throws because of how it ended. The child leads its own process
 * group, which `endChildren` ends as a whole.
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<ProcessResult> {
  const lastLines: string[] = [];
  const { execa } = await import('execa');
  childStarting();
  const child = execa(command, args, {
    ...ownOptions,
    cwd: options.cwd,
    env: options.env,
    stdout: 'pipe',
    stderr: 'pipe',
    windowsHide: true,
  });
  const { pid } = child;
  childStarted(pid);
  const take = async (stream: 'stdout' | 'stderr') => {
    for await (const line of child.iterable({ from: stream })) {
      options.onLine?.(line, stream);
      if (line.trim() === '' || options.isNoise?.(line)) continue;
      lastLines.push(line);
      if (lastLines.length > keptLines) lastLines.shift();
    }
  };
  try {
    const [result] = await Promise.all([child, take('stdout'), take('stderr')]);
    return {
      exitCode: result.exitCode,
      missing: result.code === 'ENOENT',
      stdout: result.stdout,
      lastLines,
    };
  } finally {
    await childEnded(pid);
  }
}

/** Runs a command line of the system's shell that writes directly to this process's stdout and stderr. Returns the same as `run`. */
export async function runShell(command: string, cwd: string): Promise<Pick<ProcessResult, 'exitCode'>> {
  const { execa } = await import('execa');
  childStarting();
  const child = execa(command, { ...ownOptions, cwd, shell: true, stdout: 'inherit', stderr: 'inherit' });
  const { pid } = child;
  childStarted(pid);
  try {
    const { exitCode } = await child;
    return { exitCode };
  } finally {
    await childEnded(pid);
  }
}

/** Time for children to shut down gracefully, in milliseconds. */
const graceMs = 3_000;
const pollMs = 25;

const running = new Set<number>();
let isEnding = false;
let onStart = (): void => {};

/** Calls back before a child starts. */
export function watchChildren(listener: () => void): void {
  onStart = listener;
}

/** Must be called before a child is started, so that no signal is missed in between. */
export function childStarting(): void {
  onStart();
}

/** Registers a child process that leads its own process group; undefined if it could not be started. */
export function childStarted(pid: number | undefined): void {
  if (pid !== undefined) running.add(pid);
}

/** Resolves when the program may continue; never while the children are being ended. */
export async function childEnded(pid: number | undefined): Promise<void> {
  if (isEnding) return new Promise(() => {});
  if (pid !== undefined) running.delete(pid);
}

/** Ends all running children and their descendants, by force after the time limit. */
export async function endChildren(): Promise<void> {
  isEnding = true;
  if (running.size === 0) return;
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
