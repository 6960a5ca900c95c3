import { createContext, Script } from 'node:vm';

/** Milliseconds that are plenty for one value and one schema. */
export const taskMs = 1_000;

/** Thrown by `bounded` where the time is up. */
export class Overdue extends Error {}

let context: ReturnType<typeof createContext> | undefined;
let script: Script | undefined;

/**
 * Runs a synchronous task that a stranger's data may make endless (a regular expression that backtracks, a schema that
 * branches without end), and breaks it off after some milliseconds. What the task was changing is then half changed.
 *
 * @throws Overdue, or whatever the task throws.
 */
export function bounded<T>(milliseconds: number, task: () => T): T {
  // Node breaks off only what was started by a script, but then all of it.
  context ??= createContext({ task: undefined });
  script ??= new Script('task()');
  context.task = task;
  try {
    return script.runInContext(context, { timeout: milliseconds });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new Overdue(`took longer than ${milliseconds} ms`, { cause: error });
  } finally {
    context.task = undefined;
  }
}
