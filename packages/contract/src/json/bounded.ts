import { createContext, Script } from 'node:vm';

/** Milliseconds of CPU time, enough for one value and one schema. */
export const taskTimeLimitMs = 1_000;

/** Thrown by `runWithTimeLimit` when the time is up. */
export class TimeLimitExceeded extends Error {}

let context: ReturnType<typeof createContext> | undefined;
let script: Script | undefined;

/**
 * Runs a synchronous task that untrusted data can make endless (a regular expression that backtracks, a schema that
 * branches without end), and stops it after some milliseconds of CPU time. On a machine that is too
 * busy to grant them in time, the task is run again with more time, so it must tolerate being stopped and repeated.
 *
 * @throws TimeLimitExceeded, or whatever the task throws.
 */
export function runWithTimeLimit<T>(milliseconds: number, task: () => T): T {
  // Node stops only code that a script started, but then all of it.
  context ??= createContext({ task: undefined });
  script ??= new Script('task()');
  context.task = task;
  try {
    for (let timeout = milliseconds; ; timeout *= 2) {
      const before = processorMs();
      try {
        return script.runInContext(context, { timeout });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
        if (processorMs() - before < milliseconds * granted) continue;
        throw new TimeLimitExceeded(`took longer than ${milliseconds} ms`, { cause: error });
      }
    }
  } finally {
    context.task = undefined;
  }
}

/** The share of CPU time that an endless task gets on a machine that is not too busy. */
const granted = 0.8;

/** The CPU time of this process in milliseconds. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
