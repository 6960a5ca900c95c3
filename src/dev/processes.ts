import { readFileSync } from 'node:fs';

/** A process as Linux's /proc shows it. */
export interface ProcessEntry {
  /** It has ended, and its parent has not asked for its end, which the first process of a container may never do. */
  readonly isZombie: boolean;
  readonly parent: number;
  /** When it started, in ticks since the boot: with its number, it is never that of another process. */
  readonly started: string;
}

/** Undefined where there is no /proc or no such process. */
export function processEntry(pid: number): ProcessEntry | undefined {
  try {
    // `1234 (name) S 1233 …`; the name may contain anything.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, parent] = fields;
    return { isZombie: state === 'Z', parent: Number(parent), started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/**
 * Whether a process runs. One that has ended may keep its number for some time.
 *
 * @param ofAnyUser whether those of other users count
 */
export function isRunning(pid: unknown, ofAnyUser = false): boolean {
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!ofAnyUser || (error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return processEntry(pid)?.isZombie !== true;
}

/** What a file says of the process that wrote it. */
export interface Stamp {
  readonly pid?: unknown;
  /** As in `ProcessEntry`; absent where there is no /proc. */
  readonly started?: unknown;
}

/** The stamp of this process. */
export function ownStamp(): Stamp {
  return { pid: process.pid, started: processEntry(process.pid)?.started };
}

/** Whether the process of a stamp runs: another one may have got its number. */
export function isStampOfRunning({ pid, started }: Stamp): boolean {
  return isRunning(pid) && (started === undefined || started === processEntry(Number(pid))?.started);
}
