/** Writes an event with its members as one JSON line: never arguments of calls, never tokens. */
export interface Log {
  (event: string, members?: object): void;
  /** Writes out what is still held back. */
  flush(): void;
}

/**
 * A log that gathers the lines of one turn of the event loop and writes them at once.
 *
 * @param write receives whole lines
 * @param mayWrite whether the reader keeps up; lines that it does not are dropped, and their number is said later
 */
export function createLog(write: (lines: string) => void, mayWrite = () => true): Log {
  let lines = '';
  let dropped = 0;
  const flush = () => {
    const ready = lines;
    lines = '';
    if (ready === '') return;
    if (mayWrite()) {
      const said = dropped > 0 ? lineOf('dropped', { lines: dropped }) : '';
      dropped = 0;
      write(said + ready);
    } else dropped += ready.split('\n').length - 1;
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

/** Says that a limit was met, by its environment variable. */
export type Report = (variable: string) => void;

const reportMs = 10_000;

/** A report that logs each limit at once, then at most every ten seconds with the number of times it was met. */
export function createReport(log: Log): Report {
  const met = new Map<string, { times: number; saidAt: number }>();
  return (variable) => {
    const entry = met.get(variable) ?? { times: 0, saidAt: Number.NEGATIVE_INFINITY };
    met.set(variable, entry);
    entry.times++;
    if (Date.now() < entry.saidAt + reportMs) return;
    log('limit', { variable, times: entry.times });
    entry.times = 0;
    entry.saidAt = Date.now();
  };
}
