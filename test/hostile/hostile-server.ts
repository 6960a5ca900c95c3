import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Variant } from '../broken/variant.ts';

/** Servers that try to crash, block or deceive the program that checks them, by the rules that must fail and their name. */
export type HostileServers = Readonly<Record<string, Readonly<Record<string, Variant>>>>;

export interface HostileServer {
  readonly name: string;
  /** Rules that must fail; empty if nothing can be examined. */
  readonly finds: readonly string[];
  readonly variant: Variant;
}

export function listed(servers: HostileServers): readonly HostileServer[] {
  return Object.entries(servers).flatMap(([rules, byName]) =>
    Object.entries(byName).map(([name, variant]) => ({
      name,
      finds: rules === '' ? [] : rules.split(' '),
      variant,
    })),
  );
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Handles every POST; the good server answers all other requests. */
export function onPost(handle: Handler): Variant {
  return instead(({ method }) => method === 'POST', handle);
}

/** Handles GET /health. */
export function onHealth(handle: Handler): Variant {
  return instead(({ url }) => url === '/health', handle);
}

/** Handles every request. */
export function onEverything(handle: Handler): Variant {
  return instead(() => true, handle);
}

/** Handles the selected requests; the good server answers all others. */
export function instead(concerns: (request: IncomingMessage) => boolean, handle: Handler): Variant {
  const attach = (server: Server) => {
    const good = server.listeners('request') as Handler[];
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      response.on('error', () => {});
      if (concerns(request)) handle(request, response);
      else for (const listener of good) listener(request, response);
    });
  };
  return { attach };
}

/** Writes the same chunk until the client disconnects. */
export function forever(stream: Writable, piece: string | Buffer): void {
  const more = (): void => {
    while (!stream.destroyed && stream.write(piece));
  };
  stream.on('drain', more);
  more();
}

/** Writes the same chunk every few milliseconds until the client disconnects. */
export function drip(response: ServerResponse, piece: string): void {
  const timer = setInterval(() => response.write(piece), 20);
  response.on('close', () => clearInterval(timer));
}
