import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 300;

/**
 * Yields after each change of the sources or the `.env` of a project, until the signal aborts. Polling works
 * on every file system, and a source tree is small.
 */
export async function* changesOf(directory: string, signal: AbortSignal): AsyncGenerator<void> {
  let known = sourceVersion(directory);
  while (!signal.aborted) {
    const seen = sourceVersion(directory);
    if (seen !== known) yield;
    known = seen;
    await delay(pollMs, undefined, { signal }).catch(() => {});
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
