import { IncomingMessage, type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import type { WellKnown } from './well-known.ts';

/** Answers a request of a route as a handler of `node:http` does. The body has arrived and is within the limits. */
export type RouteHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** What a server answers beside its tools. */
export interface RouteOptions {
  /**
   * Exact paths, such as `/robots.txt`, and their handlers, for every method. A route needs no token: everybody may call it. A
   * request has the limits of one to `/mcp`. A handler that throws gets 500 and an incident in the log; the connection of one that has sent no
   * head after `callTimeoutMs` is closed.
   */
  readonly routes?: { readonly [path: string]: RouteHandler };
  /**
   * Files under `/.well-known/`, by their names there: text is sent as it is, an object as JSON. They need no token. One that is
   * undefined or empty does not exist. `true` makes `mcp/server-card.json` from the tools.
   */
  readonly wellKnown?: WellKnown;
  /** Headers of every answer. A route may set other values. */
  readonly headers?: { readonly [name: string]: string };
}

const ownPaths = ['/mcp', '/health'];
/** They frame a message, or say what the server decides for each answer. */
const ownHeaders =
  /^(?:content-(?:type|length)|transfer-encoding|connection|keep-alive|upgrade|trailer|vary|mcp-session-id|x-request-id|access-control-.*)$/i;

/** @throws Error that names a path that cannot be a route */
export function routesOf({ routes = {} }: RouteOptions): ReadonlyMap<string, RouteHandler> {
  for (const [path, handler] of Object.entries(routes)) {
    const place = `routes: ${JSON.stringify(path)}`;
    if (ownPaths.includes(path))
      throw new Error(`${place} belongs to the server itself; choose another path.`);
    if (!URL.canParse(path, 'http://x') || new URL(path, 'http://x').pathname !== path) {
      throw new Error(
        `${place}: expected an exact path as it is sent, such as "/robots.txt", without a query.`,
      );
    }
    if (typeof handler !== 'function') throw new Error(`${place}: expected a function (request, response).`);
  }
  return new Map(Object.entries(routes));
}

/** @throws Error that names a header that cannot be sent, or that the server sets itself */
export function headersOf({ headers = {} }: RouteOptions): readonly (readonly [string, string])[] {
  for (const [name, value] of Object.entries(headers)) {
    const place = `headers: ${JSON.stringify(name)}`;
    if (ownHeaders.test(name)) throw new Error(`${place} is set by the server itself.`);
    if (typeof value !== 'string') throw new Error(`${place}: expected text.`);
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch (error) {
      throw new Error(`${place}: ${(error as Error).message}`);
    }
  }
  return Object.entries(headers);
}

/** A request whose body has been read, with that body to read again. */
export function withBody(request: IncomingMessage, body: Buffer): IncomingMessage {
  const { socket, method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } =
    request;
  const whole = new IncomingMessage(socket);
  const version = { httpVersion, httpVersionMajor, httpVersionMinor };
  Object.assign(whole, { method, url, headers, rawHeaders, ...version, complete: true });
  if (body.length > 0) whole.push(body);
  whole.push(null);
  return whole;
}

/**
 * Runs a handler until its response is closed. Rejects with what the handler throws.
 *
 * @param timeoutMs after it, the connection is closed if no head was sent, and `onLate` is called
 */
export function answered(
  handler: RouteHandler,
  request: IncomingMessage,
  response: ServerResponse,
  timeoutMs: number,
  onLate: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      if (response.headersSent) return;
      onLate();
      // A late answer of the handler would fail on a response that is complete; on a closed one it has no effect.
      cutOff(response);
    };
    const timer = setTimeout(end, timeoutMs).unref();
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    const run = async () => handler(request, response);
    run().catch(reject);
  });
}

/** Closes the connection of a response that is not complete. Bun completes a destroyed response without a head, with 200. */
export function cutOff(response: ServerResponse): void {
  response.req.socket.destroy();
  response.destroy();
}
