import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 300;
/** An editor may empty a file a moment before it writes it. */
const settleMs = 100;

/**
 * Yields after each change of the sources or the `.env` of a project, once nothing changes any more, until the signal aborts. Polling
 * works on every file system, and a source tree is small.
 */
export async function* changesOf(directory: string, signal: AbortSignal): AsyncGenerator<void> {
  // It rejects when the signal aborts, which the loops read from the signal.
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  let knownVersion = sourceVersion(directory);
  while (!signal.aborted) {
    let currentVersion = sourceVersion(directory);
    if (currentVersion !== knownVersion) {
      for (
        let before = '';
        currentVersion !== before && !signal.aborted;
        currentVersion = sourceVersion(directory)
      ) {
        before = currentVersion;
        await pause(settleMs);
      }
      yield;
    }
    knownVersion = currentVersion;
    await pause(pollMs);
  }
}

/** A text that changes with the sources and the `.env` of a project. */
export function sourceVersion(directory: string): string {
  const sources = path.join(directory, 'src');
  const names = readdirSync(sources, { recursive: true, encoding: 'utf8' });
  return [...names.map((name) => path.join(sources, name)), path.join(directory, '.env')]
    .map((file) => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`)
    .join('\n');
}
