import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

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
  const isGone = () => process.ppid !== parent || (above !== undefined && !isAlive(above));
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
    const stat = `/proc/${pid}/stat`;
    // `1234 (name) S 1233 …`; the name may contain anything.
    const parent = Number(
      existsSync(stat)
        ? readFileSync(stat, 'utf8').split(')').at(-1)?.trim().split(' ')[1]
        : execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }),
    );
    return parent > 1 ? parent : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
