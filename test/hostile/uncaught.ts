import { setTimeout } from 'node:timers/promises';

const kinds = ['uncaughtException', 'unhandledRejection'] as const;

/** What would have ended this process while something was done, and in the moment after it. */
export async function uncaughtDuring(act: () => Promise<void>): Promise<readonly unknown[]> {
  const uncaught: unknown[] = [];
  const keep = (error: unknown) => uncaught.push(error);
  for (const kind of kinds) process.on(kind, keep);
  try {
    await act();
    await setTimeout(100); // what a connection says when nobody waits for it any more
    return uncaught;
  } finally {
    for (const kind of kinds) process.off(kind, keep);
  }
}
