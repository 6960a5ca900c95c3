import { existsSync, readFileSync } from 'node:fs';

/** Whether a process runs; one that has ended and that nobody has asked about, a zombie, does not. */
export function isRunning(pid: number | string): boolean {
  try {
    process.kill(Number(pid), 0);
    return !existsSync('/proc/self/stat') || !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
