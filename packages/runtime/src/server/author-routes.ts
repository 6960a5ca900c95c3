// Routes, files under /.well-known/ and response headers that the author sets.

import { IncomingMessage, type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Tool } from './define-tool.ts';
import { listedDefinition, type ServerInfo } from './mcp-methods.ts';
import type { TokenRules } from './verify-token.ts';

/** Answers a request of a route as a handler of `node:http` does. The body has arrived and is within the limits. */
export type RouteHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The files under `/.well-known/`, by their names there, such as `mcp/server-card.json`. */
export interface WellKnown {
  readonly [name: string]: string | object | true | undefined;
}

/** A file as it is answered. */
export interface WellKnownFile {
  readonly headers: { readonly [name: string]: string | number };
  readonly body: string;
}

/** What a server answers beside its tools. */
export interface RouteOptions {
  /**
   * Exact paths, such as `/robots.txt`, and their handlers, for every method. A route needs no token: everybody may call it. Its requests
   * have the limits of requests to `/mcp`. If a handler throws, the caller gets 500, and the log has an incident. If it sends no head within
   * `callTimeoutMs`, its connection is closed.
   */
  readonly routes?: { readonly [path: string]: RouteHandler };
  /**
   * Files under `/.well-known/`, by their names there: text is sent unchanged, an object as JSON. They need no token. One that is
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
export function checkRoutes({ routes = {} }: RouteOptions): ReadonlyMap<string, RouteHandler> {
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

const directory = '/.well-known/';
const serverCardName = 'mcp/server-card.json';
const nameForm = /^[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*$/;

/**
 * The files of `wellKnown`, by their paths. One that is undefined or empty text does not exist.
 *
 * @param otherFiles paths that are answered otherwise
 * @throws Error that names a file that cannot be served
 */
export function wellKnownFiles(
  { wellKnown = {}, ...server }: CardSubject & { readonly wellKnown?: WellKnown },
  tools: readonly Tool[],
  otherFiles: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, WellKnownFile> {
  const files = new Map<string, WellKnownFile>();
  for (const [name, value] of Object.entries(wellKnown)) {
    const place = `wellKnown: ${JSON.stringify(name)}`;
    if (!nameForm.test(name)) {
      throw new Error(
        `${place}: expected the name of a file under ${directory}, such as "openai-apps-challenge": letters, digits, "-", "_", "~", ".", and "/" between names that do not start with ".".`,
      );
    }
    if (value === undefined || value === '') continue;
    const path = directory + name;
    if (otherFiles.has(path)) throw new Error(`${place} is a route, too: remove one of them.`);
    files.set(
      path,
      wellKnownFile(name, value === true ? serverCard(name, place, server, tools) : value, place),
    );
  }
  return files;
}

function wellKnownFile(name: string, value: unknown, place: string): WellKnownFile {
  const isText = typeof value === 'string';
  if (isText && name.endsWith('.json')) {
    throw new Error(`${place}: expected an object, which is sent as JSON, got text.`);
  }
  if (!isText && (typeof value !== 'object' || value === null)) {
    throw new Error(`${place}: expected text, or an object, which is sent as JSON.`);
  }
  const body = isText ? value : serializeFile(value, place);
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
  // Directories read the files on demand, after a change or a deployment.
  const headers = { 'content-type': type, 'cache-control': 'no-cache' };
  return { headers: { ...headers, 'content-length': Buffer.byteLength(body) }, body };
}

function serializeFile(value: unknown, place: string): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new Error(`${place} cannot be sent as JSON: ${(error as Error).message.split('\n')[0]}`);
  }
}

interface CardSubject extends ServerInfo {
  readonly token: Pick<TokenRules, 'header' | 'scheme'> | null;
}

/** The server card that Smithery reads where it cannot scan a server: what discovery says, and that calls need a token. */
function serverCard(name: string, place: string, server: CardSubject, tools: readonly Tool[]): object {
  if (name !== serverCardName) {
    throw new Error(`${place}: only "${serverCardName}" can be made from the tools; give text or an object.`);
  }
  const { token: tokenRules } = server;
  const schemes = tokenRules === null ? [] : [tokenRules.scheme.toLowerCase() || tokenRules.header];
  return {
    serverInfo: { name: server.name, version: server.version },
    authentication: { required: tokenRules !== null, schemes },
    tools: tools.map(listedDefinition),
    resources: [],
    prompts: [],
  };
}

/** @throws Error that names a header that cannot be sent, or that the server sets itself */
export function addedResponseHeaders({ headers = {} }: RouteOptions): readonly (readonly [string, string])[] {
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
export function replayBody(request: IncomingMessage, body: Buffer): IncomingMessage {
  const { socket, method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } =
    request;
  const wholeMessage = new IncomingMessage(socket);
  const version = { httpVersion, httpVersionMajor, httpVersionMinor };
  Object.assign(wholeMessage, { method, url, headers, rawHeaders, ...version, complete: true });
  if (body.length > 0) wholeMessage.push(body);
  wholeMessage.push(null);
  return wholeMessage;
}

/**
 * Runs a handler until its response is closed. Rejects with what the handler throws.
 *
 * @param timeoutMs time after which `onTimeout` is called and the connection is closed, if no head was sent
 */
export function runRoute(
  handler: RouteHandler,
  request: IncomingMessage,
  response: ServerResponse,
  timeoutMs: number,
  onTimeout: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      if (response.headersSent) return;
      onTimeout();
      // A late answer of the handler would fail on a response that is complete; on a closed one it has no effect.
      abortResponse(response);
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
export function abortResponse(response: ServerResponse): void {
  response.req.socket.destroy();
  response.destroy();
}
