// The open connections, and which of them end when there are too many.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createFairLimit, networkOf } from './server/fair-limit.ts';
import type { App } from './server/http-app.ts';
import type { ReportLimit } from './server/log.ts';

export interface Connection {
  readonly socket: Socket;
  /** By `performance.now()`. */
  readonly openedAt: number;
  /** Unfinished responses. */
  readonly pending: Set<ServerResponse>;
  /** Whether the head of a request arrived. */
  hasSentRequest: boolean;
}

/** Time after which a connection without a request counts as silent. Callers and proxies send a request at once. */
const silentMs = 1_000;

/** Whether a request waits for its answer or the rest of it. A stream has sent its head, and waits for nothing. */
export function isUnanswered({ req, headersSent }: ServerResponse): boolean {
  return req.method === 'POST' || !headersSent;
}

function isRequestRunning(response: ServerResponse): boolean {
  return response.req.complete && isUnanswered(response);
}

export function isIdle({ pending }: Connection): boolean {
  return pending.size === 0 || ![...pending].some(isRequestRunning);
}

/** Returns a listener that adds each new connection to `open`, and ends other connections when there are too many. */
export function trackConnections(
  open: Map<Socket, Connection>,
  limit: number,
  app: Pick<App, 'hasPaid'>,
  reportLimit: ReportLimit,
): (socket: Socket) => void {
  /** Silent connections end first. Connections that sent a valid token end last, unless their network has a quarter of all. */
  const rankOf = ({ socket, openedAt, hasSentRequest }: Connection, networkConnections: number) => {
    if (!hasSentRequest) return performance.now() - openedAt > silentMs ? 0 : 1;
    if (app.hasPaid(socket) && networkConnections * 4 <= limit) return 2;
    return 1;
  };
  const connections = createFairLimit<Connection>(limit, isIdle, ({ socket }) => socket.destroy(), rankOf);
  return (socket) => {
    const owner = networkOf(socket.remoteAddress ?? ''); // undefined after close
    const connection: Connection = {
      socket,
      openedAt: performance.now(),
      pending: new Set(),
      hasSentRequest: false,
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
 * Closes a response that waits for its turn. Node closes only the current one with the connection; the others would stay open
 * forever, with the calls and streams that wait for their `close` event.
 */
function closePipelined(response: ServerResponse): void {
  if (response.socket !== null) return;
  response.destroy();
  response.emit('close');
}
