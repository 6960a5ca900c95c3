import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ProjectError } from './errors.ts';
import { liveStagings, makeStaging, removeStaging, staleStagings } from './staging.ts';
import { takeBack } from './transaction.ts';

/** A change takes milliseconds; whoever waits longer than this waits for something that hangs. Milliseconds. */
const timeoutMs = 10_000;

/**
 * Does something that no other run may do in the same project at the same time, after what killed runs left there was
 * taken back.
 *
 * A run holds the project while its staging directory is the only live one there. Whoever finds another one beside its
 * own gives way and tries again: since each makes its own before it looks, no two can find themselves alone.
 *
 * @param work is given its staging directory.
 * @throws ProjectError `BUSY` where another run holds the project for too long, `NOT_WRITABLE`, and what `work` throws.
 */
export async function holding<T>(directory: string, work: (staging: string) => T | Promise<T>): Promise<T> {
  const staging = await hold(directory);
  try {
    for (const stale of staleStagings(directory, staging)) takeBack(directory, stale);
    return await work(staging);
  } finally {
    takeBack(directory, staging);
  }
}

async function hold(directory: string): Promise<string> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const own = stagingIn(directory);
    const [other] = liveStagings(directory, own);
    if (other === undefined) return own;
    removeStaging(own);
    if (Date.now() > deadline) {
      const hint = `Wait until it ends. If no other run is active, remove ${other}.`;
      throw new ProjectError('BUSY', `another run is changing ${directory}: ${basename(other)}`, hint);
    }
    await setTimeout(20 + Math.random() * 80);
  }
}

function stagingIn(directory: string): string {
  try {
    return makeStaging(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const hint = 'Nothing was changed. Make it writable and run the command again.';
    throw new ProjectError('NOT_WRITABLE', `cannot write to ${directory} (${code})`, hint, { cause: error });
  }
}
