import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 300;

/**
 * Yields after files below a directory changed, came or went, until the signal aborts. Polls: that misses nothing on
 * any file system, and a source tree is small.
 */
export async function* changesBelow(directory: string, signal: AbortSignal): AsyncGenerator<void> {
  let known = snapshot(directory);
  while (!signal.aborted) {
    const seen = snapshot(directory);
    if (seen !== known) yield;
    known = seen;
    await delay(pollMs, undefined, { signal }).catch(() => {});
  }
}

function snapshot(directory: string): string {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${statSync(path.join(directory, name), { throwIfNoEntry: false })?.mtimeMs}`)
    .join('\n');
}
