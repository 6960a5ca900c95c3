import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from './server/http.ts';
import { createHoldings, networkOf } from './server/limits.ts';
import { createLimitReporter, type Log, provide, type ReportLimit } from './server/log.ts';

export interface RunningServer {
  readonly port: number;
  /**
   * Serves for `drainMs` more, while `/ready` answers 503. Then stops accepting connections and waits for running calls. One second
   * before the end of the grace period, which began with the call of this function, it aborts them. At the end it closes every
   * connection.
   */
  stop(): Promise<StopCounts>;
}

/** What did not end by itself while the server stopped. */
export interface StopCounts {
  /** Calls that were answered with `SERVER_STOPPING`. */
  readonly aborted: number;
  /** Requests whose connection was closed before their answer was sent. */
  readonly cut: number;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly requestTimeoutMs: number;
  readonly shutdownGraceMs: number;
  /** Less than `shutdownGraceMs`. */
  readonly drainMs: number;
  readonly maxConnections: number;
  /** Requests that a connection may send without waiting for an answer. */
  readonly maxPipelined: number;
  /** Delay of the event loop beyond which requests are refused, in milliseconds. */
  readonly maxLoopDelayMs: number;
}

interface Connection {
  readonly socket: Socket;
  /** By `performance.now()`. */
  readonly openedAt: number;
  /** Unfinished responses. */
  readonly pending: Set<ServerResponse>;
  /** Whether the head of a request arrived. */
  hasAsked: boolean;
}

/** A connection without a request for so long is silent: callers and proxies send one at once. */
const silentMs = 1_000;
/** Longer than the idle timeouts of common proxies, so that they do not send on a connection that is closing. */
const keepAliveTimeout = 65_000;
/** Parsing tiny headers costs far more than their bytes: 16 KB take half a millisecond. */
const maxHeaderSize = 8_192;
const maxHeaders = 100;
const sweepMs = 50;
/** Time in which a call that is being sent when the server stops may arrive. */
const arrivalMs = 500;
/** Time for the failures of aborted calls to reach their callers; half of a shorter grace period. */
const abortMs = 1_000;
const loadMs = 500;
/** Node accepts one connection per turn of the event loop. A caller that finds the queue full tries again after a second. */
const backlog = 4096;

/** @throws Error with a readable message if the server cannot listen on the address. */
export async function listen(
  app: Pick<App, 'handle' | 'refuse' | 'hasPaid' | 'drain' | 'refuseUnpaid' | 'stopCalls' | 'abortedCalls'>,
  options: ListenOptions,
  log: Log,
): Promise<RunningServer> {
  const { host, port, requestTimeoutMs, shutdownGraceMs, drainMs, maxPipelined } = options;
  const reportLimit = createLimitReporter(log);
  const open = new Map<Socket, Connection>();
  provide('connections', () => ({ value: open.size }));
  const load = watchLoad(options.maxLoopDelayMs);

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = open.get(socket);
    // Node still emits requests that arrived before the connection closed.
    if (socket.destroyed || !connection) return;
    const { pending } = connection;
    connection.hasAsked = true;
    if (pending.add(response).size > maxPipelined) {
      reportLimit('MAX_PIPELINED');
      dropConnection(socket);
      return;
    }
    response.once('close', () => pending.delete(response));
    if (request.rawHeaders.length > 2 * maxHeaders) {
      app.refuse(response, 431, { connection: 'close' });
      return;
    }
    if (load.isHigh() && request.url !== '/health') {
      reportLimit('MAX_LOOP_DELAY_MS');
      app.refuse(response, 503, { 'retry-after': '1', connection: 'close' });
      return;
    }
    // A pipelined request waits until the rest of the read is parsed, because that may close the connection. One in chunks
    // does not: Node would queue them.
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    if (pending.size === 1 || isChunked) void app.handle(request, response);
    else setImmediate(() => socket.destroyed || app.handle(request, response));
  };
  const server = createServer(
    {
      keepAliveTimeout,
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, requestTimeoutMs),
      // By default Node uses the first of two tokens and silently drops the second.
      joinDuplicateHeaders: true,
      maxHeaderSize,
    },
    answer,
  );
  server.maxHeadersCount = 0; // Node drops headers beyond the count in silence, `Authorization` and `Origin` too
  server.on('connection', holdConnections(open, options.maxConnections, app, reportLimit));
  const boundPort = await bind(server, host, port);

  const stop = async () => {
    app.drain();
    if (drainMs > 0) await sleep(drainMs);
    const closing = close(server, open, shutdownGraceMs - drainMs, () => app.stopCalls());
    load.stop();
    app.refuseUnpaid();
    const cut = await closing;
    return { aborted: app.abortedCalls(), cut };
  };
  return { port: boundPort, stop };
}

/** Whether a request waits for its answer or the rest of it. A stream has sent its head, and waits for nothing. */
function isUnanswered({ req, headersSent }: ServerResponse): boolean {
  return req.method === 'POST' || !headersSent;
}

function isRequestRunning(response: ServerResponse): boolean {
  return response.req.complete && isUnanswered(response);
}

function isIdle({ pending }: Connection): boolean {
  return pending.size === 0 || ![...pending].some(isRequestRunning);
}

/** Keeps each new connection in `open`, and ends others when there are too many. */
function holdConnections(
  open: Map<Socket, Connection>,
  limit: number,
  app: Pick<App, 'hasPaid'>,
  reportLimit: ReportLimit,
): (socket: Socket) => void {
  /** Silent connections end first; those that carried a valid token last, unless their network has a quarter of all. */
  const rankOf = ({ socket, openedAt, hasAsked }: Connection, heldConnections: number) => {
    if (!hasAsked) return performance.now() - openedAt > silentMs ? 0 : 1;
    if (app.hasPaid(socket) && heldConnections * 4 <= limit) return 2;
    return 1;
  };
  const connections = createHoldings<Connection>(limit, isIdle, ({ socket }) => socket.destroy(), rankOf);
  return (socket) => {
    const owner = networkOf(socket.remoteAddress ?? ''); // undefined after close
    const connection: Connection = {
      socket,
      openedAt: performance.now(),
      pending: new Set(),
      hasAsked: false,
    };
    open.set(socket, connection);
    socket.once('close', () => {
      for (const response of connection.pending) closePipelined(response);
      open.delete(socket);
      connections.remove(owner, connection);
    });
    if (!connections.add(owner, connection)) reportLimit('MAX_CONNECTIONS');
  };
}

/**
 * Accepts no more connections and closes those that are idle. Calls `stopCalls` shortly before the end of a grace period, and then
 * closes the other connections.
 *
 * @returns the number of requests that were cut off
 */
function close(
  server: Server,
  open: ReadonlyMap<Socket, Connection>,
  graceMs: number,
  stopCalls: () => void,
): Promise<number> {
  let cut = 0;
  const destroy = ({ socket, pending }: Connection) => {
    cut += [...pending].filter(isUnanswered).length;
    socket.destroy();
  };
  return new Promise((resolve) => {
    const lateAt = performance.now() + arrivalMs;
    // Like Node does with those that wait for a further request.
    for (const { socket, hasAsked, openedAt } of open.values())
      if (!hasAsked && performance.now() - openedAt > sweepMs) socket.destroy();
    const sweep = () => {
      const isLate = performance.now() > lateAt;
      for (const connection of open.values()) {
        if (connection.pending.size === 0 || (isLate && isIdle(connection))) destroy(connection);
      }
    };
    // Timers run before what arrived while this process was busy is read.
    const sweeping = setInterval(() => setImmediate(sweep), sweepMs);
    const lastMs = Math.min(abortMs, graceMs / 2);
    let deadline = setTimeout(() => {
      stopCalls();
      // Begins now: after a long turn of the event loop, the failures still get their time.
      deadline = setTimeout(() => {
        for (const connection of open.values()) destroy(connection);
      }, lastMs);
    }, graceMs - lastMs);
    server.close(() => {
      clearInterval(sweeping);
      clearTimeout(deadline);
      resolve(cut);
    });
  });
}

/**
 * Lets a server listen.
 *
 * @param prefix of the variables with its address
 * @returns its port
 * @throws Error that names the variable to change
 */
export async function bind(server: Server, host: string, port: number, prefix = ''): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const portPhrase = prefix === '' ? `Port ${port}` : `${prefix}PORT: port ${port}`;
      const takenMessage = `${portPhrase} is already in use. Stop the program that uses it, or set ${prefix}PORT to a free port.`;
      reject(new Error(isTaken ? takenMessage : `${prefix}HOST or ${prefix}PORT: ${error.message}`));
    });
    server.listen({ port, host, backlog }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Measures how late timers fire. Load is high after two late timers in a row; a single one may be a long computation. */
function watchLoad(maxDelayMs: number): { isHigh(): boolean; stop(): void } {
  let dueAt = performance.now() + loadMs;
  let timesLate = 0;
  const timer = setInterval(() => {
    timesLate = performance.now() - dueAt > maxDelayMs ? timesLate + 1 : 0;
    dueAt = performance.now() + loadMs;
  }, loadMs).unref();
  return { isHigh: () => timesLate > 1, stop: () => clearInterval(timer) };
}

/**
 * Closes a connection and drops the rest of what was read from it, up to 450 requests. Node has no public way to stop its
 * parser. If this way does not work, the rest is parsed first, which takes 11 ms.
 */
function dropConnection(socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => 2; // what follows belongs to another protocol
  socket.destroy();
}

/**
 * Closes a response that waits for its turn. Node closes only the current one with the connection; the others would stay open
 * forever, with the calls and streams that wait for their `close` event.
 */
function closePipelined(response: ServerResponse): void {
  if (response.socket !== null) return;
  response.destroy();
  response.emit('close');
}
