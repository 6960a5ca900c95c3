import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { createGate, openGate, type TokenRules } from './auth.ts';
import { incidentId } from './call.ts';
import type { Tool } from './define-tool.ts';
import type { Log } from './log.ts';
import { type Caller, createMethods, paidMethod, protocolVersions, type ServerInfo } from './mcp.ts';
import { ErrorCode, errorReply, isObject, replyTo } from './rpc.ts';
import { createSessions } from './session.ts';

/** What the app must know of its surroundings. */
export interface AppConfig extends ServerInfo {
  readonly production: boolean;
  /** Null where the token check is switched off. */
  readonly token: TokenRules | null;
  /** Null where sessions end with the process. */
  readonly sessionSecret: string | null;
  readonly sessionTtlSeconds: number;
  /** `*` stands for every origin. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly maxBodyBytes: number;
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
  /** Ends the event streams, which would otherwise outlast everything. */
  closeStreams(): void;
}

/** What a request gets: a status, headers, and a text, a stream or nothing. */
interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Readable;
}

/**
 * The endpoints of C§4 over a list of tools.
 *
 * @throws Error where the tools cannot be served: two of one name, or a schema that does not compile.
 */
export function createApp(config: AppConfig, tools: readonly Tool[], log: Log): App {
  const { name, version, token, production, allowedOrigins, callTimeoutMs: timeoutMs } = config;
  const gate = token === null ? openGate : createGate(token, log);
  const sessions = createSessions(config.sessionSecret, config.sessionTtlSeconds);
  const streams = createStreams();
  const methods = createMethods({ info: { name, version }, tools, gate, timeoutMs, log });

  async function post(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    const { headers } = request;
    if (!jsonType.test(headers['content-type'] ?? '')) {
      return json(415, { error: 'Content-Type must be application/json' });
    }
    const bytes = await readBody(request, config.maxBodyBytes);
    if (bytes === null) return json(413, { error: 'Request too large' });
    let message: unknown;
    try {
      message = JSON.parse(bytes.toString());
    } catch {
      return json(400, errorReply(ErrorCode.ParseError, 'Parse error'));
    }

    if (holdsMethod(message, paidMethod) && !(await gate.admits(headers))) {
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

    const reply = await replyTo(message, methods, callerOf(request, response));
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
        return { status: 200, headers: streamHeaders, body: streams.open(session) };
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

  function route(request: IncomingMessage, response: ServerResponse): Answer | Promise<Answer> {
    const path = pathOf(request);
    if (path === '/mcp') {
      const { origin } = request.headers;
      return origin === undefined ? endpoint(request, response) : endpointFor(origin, request, response);
    }
    if (path === '/health' && (request.method === 'GET' || request.method === 'HEAD')) {
      return json(200, { status: 'ok', server: name, version });
    }
    return json(404, { error: 'Not found' });
  }

  return {
    async handle(request, response) {
      try {
        send(response, await route(request, response));
        discardRest(request);
      } catch (error) {
        // A caller that is gone takes no answer, and what it broke off is no incident.
        if (response.destroyed) return;
        const id = incidentId();
        log('incident', { id, detail: error instanceof Error ? error.stack : String(error) });
        send(response, json(500, { error: `Internal error (incident ${id})` }));
      }
    },
    prepare: gate.prepare,
    keyInUse: gate.holds,
    closeStreams: () => streams.close(),
  };
}

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

const discardMs = 500;

/**
 * The whole body; null where it is over the limit. That is told once all has come, or after a moment: many senders, and
 * proxies between, take no answer before they have sent everything.
 *
 * @throws Error where the caller goes away before its body is complete.
 */
export function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    let size = 0;
    let refusal: NodeJS.Timeout | undefined;
    const refuseSoon = () => {
      refusal ??= setTimeout(resolve, discardMs, null).unref();
    };
    if (Number(request.headers['content-length']) > mostBytes) refuseSoon();
    request.on('data', (chunk: Buffer) => {
      if (size + chunk.length > mostBytes) refuseSoon();
      else bytes = append(bytes, size, chunk);
      size += chunk.length;
    });
    request.on('end', () => {
      clearTimeout(refusal);
      resolve(size <= mostBytes ? bytes.subarray(0, size) : null);
    });
    request.on('error', reject);
  });
}

/**
 * A buffer that begins with the first `size` bytes of one and a chunk after them. It doubles when it is full: kept as
 * chunks, a body that comes byte by byte would take two hundred times its size.
 */
function append(bytes: Buffer, size: number, chunk: Buffer): Buffer {
  if (size === 0) return chunk;
  const needed = size + chunk.length;
  const roomy = needed <= bytes.length ? bytes : Buffer.concat([bytes], 2 * needed);
  chunk.copy(roomy, size);
  return roomy;
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

function invalidSession(): Answer {
  return json(400, { error: 'Invalid session' });
}

/** Sends an answer whole, or streams it until its source or its reader ends. */
function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers);
  if (typeof body === 'object') pipeline(body, response, () => {});
  else response.end(body);
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

const keepAliveMs = 25_000;
const keepAlive = ': keep-alive\n\n';

/**
 * The open event streams of `GET /mcp`. A tools-only server has nothing to say there: they only stay open, and a comment
 * now and then keeps proxies from closing them.
 */
export function createStreams() {
  const open = new Map<PassThrough, string>();
  let timer: NodeJS.Timeout | undefined;
  const keepOpen = () => {
    for (const stream of open.keys()) stream.write(keepAlive);
  };
  return {
    open(session: string): Readable {
      const stream = new PassThrough();
      open.set(stream, session);
      timer ??= setInterval(keepOpen, keepAliveMs).unref();
      stream.once('close', () => {
        open.delete(stream);
        if (open.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      stream.write(keepAlive);
      return stream;
    },
    /** Ends the streams of a session; all streams where none is named. */
    close(session?: string): void {
      for (const [stream, owner] of open) if (session === undefined || owner === session) stream.end();
    },
  };
}
