import { createContext, Script } from 'node:vm';

/** Milliseconds of a processor that are plenty for one value and one schema. */
export const taskMs = 1_000;

/** Thrown by `bounded` where the time is up. */
export class Overdue extends Error {}

let context: ReturnType<typeof createContext> | undefined;
let script: Script | undefined;

/**
 * Runs a synchronous task that untrusted data may make endless (a regular expression that backtracks, a schema that
 * branches without end), and breaks it off after it has had a processor for some milliseconds. On a machine that is too
 * busy to grant them in time, the task is run anew and given longer: it must bear being broken off and run again.
 *
 * @throws Overdue, or whatever the task throws.
 */
export function bounded<T>(milliseconds: number, task: () => T): T {
  // Node breaks off only what was started by a script, but then all of it.
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
        throw new Overdue(`took longer than ${milliseconds} ms`, { cause: error });
      }
    }
  } finally {
    context.task = undefined;
  }
}

/** The share of its time for which an endless task has a processor on a machine that is not too busy. */
const granted = 0.8;

/** Milliseconds for which this process has had a processor. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
