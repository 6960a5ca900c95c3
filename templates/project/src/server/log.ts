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
 */
export function createLog(write: (lines: string) => void): Log {
  let lines = '';
  const flush = () => {
    const ready = lines;
    lines = '';
    if (ready !== '') write(ready);
  };
  const log = (event: string, members: object = {}) => {
    if (lines === '') setImmediate(flush);
    lines += `${JSON.stringify({ time: new Date().toISOString(), event, ...members })}\n`;
  };
  return Object.assign(log, { flush });
}
