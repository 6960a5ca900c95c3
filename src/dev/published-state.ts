import { readFileSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject } from 'market-mcp-contract/json';
import { readSealed } from '../project/read/read-files.ts';
import { makeStateDirectory, saveSealed, stateDirectory } from '../project/write/state-directory.ts';
import { neverStarted, type ServerState } from './state.ts';

/**
 * The state that the running `dev` or `marketplace` of a project has published in `.market-mcp/server.json`. That file counts
 * while the process that wrote it runs; without one, the server was never started.
 */
export function publishedState(directory: string): ServerState {
  return liveNote(directory)?.state ?? neverStarted(directory);
}

/** Calls `onChange` after each state that another process publishes for a project, until `signal` is aborted. */
export function watchPublished(directory: string, onChange: () => void, signal: AbortSignal): void {
  const note = serverNotePath(directory);
  watch(dirname(note), { signal, persistent: false }, (_, name) => {
    if (name === basename(note)) onChange();
  });
}

/** Publishes the states of the server that this process runs, in their order, unless another process has published one. @throws CommandError */
export function publisherOf(directory: string): (state: ServerState) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (state) => {
    last = last
      .catch(() => {}) // the caller that published that state has the error
      .then(async () => {
        const pid = liveNote(directory)?.pid ?? process.pid;
        if (pid !== process.pid) return;
        await makeStateDirectory(directory);
        await saveSealed(serverNotePath(directory), { ...ownStamp(), state });
      });
    return last;
  };
}

function liveNote(directory: string): { readonly pid: number; readonly state: ServerState } | undefined {
  const note = readSealed(serverNotePath(directory)) ?? {};
  if (isStampOfRunning(note) && isObject(note.state))
    return { pid: Number(note.pid), state: note.state as unknown as ServerState };
  return undefined;
}

function serverNotePath(directory: string): string {
  return join(directory, stateDirectory, 'server.json');
}

/** A process as Linux's /proc shows it. */
export interface ProcessEntry {
  /** It has ended, and its parent has not asked for its end, which the first process of a container may never do. */
  readonly isZombie: boolean;
  readonly parent: number;
  /** When it started, in ticks since the boot: with its number, it identifies the process. */
  readonly started: string;
}

/** Undefined where there is no /proc or no such process. */
export function processEntry(pid: number): ProcessEntry | undefined {
  try {
    // `1234 (name) S 1233 …`; the name may contain anything.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, parent] = fields;
    return { isZombie: state === 'Z', parent: Number(parent), started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/**
 * Whether a process runs. One that has ended may keep its number for some time.
 *
 * @param ofAnyUser whether those of other users count
 */
export function isProcessRunning(pid: unknown, ofAnyUser = false): boolean {
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!ofAnyUser || (error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return processEntry(pid)?.isZombie !== true;
}

/** The entry in a file about the process that wrote it. */
export interface Stamp {
  readonly pid?: unknown;
  /** As in `ProcessEntry`; absent where there is no /proc. */
  readonly started?: unknown;
}

/** The stamp of this process. */
export function ownStamp(): Stamp {
  return { pid: process.pid, started: processEntry(process.pid)?.started };
}

/** Whether the process of a stamp runs: another one may have got its number. */
export function isStampOfRunning({ pid, started }: Stamp): boolean {
  return isProcessRunning(pid) && (started === undefined || started === processEntry(Number(pid))?.started);
}
