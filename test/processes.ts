import { existsSync, readFileSync } from 'node:fs';

/** Whether a process is running; a zombie is not. */
export function isRunning(pid: number | string): boolean {
  try {
    process.kill(Number(pid), 0);
    return !existsSync('/proc/self/stat') || !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
