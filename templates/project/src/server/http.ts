import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createAuthentication, noAuthentication, type TokenRules } from './auth.ts';
import { createCalls, incidentId } from './call.ts';
import type { Tool } from './define-tool.ts';
import {
  type BodyRefusal,
  createAnswers,
  createBodies,
  createStreams,
  discardMs,
  type Limits,
} from './limits.ts';
import { createReport, type Log } from './log.ts';
import { type Caller, createMethods, paidMethod, protocolVersions, type ServerInfo } from './mcp.ts';
import { ErrorCode, errorReply, isNestedBeyond, isObject, replyTo } from './rpc.ts';
import { createSessions } from './session.ts';

/** What the app must know of its surroundings. */
export interface AppConfig extends ServerInfo, Limits {
  readonly production: boolean;
  /** Null where the token check is switched off. */
  readonly token: TokenRules | null;
  /** Null where sessions end with the process. */
  readonly sessionSecret: string | null;
  readonly sessionTtlSeconds: number;
  /** `*` stands for every origin. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** Names that a request's Host may have outside production; `*` stands for every one. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Header in which a trusted proxy names its caller, lower case; null where callers come directly. */
  readonly clientAddressHeader: string | null;
  readonly callTimeoutMs: number;
}

/** The server's HTTP side, for whatever listens. */
export interface App {
  /** Answers a request; never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Fetches the platform's keys ahead of the first call; never rejects. */
  prepare(): Promise<void>;
  /** Which key verifies tokens at the moment, in words. */
  keyInUse(): string;
  /** Ends what could outlast everything: event streams, and requests that have not come whole. */
  stop(): void;
}

/** What a request gets: a status, headers, and a text, the event stream of a session, or nothing. */
interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | { readonly streamOf: string };
}

/**
 * The endpoints of C§4 over a list of tools.
 *
 * @throws Error where the tools cannot be served: two of one name, or a schema that does not compile.
 */
export function createApp(config: AppConfig, tools: readonly Tool[], log: Log): App {
  const { name, version, token, production, allowedOrigins, allowedHosts, callTimeoutMs: timeoutMs } = config;
  const authentication = token === null ? noAuthentication : createAuthentication(token, log, !production);
  const sessions = createSessions(config.sessionSecret, config.sessionTtlSeconds, token?.audience);
  const report = createReport(log);
  const bodies = createBodies(config, report);
  const answers = createAnswers(config, report);
  const streams = createStreams(config, report);
  const calls = createCalls(config, report);
  const newest = new WeakMap<Socket, IncomingMessage>();
  const methods = createMethods({ info: { name, version }, tools, authentication, timeoutMs, log });

  async function post(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    const { headers } = request;
    if (!jsonType.test(headers['content-type'] ?? '')) {
      return json(415, { error: 'Content-Type must be application/json' });
    }
    const bytes = await bodies.read(request, authentication.mayAdmit(headers));
    if (typeof bytes === 'number') return bodyRefusals[bytes];
    if (isNestedBeyond(mostLevels, bytes)) {
      return json(400, errorReply(ErrorCode.ParseError, `Nested deeper than ${mostLevels} levels`));
    }
    let message: unknown;
    try {
      message = JSON.parse(bytes.toString());
    } catch {
      return json(400, errorReply(ErrorCode.ParseError, 'Parse error'));
    }

    if (holdsMethod(message, paidMethod) && !(await authentication.admits(headers))) {
      return json(token?.refusalStatus ?? 401, { error: 'Unauthorized' });
    }
    if (!isObject(message)) {
      return json(400, errorReply(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message'));
    }
    const session = headers['mcp-session-id']?.toString();
    const initializes = message.method === 'initialize' && 'id' in message;
    if (!(initializes && session === undefined) && !sessions.isKnown(session)) return invalidSession();
    const protocol = headers['mcp-protocol-version']?.toString();
    if (!initializes && protocol !== undefined && !protocolVersions.includes(protocol)) {
      return json(400, errorReply(ErrorCode.InvalidRequest, 'Unsupported MCP-Protocol-Version'));
    }

    const payer = message.method === paidMethod ? String(headers[token?.header ?? '']) : null;
    if (payer !== null && !calls.enter(payer)) return busy;
    const reply = await replyTo(message, methods, callerOf(request, response)).finally(() => {
      if (payer !== null) calls.leave(payer);
    });
    if (reply === null) return { status: 202, headers: {} };
    if (typeof reply !== 'string') {
      return json(reply.error.code === ErrorCode.InvalidRequest ? 400 : 200, reply);
    }
    return jsonText(200, reply, initializes ? { 'mcp-session-id': session ?? sessions.open() } : {});
  }

  function endpoint(request: IncomingMessage, response: ServerResponse): Answer | Promise<Answer> {
    const session = request.headers['mcp-session-id']?.toString();
    switch (request.method) {
      case 'POST':
        return post(request, response);
      case 'GET':
        if (!sessions.isKnown(session)) return invalidSession();
        return { status: 200, headers: streamHeaders, body: { streamOf: session } };
      case 'DELETE':
        if (!sessions.isKnown(session)) return invalidSession();
        sessions.close(session);
        streams.close(session);
        return { status: 204, headers: {} };
      default:
        return json(405, { error: 'Method not allowed' }, { allow: 'GET, POST, DELETE' });
    }
  }

  /** The endpoint for a web page, which may only read the answer if its origin is allowed. */
  async function endpointFor(
    origin: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer> {
    const local = !production && URL.canParse(origin) && isLoopback(new URL(origin).hostname);
    if (!local && !allowedOrigins.has('*') && !allowedOrigins.has(origin)) {
      return json(403, { error: 'Origin not allowed' });
    }
    const answer =
      request.method === 'OPTIONS'
        ? { status: 204, headers: preflightHeaders(token?.header ?? 'authorization') }
        : await endpoint(request, response);
    return { ...answer, headers: { ...answer.headers, ...corsHeaders(origin) } };
  }

  /** Whether a name is this server's own outside production: pages of others may have let theirs point here. */
  function isOwnHost(host: string): boolean {
    const { hostname } = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : { hostname: '' };
    return isLoopback(hostname) || allowedHosts.has('*') || allowedHosts.has(hostname);
  }

  function route(request: IncomingMessage, response: ServerResponse): Answer | Promise<Answer> {
    const path = pathOf(request);
    const { host } = request.headers;
    if (!production && host !== undefined && !isOwnHost(host)) {
      return json(403, { error: 'Host not allowed: name it in ALLOWED_HOSTS' });
    }
    if (path === '/mcp') {
      const { origin } = request.headers;
      return origin === undefined ? endpoint(request, response) : endpointFor(origin, request, response);
    }
    if (path === '/health' && (request.method === 'GET' || request.method === 'HEAD')) {
      return json(200, { status: 'ok', server: name, version });
    }
    return json(404, { error: 'Not found' });
  }

  /** Who sends a request: the last address that the trusted header names, or the one it comes from. */
  function addressOf({ headers, socket }: IncomingMessage): string {
    const named = config.clientAddressHeader && headers[config.clientAddressHeader]?.toString();
    return named?.split(',').at(-1)?.trim() || (socket.remoteAddress ?? '');
  }

  /** Sends an answer whole, or begins the stream that it is. */
  function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
    const { status, headers, body } = answer;
    if (response.destroyed) return;
    response.writeHead(status, headers);
    if (typeof body === 'object') {
      streams.open(body.streamOf, addressOf(request), request.socket, response);
      if (newest.get(request.socket) !== request) streams.giveWay(request.socket);
    } else if (body === undefined) response.end();
    else answers.send(response, body);
  }

  return {
    async handle(request, response) {
      newest.set(request.socket, request);
      streams.giveWay(request.socket);
      try {
        send(request, response, await route(request, response));
        discardRest(request);
      } catch (error) {
        // A caller that is gone takes no answer, and what it broke off is not an incident.
        if (response.destroyed) return;
        const id = incidentId();
        log('incident', { id, detail: error instanceof Error ? error.stack : String(error) });
        send(request, response, json(500, { error: `Internal error (incident ${id})` }));
      }
    },
    prepare: authentication.prepare,
    keyInUse: authentication.holds,
    stop() {
      streams.closeAll();
      bodies.refuseSoon();
    },
  };
}

/** Levels of JSON that a message may have. */
const mostLevels = 500;

const jsonType = /^application\/json[ \t]*(?:;|$)/i;

/** The path that a request names: its target without a query, and without the origin that some proxies put in front. */
function pathOf({ url = '' }: IncomingMessage): string | undefined {
  return /^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(url)?.[1];
}

/** Whether a host name, as `URL` spells it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/** Whether a message of that method is in a body: alone, in a batch, or in a batch of batches. */
function holdsMethod(body: unknown, method: string): boolean {
  const unseen: unknown[] = [body];
  while (unseen.length > 0) {
    const value = unseen.pop();
    if (Array.isArray(value)) for (const member of value) unseen.push(member);
    else if (Object(value).method === method) return true;
  }
  return false;
}

function callerOf({ headers }: IncomingMessage, response: ServerResponse): Caller {
  return {
    headers,
    onGone(leave) {
      if (response.destroyed) leave();
      response.once('close', leave);
      return () => response.off('close', leave);
    },
  };
}

/**
 * Takes for a moment what still comes of a request that has its answer, then closes the connection: a sender that never
 * ends would hold up whatever comes after.
 */
function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.complete || request.destroy(), discardMs).unref();
}

/** An answer whose body is a value as JSON. */
function json(status: number, value: object, headers: OutgoingHttpHeaders = {}): Answer {
  return jsonText(status, JSON.stringify(value), headers);
}

/** An answer whose body is JSON already. */
function jsonText(status: number, body: string, headers: OutgoingHttpHeaders = {}): Answer {
  const length = Buffer.byteLength(body);
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
    body,
  };
}

const retrySoon = { 'retry-after': '1' };
const busy = json(503, { error: 'Too many calls at once' }, retrySoon);
const bodyRefusals: Readonly<Record<BodyRefusal, Answer>> = {
  408: json(408, { error: 'Request took too long' }, { connection: 'close' }),
  413: json(413, { error: 'Request too large' }),
  503: json(503, { error: 'Too many unfinished requests' }, { ...retrySoon, connection: 'close' }),
};

function invalidSession(): Answer {
  return json(400, { error: 'Invalid session' });
}

/** The headers that let a page of an allowed origin read an answer. */
function corsHeaders(origin: string): OutgoingHttpHeaders {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'mcp-session-id',
    vary: 'origin',
  };
}

/** The further headers that let it ask, in answer to a preflight. */
function preflightHeaders(tokenHeader: string): OutgoingHttpHeaders {
  return {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': `content-type, accept, mcp-session-id, mcp-protocol-version, last-event-id, ${tokenHeader}`,
    'access-control-max-age': '86400',
  };
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
