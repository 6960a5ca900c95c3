import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ProjectError } from './errors.ts';
import { holding } from './lock.ts';
import { type Change, makeChange } from './transaction.ts';

/** What shall be done to a project; null where nothing is to be done. */
export interface Plan {
  readonly change: Change | null;
}

/**
 * Plans a change while no other run can change the project, and makes it: all of it or nothing, also where it is killed.
 *
 * @param plan looks at the project as it is now; what it throws leaves the project as it is.
 * @throws ProjectError `WRITE_FAILED` after everything was taken back, and as `holding` does.
 */
export function changeProject<T extends Plan>(directory: string, plan: () => Promise<T>): Promise<T> {
  return holding(directory, async (staging) => {
    const planned = await plan();
    if (planned.change) write(directory, staging, planned.change);
    return planned;
  });
}

function write(directory: string, staging: string, change: Change): void {
  try {
    makeChange(directory, staging, change);
  } catch (error) {
    const { code, dest, path, message: words } = error as NodeJS.ErrnoException & { readonly dest?: string };
    const message = `cannot change ${dest ?? path ?? directory} (${code ?? words})`;
    const hint = 'Nothing was changed. Fix the cause and run the command again.';
    throw new ProjectError('WRITE_FAILED', message, hint, { cause: error });
  }
  for (const path of change.removed) removeCompiled(directory, path);
}

/** The compiler leaves what it once wrote, and the project's test script would run it. */
function removeCompiled(directory: string, path: string): void {
  rmSync(join(directory, 'dist', path.replace(/\.ts$/, '.js')), { force: true });
}
