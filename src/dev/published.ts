import { watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject } from 'market-mcp-contract/json';
import { readSealed } from '../project/read/read.ts';
import { makeStateDirectory, saveSealed, stateDirectory } from '../project/write/state-directory.ts';
import { isStampOfRunning, ownStamp } from './processes.ts';
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
  const note = noteOf(directory);
  watch(dirname(note), { signal, persistent: false }, (_, name) => {
    if (name === basename(note)) onChange();
  });
}

/** Publishes the states of the server that this process runs, in their order, unless another process has published one. @throws CommandError */
export function publisherOf(directory: string): (state: ServerState) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (state) => {
    last = last
      .catch(() => {})
      .then(async () => {
        const pid = liveNote(directory)?.pid ?? process.pid;
        if (pid !== process.pid) return;
        await makeStateDirectory(directory);
        await saveSealed(noteOf(directory), { ...ownStamp(), state });
      });
    return last;
  };
}

function liveNote(directory: string): { readonly pid: number; readonly state: ServerState } | undefined {
  const note = readSealed(noteOf(directory)) ?? {};
  return isStampOfRunning(note) && isObject(note.state)
    ? { pid: Number(note.pid), state: note.state as unknown as ServerState }
    : undefined;
}

function noteOf(directory: string): string {
  return join(directory, stateDirectory, 'server.json');
}
