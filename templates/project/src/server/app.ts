import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '../../contract/schema.ts';
import type { Config } from '../config.ts';
import { type Answer, json, jsonText, send } from './answer.ts';
import { type BodyFault, discardRest, holdsMethod, readBody } from './body.ts';
import { Caller } from './caller.ts';
import type { Tool } from './define-tool.ts';
import { createGate, openGate } from './gate.ts';
import type { Log } from './log.ts';
import { createMethods, isSupportedVersion, paidMethod, type ServerInfo } from './methods.ts';
import { corsHeaders, createOriginCheck, preflightHeaders } from './origin.ts';
import { ErrorCode, type Members } from './protocol.ts';
import { errorReply, replyTo } from './rpc.ts';
import { createSessions } from './session.ts';
import { createStreams } from './streams.ts';

/** The server's HTTP side, not yet listening. */
export interface App {
  /** Answers a request; never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
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

  async function post(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    const body = await readBody(request, config.maxBodyBytes);
    if (!body.ok) return bodyRefusal(body.fault);
    const message = body.value;
    if (holdsMethod(message, paidMethod) && !(await gate(request.headers))) {
      return json(refusalStatus, { error: 'Unauthorized' });
    }
    if (!isObject(message)) {
      return json(400, errorReply(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message'));
    }

    const session = headerOf(request, 'mcp-session-id');
    const initializes = isInitialize(message);
    const opens = initializes && session === undefined;
    if (!opens && !sessions.isKnown(session)) return invalidSession();
    const version = headerOf(request, 'mcp-protocol-version');
    if (!initializes && version !== undefined && !isSupportedVersion(version)) {
      return json(400, errorReply(ErrorCode.InvalidRequest, 'Unsupported MCP-Protocol-Version'));
    }

    const reply = await replyTo(message, methods, new Caller(request, response));
    if (reply === null) return { status: 202, headers: {} };
    if (typeof reply !== 'string') {
      return json(reply.error.code === ErrorCode.InvalidRequest ? 400 : 200, reply);
    }
    return jsonText(200, reply, initializes ? { 'mcp-session-id': session ?? sessions.open() } : {});
  }

  function stream(request: IncomingMessage): Answer {
    const session = headerOf(request, 'mcp-session-id');
    if (session === undefined || !sessions.isKnown(session)) return invalidSession();
    return { status: 200, headers: streamHeaders, body: streams.open(session) };
  }

  function end(request: IncomingMessage): Answer {
    const session = headerOf(request, 'mcp-session-id');
    if (session === undefined || !sessions.isKnown(session)) return invalidSession();
    sessions.close(session);
    streams.close(session);
    return { status: 204, headers: {} };
  }

  function endpoint(request: IncomingMessage, response: ServerResponse): Answer | Promise<Answer> {
    switch (request.method) {
      case 'POST':
        return post(request, response);
      case 'GET':
        return stream(request);
      case 'DELETE':
        return end(request);
      default:
        return json(405, { error: 'Method not allowed' }, { allow: 'GET, POST, DELETE' });
    }
  }

  async function endpointForPage(
    request: IncomingMessage,
    response: ServerResponse,
    origin: string,
  ): Promise<Answer> {
    if (!isAllowedOrigin(origin)) return json(403, { error: 'Origin not allowed' });
    const answer =
      request.method === 'OPTIONS' ? { status: 204, headers: preflight } : await endpoint(request, response);
    return { ...answer, headers: { ...answer.headers, ...corsHeaders(origin) } };
  }

  function route(request: IncomingMessage, response: ServerResponse): Answer | Promise<Answer> {
    const path = pathOf(request);
    if (path === '/mcp') {
      const origin = headerOf(request, 'origin');
      return origin === undefined ? endpoint(request, response) : endpointForPage(request, response, origin);
    }
    if (path === '/health' && (request.method === 'GET' || request.method === 'HEAD')) {
      return json(200, { status: 'ok', server: info.name, version: info.version });
    }
    return json(404, { error: 'Not found' });
  }

  function incident(error: unknown): Answer {
    const id = randomUUID();
    log('incident', { id, detail: error instanceof Error ? error.stack : String(error) });
    return json(500, { error: `Internal error (incident ${id})` });
  }

  return {
    async handle(request, response) {
      try {
        send(response, await route(request, response));
        discardRest(request);
      } catch (error) {
        // A caller that is gone takes no answer, and what it broke off is no incident.
        if (!response.destroyed) send(response, incident(error));
      }
    },
    closeStreams: () => streams.close(),
  };
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** The path that a request names: its target without a query, and without the origin that some proxies put in front. */
function pathOf({ url = '' }: IncomingMessage): string | undefined {
  return /^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(url)?.[1];
}

/** A header of a request; several of one name are one value, joined by commas. */
function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  return headers[name]?.toString();
}

function isInitialize(message: Members): boolean {
  return message.method === 'initialize' && 'id' in message;
}

function invalidSession(): Answer {
  return json(400, { error: 'Invalid session' });
}

function bodyRefusal(fault: BodyFault): Answer {
  switch (fault) {
    case 'media-type':
      return json(415, { error: 'Content-Type must be application/json' });
    case 'too-large':
      return json(413, { error: 'Request too large' });
    case 'not-json':
      return json(400, errorReply(ErrorCode.ParseError, 'Parse error'));
  }
}
