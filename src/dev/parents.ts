import { execFileSync } from 'node:child_process';
import { isRunning, processEntry } from './processes.ts';

const pollMs = 500;

/**
 * Calls back when the package manager that runs this process as a script is gone. A package manager that is killed passes
 * no signal on, and the shell in between ends nothing: otherwise, `kill` of `npm run dev` would leave the server behind.
 *
 * @returns a function that stops watching.
 */
export function onParentExit(listener: () => void, env: NodeJS.ProcessEnv = process.env): () => void {
  if (env.npm_lifecycle_event === undefined || process.platform === 'win32') return () => {};
  const parent = process.ppid;
  const above = parentOf(parent);
  const isGone = () => process.ppid !== parent || (above !== undefined && !isRunning(above, true));
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    listener();
  }, pollMs);
  return () => clearInterval(timer);
}

/** Undefined if there is no parent or it cannot be determined. */
function parentOf(pid: number): number | undefined {
  try {
    const listed = () => Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
    const parent = processEntry(pid)?.parent ?? listed();
    return parent > 1 ? parent : undefined;
  } catch {
    return undefined;
  }
}
