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
 * @param mayWrite whether the reader keeps up; otherwise lines are dropped, and the next line has their number
 */
export function createLog(write: (lines: string) => void, mayWrite = () => true): Log {
  let lines = '';
  let dropped = 0;
  const flush = () => {
    const ready = lines;
    lines = '';
    if (ready !== '') write(ready);
  };
  const log = (event: string, members?: object) => {
    if (!mayWrite()) {
      dropped++;
      return;
    }
    if (lines === '') setImmediate(flush);
    const line = { time: new Date().toISOString(), event, ...members, ...(dropped > 0 && { dropped }) };
    lines += `${JSON.stringify(line)}\n`;
    dropped = 0;
  };
  return Object.assign(log, { flush });
}

/** Reports that a limit was reached, by its environment variable. */
export type Report = (variable: string) => void;

const reportMs = 10_000;

/** Logs each limit immediately, then at most every ten seconds with the number of times it was reached. */
export function createReport(log: Log): Report {
  const reached = new Map<string, { times: number; nextAt: number }>();
  return (variable) => {
    const entry = reached.get(variable) ?? { times: 0, nextAt: 0 };
    reached.set(variable, entry);
    entry.times++;
    if (Date.now() < entry.nextAt) return;
    log('limit', { variable, times: entry.times });
    reached.set(variable, { times: 0, nextAt: Date.now() + reportMs });
  };
}
