import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from './http.ts';

export interface RunningServer {
  readonly port: number;
  /** Stops accepting, lets running calls finish within the grace period, then closes every connection. */
  stop(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 stands for any free port. */
  readonly port: number;
  readonly requestTimeoutMs: number;
  readonly shutdownGraceMs: number;
}

/** Longer than the idle time-outs of common proxies, so that they never send into a connection being closed. */
const keepAliveTimeout = 65_000;
const sweepMs = 50;

/**
 * Listens for requests.
 *
 * @throws Error in words where the address cannot be listened on.
 */
export async function listen(
  app: Pick<App, 'handle' | 'closeStreams'>,
  options: ListenOptions,
): Promise<RunningServer> {
  const { host, port, requestTimeoutMs, shutdownGraceMs } = options;
  let unanswered = 0;
  const server = createServer(
    {
      keepAliveTimeout,
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, requestTimeoutMs),
      // By default the first of two tokens would count and the second be dropped unseen.
      joinDuplicateHeaders: true,
    },
    (request, response) => {
      unanswered++;
      response.once('close', () => unanswered--);
      closeWithConnection(request, response);
      void app.handle(request, response);
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Error(inWords(error, options))));
    server.listen(port, host, resolve);
  });

  const stop = () =>
    new Promise<void>((resolve) => {
      // A connection that never carried a request does not count as idle; hence all are closed after the last answer.
      const sweep = () => (unanswered === 0 ? server.closeAllConnections() : server.closeIdleConnections());
      const sweeping = setInterval(sweep, sweepMs);
      const deadline = setTimeout(() => server.closeAllConnections(), shutdownGraceMs);
      server.close(() => {
        clearInterval(sweeping);
        clearTimeout(deadline);
        resolve();
      });
      app.closeStreams();
    });
  return { port: (server.address() as AddressInfo).port, stop };
}

/**
 * Closes an answer with its connection. Node does so only for the answer whose turn it is: those to requests pipelined
 * behind it would stay open for good, with the calls and streams that wait for their end.
 */
function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return;
  const close = () => {
    response.destroy();
    response.emit('close');
  };
  // As many listeners as there are requests are no leak.
  socket.setMaxListeners(0).once('close', close);
  response.once('socket', () => socket.off('close', close));
}

function inWords(error: NodeJS.ErrnoException, { host, port }: ListenOptions): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} is already in use. Stop the program that uses it, or set PORT to a free port.`;
    case 'EACCES':
      return `Port ${port} may not be used by this user. Set PORT to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Set HOST to one, or leave it out.`;
    default:
      return `Cannot listen on ${host}, port ${port}: ${error.message}`;
  }
}
