// Listens for HTTP, and refuses requests above the limits of connections and load.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, trackConnections } from './connections.ts';
import type { App } from './server/http-app.ts';
import { createLimitReporter, type Log, provideGauge } from './server/log.ts';
import { closeServer } from './shutdown.ts';

export interface RunningServer {
  readonly port: number;
  /**
   * Serves for `drainMs` more, while `/ready` answers 503. Then stops accepting connections and waits for running calls. One second
   * before the end of the grace period, which began with the call of this function, it aborts them. At the end it closes every
   * connection.
   */
  stop(): Promise<StopCounts>;
}

/** What had to be ended when the server stopped. */
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

/** Longer than the idle timeouts of common proxies, so that they do not send on a connection that is closing. */
const keepAliveTimeout = 65_000;
/** Parsing tiny headers costs far more than their bytes: 16 KB take half a millisecond. */
const maxHeaderSize = 8_192;
const maxHeaders = 100;
/** How often the delay of the event loop is measured, in milliseconds. */
const loadIntervalMs = 500;
/** Node accepts one connection per turn of the event loop. A caller that finds the queue full tries again after a second. */
const backlog = 4096;

/** Listens for HTTP, refuses requests above the limits of connections, and returns the port and `stop`. @throws Error that names the problem */
export async function listen(
  app: Pick<App, 'handle' | 'refuse' | 'hasPaid' | 'drain' | 'refuseUnpaid' | 'stopCalls' | 'abortedCalls'>,
  options: ListenOptions,
  log: Log,
): Promise<RunningServer> {
  const { host, port, requestTimeoutMs, shutdownGraceMs, drainMs, maxPipelined } = options;
  const reportLimit = createLimitReporter(log);
  const openConnections = new Map<Socket, Connection>();
  provideGauge('connections', () => ({ value: openConnections.size }));
  const load = watchLoad(options.maxLoopDelayMs);

  const handleRequest = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = openConnections.get(socket);
    // Node still emits requests that arrived before the connection closed.
    if (socket.destroyed || !connection) return;
    const { pending } = connection;
    connection.hasSentRequest = true;
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
    // The rest of this read may close the connection, so a pipelined request waits until it is parsed. A request in chunks does not
    // wait, because Node would queue the chunks.
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    if (pending.size === 1 || isChunked) {
      void app.handle(request, response);
      return;
    }
    setImmediate(() => {
      if (!socket.destroyed) void app.handle(request, response);
    });
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
    handleRequest,
  );
  server.maxHeadersCount = 0; // Node drops headers beyond the count in silence, `Authorization` and `Origin` too
  server.on('connection', trackConnections(openConnections, options.maxConnections, app, reportLimit));
  const boundPort = await bind(server, host, port);

  const stop = async () => {
    app.drain();
    if (drainMs > 0) await sleep(drainMs);
    const closing = closeServer(server, openConnections, shutdownGraceMs - drainMs, () => app.stopCalls());
    load.stop();
    app.refuseUnpaid();
    const cut = await closing;
    return { aborted: app.abortedCalls(), cut };
  };
  return { port: boundPort, stop };
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
  let dueAt = performance.now() + loadIntervalMs;
  let timesLate = 0;
  const timer = setInterval(() => {
    timesLate = performance.now() - dueAt > maxDelayMs ? timesLate + 1 : 0;
    dueAt = performance.now() + loadIntervalMs;
  }, loadIntervalMs).unref();
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
