import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { createAuthentication, noAuthentication, type TokenRules } from './auth.ts';
import { incidentId, type OnGone } from './call.ts';
import type { Tool } from './define-tool.ts';
import {
  type BodyRefusal,
  createAnswers,
  createBodies,
  createCalls,
  discardRest,
  type Limits,
} from './limits.ts';
import { createReport, type Log } from './log.ts';
import { createMethods, type MethodOptions, paidMethod, protocolVersions } from './mcp.ts';
import { createModern, isModern } from './modern.ts';
import { ErrorCode, errorReply, parseMessage, RpcError, replyTo } from './rpc.ts';
import { isObject } from './schema.ts';
import { createSessions, createStreams } from './session.ts';

/** What the app must know of its surroundings. */
export interface AppConfig extends MethodOptions, Limits {
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
  /** Whether requests of the stateless revision are served, beside those with a session. */
  readonly modern: boolean;
  /** Header in which a trusted proxy names its caller, lower case; null where callers come directly. */
  readonly clientAddressHeader: string | null;
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

/** What a request gets: a status, headers, and JSON text or nothing. */
interface Answer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** An answer, or null where it is a stream, which has begun. */
type Routed = Answer | null | Promise<Answer>;

/**
 * The endpoints of C§4 over a list of tools.
 *
 * @throws Error where the tools cannot be served: two of one name, or a schema that does not compile.
 */
export function createApp(config: AppConfig, tools: readonly Tool[], log: Log): App {
  const { name, version, token, production, allowedOrigins, allowedHosts } = config;
  const authentication = token === null ? noAuthentication : createAuthentication(token, log, !production);
  const sessions = createSessions(config.sessionSecret, config.sessionTtlSeconds, token?.audience);
  const report = createReport(log);
  const bodies = createBodies(config, report);
  const answers = createAnswers(config, report);
  const streams = createStreams(config, report);
  const calls = createCalls(config, report);
  const methods = createMethods(config, tools, log);
  const modern = config.modern ? createModern(methods, config, tools) : null;
  const unauthorized = json(token?.refusalStatus ?? 401, { error: 'Unauthorized' });
  const ownHeaders = ['content-type', 'accept', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'];
  const callHeaders = [token?.header ?? 'authorization', ...(modern?.headers ?? [])];
  const preflightHeaders = {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': [...ownHeaders, ...callHeaders].join(', '),
    'access-control-max-age': '86400',
  };

  async function post(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    const { headers } = request;
    if (!jsonType.test(headers['content-type'] ?? '')) {
      return json(415, { error: 'Content-Type must be application/json' });
    }
    const bytes = await bodies.read(request, authentication.mayAdmit(headers));
    if (typeof bytes === 'number') return bodyRefusals[bytes];
    const message = parseMessage(bytes);
    const mayCall = message === undefined || holdsPaidMethod(message);
    if (mayCall && !(await authentication.admits(headers))) return unauthorized;
    if (message === undefined) throw new RpcError(ErrorCode.ParseError, 'Nested too deeply');
    const leg = modern && isModern(message, headers) ? modern : null;
    const refusal = leg?.refusalOf(message, headers);
    if (refusal) return json(refusal.status, refusal.reply);
    if (!isObject(message)) throw new RpcError(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message');
    const session = headers['mcp-session-id']?.toString();
    const initializes = !leg && message.method === 'initialize' && 'id' in message;
    if (!leg && !(initializes && session === undefined) && !sessions.isKnown(session)) return invalidSession;
    const protocol = headers['mcp-protocol-version']?.toString();
    if (!leg && !initializes && protocol !== undefined && !protocolVersions.includes(protocol)) {
      throw new RpcError(ErrorCode.InvalidRequest, 'Unsupported MCP-Protocol-Version');
    }

    const payer = message.method === paidMethod ? String(headers[token?.header ?? '']) : null;
    if (payer !== null && !calls.enter(payer)) return tooManyCalls;
    try {
      const reply = await replyTo(message, leg?.methods ?? methods, onGone(response));
      if (reply === null) return { status: 202 };
      if (typeof reply === 'string') {
        return json(200, reply, initializes ? { 'mcp-session-id': session ?? sessions.open() } : undefined);
      }
      return json(reply.error.code === ErrorCode.InvalidRequest ? 400 : 200, reply);
    } finally {
      if (payer !== null) calls.leave(payer);
    }
  }

  function endpoint(request: IncomingMessage, response: ServerResponse): Routed {
    const { method, headers, socket } = request;
    if (method === 'POST') return post(request, response);
    if (method !== 'GET' && method !== 'DELETE') {
      return json(405, { error: 'Method not allowed' }, { allow: 'GET, POST, DELETE' });
    }
    const session = headers['mcp-session-id']?.toString();
    if (!sessions.isKnown(session)) return invalidSession;
    if (method === 'DELETE') {
      sessions.close(session);
      streams.close(session);
      return { status: 204 };
    }
    // In the turn of its request, so that the next one of the connection, which may have come already, ends it.
    response.writeHead(200, streamHeaders);
    streams.open(session, addressOf(request), socket, response);
    return null;
  }

  /** Who sends a request: the last address that the trusted header names, or the one it comes from. */
  function addressOf({ headers, socket }: IncomingMessage): string {
    const named = config.clientAddressHeader && headers[config.clientAddressHeader]?.toString();
    return named?.split(',').at(-1)?.trim() || (socket.remoteAddress ?? '');
  }

  /** Whether a name is this server's own outside production: pages of others may have let theirs point here. */
  function isOwnHost(host: string): boolean {
    const hostname = hostnameOf(`http://${host}`);
    return isLoopback(hostname) || allowedHosts.has('*') || allowedHosts.has(hostname);
  }

  /** Whether pages of an origin may call, and read what they get. */
  function isOwnOrigin(origin: string): boolean {
    const isLocal = !production && isLoopback(hostnameOf(origin));
    return isLocal || allowedOrigins.has('*') || allowedOrigins.has(origin);
  }

  function route(request: IncomingMessage, response: ServerResponse): Routed {
    const { method, headers, url = '' } = request;
    const { host, origin } = headers;
    if (!production && host !== undefined && !isOwnHost(host)) {
      return json(403, { error: 'Host not allowed: name it in ALLOWED_HOSTS' });
    }
    const path = targetForm.exec(url)?.[1];
    if (path === '/health' && (method === 'GET' || method === 'HEAD')) {
      return json(200, { status: 'ok', server: name, version });
    }
    if (path !== '/mcp') return json(404, { error: 'Not found' });
    if (origin !== undefined) {
      if (!isOwnOrigin(origin)) return json(403, { error: 'Origin not allowed' });
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-expose-headers', 'mcp-session-id');
      response.setHeader('vary', 'origin');
      if (method === 'OPTIONS') return { status: 204, headers: preflightHeaders };
    }
    return endpoint(request, response);
  }

  function send(response: ServerResponse, { status, headers, body }: Answer): void {
    response.writeHead(status, headers);
    if (body === undefined) response.end();
    else answers.send(response, body);
  }

  function failureOf(error: unknown, headers: IncomingHttpHeaders): Answer {
    if (error instanceof RpcError) {
      // The stateless revision has no id of null.
      const id = modern && isModern(null, headers) ? undefined : null;
      return json(400, errorReply(error.code, error.message, id));
    }
    const id = incidentId();
    log('incident', { id, detail: error instanceof Error ? error.stack : String(error) });
    return json(500, { error: `Internal error (incident ${id})` });
  }

  return {
    async handle(request, response) {
      streams.giveWay(request.socket);
      try {
        const answer = await route(request, response);
        if (answer !== null && !response.destroyed) send(response, answer);
      } catch (error) {
        // A caller that is gone takes no answer, and what it broke off is not an incident.
        if (!response.destroyed) send(response, failureOf(error, request.headers));
      }
      discardRest(request);
    },
    prepare: authentication.prepare,
    keyInUse: authentication.holds,
    stop() {
      streams.closeAll();
      bodies.refuseSoon();
    },
  };
}

const jsonType = /^application\/json[ \t]*(?:;|$)/i;

/** The target of a request: its path, without a query, and without the origin that some proxies put in front. */
const targetForm = /^(?:https?:\/\/[^/?]*)?([^?]*)/i;

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/** Whether a host name, as `URL` spells it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/** Whether a call is in a body: alone, in a batch, or in a batch of batches. */
function holdsPaidMethod(body: unknown): boolean {
  return Array.isArray(body) ? body.some(holdsPaidMethod) : isObject(body) && body.method === paidMethod;
}

function onGone(response: ServerResponse): OnGone {
  return (leave) => {
    if (response.destroyed) leave();
    response.once('close', leave);
    return () => response.off('close', leave);
  };
}

/** An answer whose body is a value, or JSON text. */
function json(status: number, value: object | string, headers?: OutgoingHttpHeaders): Answer {
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  const length = Buffer.byteLength(body);
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
    body,
  };
}

const retrySoon = { 'retry-after': '1' };
const bodyRefusals: Readonly<Record<BodyRefusal, Answer>> = {
  408: json(408, { error: 'Request took too long' }, { connection: 'close' }),
  413: json(413, { error: 'Request too large' }),
  503: json(503, { error: 'Too many unfinished requests' }, { ...retrySoon, connection: 'close' }),
};
const tooManyCalls = json(503, { error: 'Too many calls at once' }, retrySoon);
const invalidSession = json(400, { error: 'Invalid session' });

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
