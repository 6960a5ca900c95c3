import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Breaks } from '../broken/good-server.ts';

/** A server that tries to crash, block or deceive the program that checks it. */
export interface HostileServer {
  readonly name: string;
  /** Rules that must fail; empty if nothing can be examined. */
  readonly finds: readonly string[];
  readonly breaks?: Breaks;
  /** Gets the HTTP server before it listens. */
  readonly attach?: (server: Server) => void;
  /** Timeout of each request; by default one that no test reaches. */
  readonly timeoutMs?: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Handles every POST; the good server answers all other requests. */
export function onPost(handle: Handler): HostileServer['attach'] {
  return instead(({ method }) => method === 'POST', handle);
}

/** Handles GET /health. */
export function onHealth(handle: Handler): HostileServer['attach'] {
  return instead(({ url }) => url === '/health', handle);
}

/** Handles every request. */
export function onEverything(handle: Handler): HostileServer['attach'] {
  return instead(() => true, handle);
}

/** Handles the selected requests; the good server answers all others. */
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

/** Writes the same chunk until the client disconnects. */
export function forever(response: ServerResponse, piece: string | Buffer): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', more);
  more();
}

/** Writes the same chunk every few milliseconds until the client disconnects. */
export function drip(response: ServerResponse, piece: string): void {
  const timer = setInterval(() => response.write(piece), 20);
  response.on('close', () => clearInterval(timer));
}
