import { channel } from 'node:diagnostics_channel';
import { publishRefusal } from './channels.ts';

/** Writes an event as one JSON line. Callers never pass arguments or tokens. */
export type Log = (event: string, members?: object) => void;

/** Gets each line as it arises, in the context of its request: what is written together is written in the context of the first. */
const lines = channel('market-mcp-runtime:log');

/**
 * A log of one JSON object for each event: `{"time":"…","event":"call",…}`.
 *
 * @param write receives each line at once, with its line end
 * @param mayWrite whether the reader keeps up; otherwise lines are dropped, and the next line has their number
 */
export function createLog(write: (lines: string) => void, mayWrite = () => true): Log {
  let dropped = 0;
  return (event, members) => {
    if (!mayWrite()) {
      dropped++;
      return;
    }
    const line = { time: new Date().toISOString(), event, ...members, ...(dropped > 0 && { dropped }) };
    dropped = 0;
    const text = `${JSON.stringify(line)}\n`;
    if (lines.hasSubscribers) lines.publish(text);
    write(text);
  };
}

/** Writes what is added during one turn of the event loop together: a write takes as long as a small call. */
export function createBatch(write: (lines: string) => void) {
  let lines = '';
  const flush = () => {
    const ready = lines;
    lines = '';
    if (ready !== '') write(ready);
  };
  return {
    add(line: string): void {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
    /** Writes the rest, before the process ends. */
    flush,
  };
}

/** Length limit of an error in the log: its message can contain whatever the tool was sent. */
export const maxDetail = 4_000;

/** Reports that a limit was reached, by its environment variable. */
export type Report = (variable: string) => void;

/** Logs each limit immediately, then at most every ten seconds with the number of times it was reached. */
export function createReport(log: Log): Report {
  const count = createCount(log, 'limit', 10_000);
  return (variable) => {
    publishRefusal(variable);
    count(variable, { variable });
  };
}

/**
 * Logs an event of each kind immediately, then at most once in a period, with the `times` since the last line.
 *
 * @param kind one of a limited number
 */
export function createCount(log: Log, event: string, ms: number): (kind: string, members: object) => void {
  const kinds = new Map<string, { times: number; nextAt: number }>();
  return (kind, members) => {
    const entry = kinds.get(kind) ?? { times: 0, nextAt: 0 };
    kinds.set(kind, entry);
    entry.times++;
    if (Date.now() < entry.nextAt) return;
    log(event, { ...members, times: entry.times });
    kinds.set(kind, { times: 0, nextAt: Date.now() + ms });
  };
}
