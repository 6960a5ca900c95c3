import type { ChildProcess } from 'node:child_process';
import { childEnded, childStarted, childStarting } from './children.ts';

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

/** A child leads its own process group, except on Windows. */
const own = { detached: process.platform !== 'win32' } as const;

/**
 * Runs a program to its end, without a terminal and without input. Never throws because of how it ended. The child leads its own
 * process group, which `endChildren` ends as a whole.
 */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env, onLine, isNoise }: ProcessOptions,
): Promise<ProcessResult> {
  // Starts the scripts of Windows, too: npm is one there. Loaded here: few runs start a program.
  const { default: spawn } = await import('cross-spawn');
  const lastLines: string[] = [];
  let stdout = '';
  childStarting();
  const child = spawn(command, args, {
    ...own,
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  childStarted(child.pid);
  const take = (line: string, name: 'stdout' | 'stderr') => {
    onLine?.(line, name);
    if (line.trim() === '' || isNoise?.(line)) return;
    lastLines.push(line);
    if (lastLines.length > keptLines) lastLines.shift();
  };
  for (const name of ['stdout', 'stderr'] as const) {
    let rest = '';
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      if (name === 'stdout') stdout += text;
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) take(line, name);
    });
    child[name]?.on('end', () => rest !== '' && take(rest, name));
  }
  const { exitCode, error } = await endOf(child);
  return { exitCode, missing: error?.code === 'ENOENT', stdout: stdout.replace(/\r?\n$/, ''), lastLines };
}

/** Runs a command line of the system's shell that writes directly to this process's stdout and stderr. Returns the same as `run`. */
export async function runShell(command: string, cwd: string): Promise<Pick<ProcessResult, 'exitCode'>> {
  const { spawn } = await import('node:child_process');
  childStarting();
  const child = spawn(command, { ...own, cwd, shell: true, stdio: ['ignore', 'inherit', 'inherit'] });
  childStarted(child.pid);
  return endOf(child);
}

/** Resolves when a child has ended and all that it wrote has arrived; with an error if it could not be started. */
async function endOf(
  child: ChildProcess,
): Promise<{ exitCode: number | undefined; error: NodeJS.ErrnoException | undefined }> {
  let error: NodeJS.ErrnoException | undefined;
  child.once('error', (cause) => {
    error = cause;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  await childEnded(child.pid);
  return { exitCode: error ? undefined : (code ?? undefined), error };
}
