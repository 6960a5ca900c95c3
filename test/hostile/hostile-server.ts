import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Breaks } from '../broken/good-server.ts';

/** A server that is out to crash, hang or fool whoever examines it. */
export interface HostileServer {
  readonly name: string;
  /** Rules that must fail; empty where nothing at all can be examined. */
  readonly finds: readonly string[];
  readonly breaks?: Breaks;
  /** Given the HTTP server before it listens. */
  readonly attach?: (server: Server) => void;
  /** Bound of each request; one that is not meant to be reached where absent. */
  readonly timeoutMs?: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers every POST in a way of its own; all else is answered as the good server does. */
export function onPost(handle: Handler): HostileServer['attach'] {
  return instead(({ method }) => method === 'POST', handle);
}

/** Answers GET /health in a way of its own. */
export function onHealth(handle: Handler): HostileServer['attach'] {
  return instead(({ url }) => url === '/health', handle);
}

/** Answers everything in a way of its own. */
export function onEverything(handle: Handler): HostileServer['attach'] {
  return instead(() => true, handle);
}

/** Answers the requests that concern it in a way of its own; all else is answered as the good server does. */
export function instead(
  concerns: (request: IncomingMessage) => boolean,
  handle: Handler,
): NonNullable<HostileServer['attach']> {
  return (server) => {
    const good = server.listeners('request') as Handler[];
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      response.on('error', () => {});
      if (concerns(request)) handle(request, response);
      else for (const listener of good) listener(request, response);
    });
  };
}

/** Writes the same piece until the other side has gone. */
export function forever(response: ServerResponse, piece: string | Buffer): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', more);
  more();
}

/** Writes the same piece every few milliseconds until the other side has gone. */
export function drip(response: ServerResponse, piece: string): void {
  const timer = setInterval(() => response.write(piece), 20);
  response.on('close', () => clearInterval(timer));
}
