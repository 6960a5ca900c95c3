import type { Json } from '../../contract/model.ts';

/** Writes events as JSON lines: never arguments of calls, never tokens. */
export interface Log {
  (event: string, members?: { readonly [name: string]: Json | undefined }): void;
  /** Writes out what is still held back. */
  flush(): void;
}

/**
 * A log that gathers the lines of one turn of the event loop and writes them at once.
 *
 * @param write receives whole lines
 */
export function createLog(write: (lines: string) => void = (lines) => process.stdout.write(lines)): Log {
  let lines = '';
  const flush = () => {
    if (lines === '') return;
    const ready = lines;
    lines = '';
    write(ready);
  };
  const log = (event: string, members: { readonly [name: string]: Json | undefined } = {}) => {
    if (lines === '') setImmediate(flush);
    lines += `${JSON.stringify({ time: new Date().toISOString(), event, ...members })}\n`;
  };
  return Object.assign(log, { flush });
}
