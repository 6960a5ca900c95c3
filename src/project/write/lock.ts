import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { CommandError } from 'market-mcp-contract/command';
import { liveStagings, makeStaging, removeStaging, staleStagings } from './staging.ts';
import { rollBack } from './transaction.ts';

/** Milliseconds for one other run. A change takes milliseconds, so a longer wait means that it hangs. */
const timeoutMs = 10_000;

/**
 * Runs `work` while no other run can change the same project, after the leftovers of killed runs were undone.
 *
 * A run holds the project while its staging directory is the only live one there. A run that finds another one beside
 * its own removes its own and retries. Each run looks again when it has created its directory, so two runs cannot both find
 * themselves alone; it creates none while there is another, so those that wait do not keep each other waiting.
 *
 * @param work gets its staging directory.
 * @throws CommandError `BUSY` if another run holds the project for too long, `NOT_WRITABLE`, and the errors of `work`.
 */
export async function withProjectLock<T>(
  directory: string,
  work: (staging: string) => T | Promise<T>,
): Promise<T> {
  const staging = await acquireLock(directory);
  try {
    for (const stale of staleStagings(directory, staging)) rollBack(directory, stale);
    return await work(staging);
  } finally {
    rollBack(directory, staging);
  }
}

async function acquireLock(directory: string): Promise<string> {
  let holder: string | undefined;
  let deadline = 0;
  for (;;) {
    let [otherStaging] = liveStagings(directory);
    if (otherStaging === undefined) {
      const ownStaging = stagingIn(directory);
      [otherStaging] = liveStagings(directory, ownStaging);
      if (otherStaging === undefined) return ownStaging;
      removeStaging(ownStaging);
    }
    if (otherStaging !== holder) deadline = Date.now() + timeoutMs;
    holder = otherStaging;
    if (Date.now() > deadline) {
      const hint = `Wait until it ends. If no other run is active, remove ${otherStaging}.`;
      throw new CommandError('BUSY', `another run is changing ${directory}: ${basename(otherStaging)}`, hint);
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
    throw new CommandError('NOT_WRITABLE', `cannot write to ${directory} (${code})`, hint, { cause: error });
  }
}
