// The log, the diagnostics channels, the gauges of the metrics, and request ids.

import { randomBytes } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';

/** Writes an event as one JSON line. Callers never pass arguments or tokens. */
export type Log = (event: string, members?: object) => void;

/** Publishes each line at once, in the async context of its request. A batch has the context of its first line. */
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
    const rest = JSON.stringify(dropped > 0 ? { ...members, dropped } : (members ?? {})).slice(1);
    dropped = 0;
    const text = `{"time":"${timeNow()}","event":"${event}"${rest === '}' ? '' : ','}${rest}\n`;
    if (lines.hasSubscribers) lines.publish(text);
    write(text);
  };
}

let lastTime = { ms: Number.NaN, text: '' };

/** The time in ISO 8601, written once for all lines of a millisecond. */
function timeNow(): string {
  const ms = Date.now();
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() };
  return lastTime.text;
}

/** Writes what is added during one turn of the event loop together: a write takes as long as a small call. */
export function createBatch(write: (lines: string) => void) {
  let lines = '';
  const flush = () => {
    const pendingLines = lines;
    lines = '';
    if (pendingLines !== '') write(pendingLines);
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

/** Maximum length of an error in the log. An error message can contain arguments of the tool. */
export const maxDetail = 4_000;

/** Reports that a limit was reached, by its environment variable. */
export type ReportLimit = (variable: string) => void;

/** Logs each limit immediately, then at most every ten seconds with the number of times it was reached. */
export function createLimitReporter(log: Log): ReportLimit {
  const logThrottled = createThrottledLog(log, 'limit', 10_000);
  return (variable) => {
    publishRefusal(variable);
    logThrottled(variable, { variable });
  };
}

/**
 * Logs an event of each kind immediately, then at most once in a period, with the `times` since the last line.
 *
 * @param kind one of a limited number
 */
export function createThrottledLog(
  log: Log,
  event: string,
  ms: number,
): (kind: string, members: object) => void {
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

/** In channels and metrics, replaces the name of a tool or method that the server does not have: callers may send any name. */
export const unknownName = '_OTHER';

/** The `error.type` of a result with `isError`, in the conventions of OpenTelemetry for MCP. */
export const toolError = 'tool_error';

/** The id of a request and of its trace. */
export interface RequestIds {
  /** Random; the header `x-request-id` of the response, `request` in the log, and the id of an incident. */
  readonly requestId: string;
  /** The trace of the caller; undefined if it names none. */
  readonly traceparent?: string | undefined;
}

/** What the log lines of a request have in common. */
export interface RequestLine {
  /** The id of the request. */
  readonly request: string;
  readonly traceparent?: string | undefined;
}

/** An error of a tool. The caller sees only its id. */
export interface Incident {
  /** The id of the request. */
  readonly id: string;
  readonly traceparent?: string | undefined;
  readonly tool: string;
  /** `INTERNAL_ERROR` or `OUTPUT_MISMATCH`. */
  readonly code: string;
  /** An error, or how the answer differs from the outputSchema, with a stack; a mismatch has none in production. */
  readonly detail: string;
  /** What to do, one sentence. */
  readonly hint?: string;
}

/** The log line of a failure for which a tool gave a cause. The caller gets the code, but nothing of the cause. */
export interface FailureLine extends RequestLine {
  readonly tool: string;
  /** The code that the tool chose. */
  readonly code: string;
  /** The stack of the error and of its causes, without keys. */
  readonly detail: string;
}

/** The log entry of a failed request to a source: never a query, a header or a body. */
export interface SourceLine {
  readonly code: string;
  readonly method?: string;
  readonly host?: string;
  /** As the author wrote it. */
  readonly path?: string;
  /** The HTTP status of the response. */
  readonly status?: number | undefined;
  /** What happened. */
  readonly detail: string;
  /** The place of the author's code, `src/tools/get-gas.ts:24`; absent in production. */
  readonly at?: string | undefined;
  /** What to do, one sentence. */
  readonly hint?: string | undefined;
}

/** A request to a method of MCP. Its channels publish the same object, which is complete at its end. */
export interface Operation extends RequestLine {
  /** `_OTHER` if the server has no such method. */
  readonly method: string;
  /** Of a call; `_OTHER` if the server has no such tool. */
  tool?: string;
  /** `found`, `empty` and `fail` as the tool says, `ok` of other methods, or `error`. */
  outcome?: string;
  /** `tool_error` of a result with `isError`, else the code of the JSON-RPC error. */
  errorType?: string | undefined;
  /** The code of a failed call. */
  code?: string | undefined;
  /** Its duration in milliseconds. */
  ms?: number;
}

/** A request, connection or stream that the server refused or closed. */
export interface Refusal {
  /** The beginning of a reason in the log, the variable of a limit, or `HTTP 404`. One of a limited number. */
  readonly reason: string;
}

/** One attempt of a request to an API. */
export interface Upstream {
  /** With the port, if it is not the default port of the scheme. */
  readonly host: string;
  readonly method: string;
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  readonly ms: number;
}

/** A member of an answer that did not match its schema, and was replaced. */
export interface AnswerDrift {
  readonly tool: string;
  /** Positions in lists and maps are `*`: `answer.items[*].owner`. */
  readonly path: string;
}

/** An answer of a source as it arrived, in the form of the tool, before it is compared with its schema. */
export interface ArrivedAnswer {
  readonly schema: object;
  readonly value: unknown;
  /** The paging headers. */
  readonly headers: { readonly [name: string]: string } | undefined;
}

/** A session that was opened, or ended by its client. */
export interface SessionChange {
  readonly change: 'opened' | 'closed';
}

export const operationStart = channel('market-mcp-runtime:operation:start');
export const operationEnd = channel('market-mcp-runtime:operation:end');
export const refusals = channel('market-mcp-runtime:refusal');
export const upstreams = channel('market-mcp-runtime:upstream');
export const drifts = channel('market-mcp-runtime:drift');
export const arrivals = channel('market-mcp-runtime:answer');
export const sessionChanges = channel('market-mcp-runtime:session');

/** Publishes the start of a request to a method; undefined if nobody subscribes. */
export function startOperation(
  { requestId, traceparent }: RequestIds,
  method: string,
): RunningOperation | undefined {
  if (!operationStart.hasSubscribers && !operationEnd.hasSubscribers) return undefined;
  const operation: Operation = { request: requestId, traceparent, method };
  const startedAt = performance.now();
  operationStart.publish(operation);
  return {
    setResult: (result) => Object.assign(operation, result),
    publishEnd: () => operationEnd.publish(Object.assign(operation, { ms: performance.now() - startedAt })),
  };
}

export interface RunningOperation {
  /** Adds the result to the published object. */
  setResult(result: Pick<Operation, 'tool' | 'outcome' | 'errorType' | 'code'>): void;
  /** Publishes the end of the operation. */
  publishEnd(): void;
}

export function publishRefusal(reason: string): void {
  if (refusals.hasSubscribers) refusals.publish({ reason } satisfies Refusal);
}

export function publishSession(change: SessionChange['change']): void {
  if (sessionChanges.hasSubscribers) sessionChanges.publish({ change } satisfies SessionChange);
}

/** The present value of a gauge, with labels of a limited number of values. */
export interface Reading {
  readonly value: number;
  readonly labels?: { readonly [name: string]: string };
}

/** A number that the metrics read when they are requested. */
export type Gauge =
  | 'ready'
  | 'keys'
  | 'shared'
  | 'calls'
  | 'callsLimit'
  | 'connections'
  | 'streams'
  | 'budgetRemaining';

const gauges = new Map<Gauge, Map<string, () => Reading>>();

/**
 * Sets the function that reads a gauge. A later function replaces an earlier one with the same key, since a process has one server.
 *
 * @param key distinguishes several numbers of one gauge, such as those of different APIs
 */
export function provideGauge(gauge: Gauge, read: () => Reading, key = ''): void {
  const readers = gauges.get(gauge) ?? new Map<string, () => Reading>();
  gauges.set(gauge, readers);
  readers.set(key, read);
}

/** The present values of a gauge; none if no part of the server provides it. */
export function readGauge(gauge: Gauge): readonly Reading[] {
  return [...(gauges.get(gauge)?.values() ?? [])].map((read) => read());
}

/** Only consonants, so that an id contains no word that makes a platform retry: two for each byte. */
const alphabet = Buffer.from('bcdfghjklmnpqrst');
const idBytes = 10;

/** Letters of the next ids. Creating a single id would take 7% of a small call. */
let pool = '';
let poolAt = 0;

/** A random id that identifies a request in the log and, to its caller, an error. */
export function createRequestId(): string {
  if (poolAt === pool.length) {
    const letters = Buffer.alloc(256 * idBytes);
    for (const [at, byte] of randomBytes(128 * idBytes).entries()) {
      letters[2 * at] = alphabet[byte >> 4] as number;
      letters[2 * at + 1] = alphabet[byte & 15] as number;
    }
    pool = letters.toString('latin1');
    poolAt = 0;
  }
  poolAt += 2 * idBytes;
  return pool.slice(poolAt - 2 * idBytes, poolAt);
}
