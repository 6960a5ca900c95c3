import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Config } from '../config.ts';
import { type BodyFault, holdsMethod, readBody } from './body.ts';
import type { Tool } from './define-tool.ts';
import { createGate, openGate } from './gate.ts';
import type { Log } from './log.ts';
import { createMethods, isSupportedVersion, paidMethod, type ServerInfo } from './methods.ts';
import { corsHeaders, createOriginCheck, preflightHeaders } from './origin.ts';
import { ErrorCode, errorReply, replyTo } from './rpc.ts';
import { createSessions } from './session.ts';
import { createStreams } from './streams.ts';

/** The server's HTTP side, not yet listening. */
export interface App {
  fetch(request: Request): Response | Promise<Response>;
  /** Ends the event streams, which would otherwise outlast everything. */
  closeStreams(): void;
}

/**
 * The endpoints of C§4 over a list of tools.
 *
 * @throws Error where the tools cannot be served: two of one name, or a schema that does not compile.
 */
export function createApp(config: Config, info: ServerInfo, tools: readonly Tool[], log: Log): App {
  const gate = config.token === null ? openGate : createGate(config.token, log);
  const sessions = createSessions(config.sessionSecret, config.sessionTtlSeconds);
  const streams = createStreams();
  const methods = createMethods({ info, tools, gate, timeoutMs: config.callTimeoutMs, log });
  const isAllowedOrigin = createOriginCheck(config.allowedOrigins, !config.production);
  const refusalStatus = config.token?.refusalStatus ?? 401;
  const preflight = preflightHeaders(config.token?.header ?? 'authorization');

  async function post(request: Request): Promise<Response> {
    const body = await readBody(request, config.maxBodyBytes);
    if (!body.ok) return bodyRefusal(body.fault);
    const message = body.value;
    if (holdsMethod(message, paidMethod) && !(await gate(request.headers))) {
      return json(refusalStatus, { error: 'Unauthorized' });
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      return json(400, errorReply(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message'));
    }

    const session = request.headers.get('mcp-session-id');
    const initializes = isInitialize(message);
    const opens = initializes && session === null;
    if (!opens && !sessions.isKnown(session)) return invalidSession();
    const version = request.headers.get('mcp-protocol-version');
    if (!initializes && version !== null && !isSupportedVersion(version)) {
      return json(400, errorReply(ErrorCode.InvalidRequest, 'Unsupported MCP-Protocol-Version'));
    }

    const reply = await replyTo(message, methods, request);
    if (reply === null) return new Response(null, { status: 202 });
    if ('error' in reply) return json(reply.error.code === ErrorCode.InvalidRequest ? 400 : 200, reply);
    return json(200, reply, initializes ? { 'mcp-session-id': session ?? sessions.open() } : {});
  }

  function stream(request: Request): Response {
    const session = request.headers.get('mcp-session-id');
    if (session === null || !sessions.isKnown(session)) return invalidSession();
    return new Response(streams.open(session), { headers: streamHeaders });
  }

  function end(request: Request): Response {
    const session = request.headers.get('mcp-session-id');
    if (session === null || !sessions.isKnown(session)) return invalidSession();
    sessions.close(session);
    streams.close(session);
    return new Response(null, { status: 204 });
  }

  function route(request: Request): Response | Promise<Response> {
    switch (request.method) {
      case 'POST':
        return post(request);
      case 'GET':
        return stream(request);
      case 'DELETE':
        return end(request);
      default:
        return json(405, { error: 'Method not allowed' }, { allow: 'GET, POST, DELETE' });
    }
  }

  async function routeForPage(request: Request, origin: string): Promise<Response> {
    if (!isAllowedOrigin(origin)) return json(403, { error: 'Origin not allowed' });
    const response =
      request.method === 'OPTIONS'
        ? new Response(null, { status: 204, headers: preflight })
        : await route(request);
    for (const [name, value] of Object.entries(corsHeaders(origin))) response.headers.set(name, value);
    return response;
  }

  const hono = new Hono();
  hono.get('/health', () => json(200, { status: 'ok', server: info.name, version: info.version }));
  hono.all('/mcp', ({ req: { raw: request } }) => {
    const origin = request.headers.get('origin');
    return origin === null ? route(request) : routeForPage(request, origin);
  });
  hono.notFound(() => json(404, { error: 'Not found' }));
  hono.onError((error, { req }) => {
    if (req.raw.signal.aborted) return json(400, { error: 'Request aborted' });
    const id = randomUUID();
    log('incident', { id, detail: error.stack });
    return json(500, { error: `Internal error (incident ${id})` });
  });
  return { fetch: (request) => hono.fetch(request), closeStreams: () => streams.close() };
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

function isInitialize(message: object): boolean {
  return 'method' in message && message.method === 'initialize' && 'id' in message;
}

function invalidSession(): Response {
  return json(400, { error: 'Invalid session' });
}

function bodyRefusal(fault: BodyFault): Response {
  switch (fault) {
    case 'media-type':
      return json(415, { error: 'Content-Type must be application/json' });
    case 'too-large':
      return json(413, { error: 'Request too large' });
    case 'not-json':
      return json(400, errorReply(ErrorCode.ParseError, 'Parse error'));
  }
}

function json(status: number, value: object, headers: { readonly [name: string]: string } = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}
