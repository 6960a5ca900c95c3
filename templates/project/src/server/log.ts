/** Writes an event as one JSON line. Callers never pass arguments or tokens. */
export interface Log {
  (event: string, members?: object): void;
  /** Writes the buffered lines. */
  flush(): void;
}

/**
 * A log that buffers the lines of one turn of the event loop and writes them together.
 *
 * @param write receives complete lines
 * @param mayWrite whether the reader keeps up; otherwise lines are dropped, and their number is logged later
 */
export function createLog(write: (lines: string) => void, mayWrite = () => true): Log {
  let lines = '';
  let dropped = 0;
  const flush = () => {
    const ready = lines;
    lines = '';
    if (ready === '') return;
    if (!mayWrite()) {
      dropped += ready.split('\n').length - 1;
      return;
    }
    write(dropped > 0 ? lineOf('dropped', { lines: dropped }) + ready : ready);
    dropped = 0;
  };
  const log = (event: string, members: object = {}) => {
    if (lines === '') setImmediate(flush);
    lines += lineOf(event, members);
  };
  return Object.assign(log, { flush });
}

function lineOf(event: string, members: object): string {
  return `${JSON.stringify({ time: new Date().toISOString(), event, ...members })}\n`;
}

/** Reports that a limit was reached, by its environment variable. */
export type Report = (variable: string) => void;

const reportMs = 10_000;

/** Logs each limit immediately, then at most every ten seconds with the number of times it was reached. */
export function createReport(log: Log): Report {
  const reached = new Map<string, { times: number; loggedAt: number }>();
  return (variable) => {
    const entry = reached.get(variable) ?? { times: 0, loggedAt: Number.NEGATIVE_INFINITY };
    reached.set(variable, entry);
    entry.times++;
    if (Date.now() < entry.loggedAt + reportMs) return;
    log('limit', { variable, times: entry.times });
    entry.times = 0;
    entry.loggedAt = Date.now();
  };
}
