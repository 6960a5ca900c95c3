import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type Answer,
  bodyRefusals,
  invalidSession,
  json,
  noContent,
  notAllowed,
  streamHeaders,
  tokenUnknown,
  tooManyCalls,
} from './answer.ts';
import { type Caller, createAuthentication, endOf, noAuthentication, type TokenRules } from './auth.ts';
import { type BodyRefusal, createBodies, discardRest } from './bodies.ts';
import type { OnGone } from './call.ts';
import type { Tool } from './define-tool.ts';
import {
  createAnswers,
  createCalls,
  createEnds,
  isolatesRequests,
  type Limits,
  networkOf,
} from './limits.ts';
import { createReport, type Log, logId, provide, publishRefusal, publishSession } from './log.ts';
import {
  createMethods,
  ErrorCode,
  errorReply,
  holdsPaidMethod,
  type MethodOptions,
  paidMethod,
  parseBody,
  protocolVersions,
  RpcError,
  replyTo,
} from './mcp.ts';
import { countSources, createMemory, HeldMemory, weightOf } from './memory.ts';
import { createModern, isModern, traceparentOf } from './modern.ts';
import { createOrigins, type OriginOptions } from './origins.ts';
import {
  answered,
  cutOff,
  headersOf,
  type RouteHandler,
  type RouteOptions,
  routesOf,
  wellKnownOf,
  withBody,
} from './routes.ts';
import { isObject } from './schema.ts';
import { createSessions, createStreams, type Replicas } from './session.ts';

/** A complete configuration; `readConfig` gives all but the name and the version. */
export interface AppConfig extends MethodOptions, Limits, OriginOptions, RouteOptions {
  /** Null if the token check is off. */
  readonly token: TokenRules | null;
  /** Null for a random secret: sessions then end with the process. */
  readonly sessionSecret: string | null;
  /** A former secret, whose sessions stay valid; null or absent if there is none. */
  readonly previousSessionSecret?: string | null;
  /** Lifetime of a session, in seconds. */
  readonly sessionTtlSeconds: number;
  /** Whether requests of MCP 2026-07-28 are answered, too; true by default. */
  readonly modern?: boolean;
  /** Header in which a trusted proxy names the caller, lower case; null without a proxy. */
  readonly clientAddressHeader: string | null;
  /** What it shares with its replicas; null or absent: nothing. */
  readonly replicas?: Replicas | null;
}

/** The endpoints of C§4, for a server of `node:http`. */
export interface App {
  /** Answers a request: a listener of `createServer`. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Fetches the platform's keys before the first call, which fetches them otherwise; never rejects. */
  prepare(): Promise<void>;
  /** Answers without a body a request that is not handled, such as one that comes while the server stops. */
  refuse(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void;
  /** Whether a request of a connection carried a valid token. */
  hasPaid(socket: Socket): boolean;
  /** Describes the keys that verify tokens. */
  keyInUse(): string;
  /** Why no call can be paid now; null if one can. */
  unready(): string | null;
  /** From now on `/ready` answers 503, and each answer ends its connection. */
  drain(): void;
  /** Ends event streams and refuses bodies that wait to be parsed, unless they are paid: they would delay a shutdown. */
  stop(): void;
}

/** `createApp` of `app.ts`, for whoever has loaded the library that matches patterns (`pattern.ts`). */
export function createHttpApp(config: AppConfig, tools: readonly Tool[], log: Log): App {
  const endpoints = new Endpoints(config, tools, log);
  return {
    handle: (request, response) => endpoints.handle(request, response),
    prepare: () => endpoints.prepare(),
    refuse: (response, status, headers) => endpoints.refuse(response, status, headers),
    hasPaid: (socket) => endpoints.hasPaid(socket),
    keyInUse: () => endpoints.keyInUse(),
    unready: () => endpoints.unready(),
    drain: () => endpoints.drain(),
    stop: () => endpoints.stop(),
  };
}

class Endpoints implements App {
  readonly #config: AppConfig;
  readonly #log: Log;
  readonly #authentication: ReturnType<typeof createAuthentication>;
  readonly #sessions: ReturnType<typeof createSessions>;
  readonly #memory: ReturnType<typeof createMemory>;
  readonly #bodies: ReturnType<typeof createBodies>;
  readonly #answers: ReturnType<typeof createAnswers>;
  readonly #turnEnds = createEnds();
  readonly #streams: ReturnType<typeof createStreams>;
  readonly #calls: ReturnType<typeof createCalls>;
  readonly #methods: ReturnType<typeof createMethods>;
  readonly #modern: ReturnType<typeof createModern> | null;
  readonly #routes: ReturnType<typeof routesOf>;
  readonly #files: ReturnType<typeof wellKnownOf>;
  readonly #addedHeaders: ReturnType<typeof headersOf>;
  readonly #origins: ReturnType<typeof createOrigins>;
  readonly #unauthorized: Answer;
  readonly #payers = new WeakSet<Socket>();
  #isDraining = false;

  constructor(config: AppConfig, tools: readonly Tool[], log: Log) {
    const { token, replicas = null, sessionSecret, previousSessionSecret, sessionTtlSeconds } = config;
    this.#config = config;
    this.#log = log;
    this.#authentication =
      token === null ? noAuthentication : createAuthentication(token, log, config.production, replicas);
    this.#sessions = createSessions(
      sessionSecret,
      sessionTtlSeconds,
      token?.audience ?? undefined,
      undefined,
      previousSessionSecret,
    );
    const report = createReport(log);
    this.#memory = createMemory(config, report);
    countSources(this.#memory);
    this.#bodies = createBodies(config, this.#memory, report);
    this.#answers = createAnswers(config, report);
    this.#streams = createStreams(config, report);
    this.#calls = createCalls(config, report);
    this.#methods = createMethods(config, tools, log);
    provide('ready', () => {
      const unready = token?.audience === null ? 'audience' : this.#authentication.hasKey() ? '' : 'key';
      const reason = this.#isDraining ? 'stopping' : unready;
      return { value: Number(reason === ''), labels: { reason } };
    });
    this.#modern = config.modern === false ? null : createModern(this.#methods, config, tools);
    this.#routes = routesOf(config);
    this.#files = wellKnownOf(config, tools, this.#routes);
    this.#addedHeaders = headersOf(config);
    this.#unauthorized = json(token?.refusalStatus ?? 401, { error: 'Unauthorized' });
    this.#origins = createOrigins(config, [
      ...['content-type', 'accept', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'],
      'traceparent',
      ...[token?.header ?? 'authorization', ...(this.#modern?.headers ?? [])],
    ]);
    replicas?.follow((session) => {
      if (this.#sessions.isKnown(session)) this.#endSession(session);
    });
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = logId();
    this.#streams.close(request.socket); // this request waits behind it
    this.#addHeaders(response);
    if (this.#isDraining) response.setHeader('connection', 'close');
    try {
      const answer = await this.#route(request, response, id);
      if (answer !== null) await this.#turnEnds();
      if (answer !== null && !response.destroyed) this.#send(response, answer, id);
    } catch (error) {
      // A request that the caller aborted is not an incident.
      if (!response.destroyed) this.#send(response, this.#failureOf(error, request.headers, id), id);
    }
    discardRest(request);
  }

  refuse(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
    if (status < 500) publishRefusal(`HTTP ${status}`);
    this.#addHeaders(response);
    response.writeHead(status, { ...headers, [requestIdHeader]: logId() }).end();
  }

  prepare(): Promise<void> {
    return this.#authentication.prepare();
  }

  hasPaid(socket: Socket): boolean {
    return this.#payers.has(socket);
  }

  keyInUse(): string {
    return this.#authentication.inUse();
  }

  drain(): void {
    this.#isDraining = true;
  }

  stop(): void {
    this.#streams.closeAll();
    this.#bodies.stop();
  }

  async #post(request: IncomingMessage, response: ServerResponse, id: string): Promise<Answer> {
    const { headers } = request;
    if (!jsonType.test(headers['content-type'] ?? '')) {
      return json(415, { error: 'Content-Type must be application/json' });
    }
    const identified = this.#authentication.identify(headers);
    const body = await this.#receive(request, identified, weighedBody, (bytes) => weightOf(bytes) ?? 0);
    if (typeof body === 'number') return bodyRefusals[body];
    const held = new HeldMemory(this.#memory, body.weight);
    try {
      return await this.#answerTo(request, response, id, body.message, held, await identified);
    } finally {
      held.release();
    }
  }

  async #answerTo(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
    message: unknown,
    held: HeldMemory,
    caller: Caller,
  ): Promise<Answer> {
    const { headers } = request;
    if (caller.isPaying) this.#payers.add(request.socket);
    const isPaid = message === undefined || holdsPaidMethod(message);
    const admission = !isPaid || (await caller.mayCall(id));
    if (admission === 'later') return tokenUnknown;
    if (!admission) return this.#unauthorized;
    if (message === undefined) throw new RpcError(ErrorCode.ParseError, 'Nested too deeply');
    const era = this.#modern && isModern(message, headers) ? this.#modern : null;
    const refusal = era?.refusalOf(message, headers);
    if (refusal) return json(refusal.error.code === ErrorCode.MethodNotFound ? 404 : 400, refusal);
    if (!isObject(message)) throw new RpcError(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message');
    const session = headers['mcp-session-id']?.toString();
    const initializes = !era && message.method === 'initialize' && 'id' in message;
    if (!era && !(initializes && session === undefined) && !this.#sessions.isKnown(session))
      return invalidSession;
    const protocol = headers['mcp-protocol-version']?.toString();
    if (!era && !initializes && protocol !== undefined && !protocolVersions.includes(protocol)) {
      throw new RpcError(ErrorCode.InvalidRequest, 'Unsupported MCP-Protocol-Version');
    }

    const payer =
      message.method === paidMethod ? endOf(String(headers[this.#config.token?.header ?? ''])) : null;
    if (payer !== null && !this.#calls.enter(payer)) return tooManyCalls;
    try {
      const traceparent = traceparentOf(message, headers);
      const context = { request: id, traceparent, held, onGone: onGone(response) };
      const reply = await replyTo(message, era?.methods ?? this.#methods, context);
      if (reply === null) return { status: 202 };
      if (typeof reply === 'string') {
        const opened = initializes ? { 'mcp-session-id': session ?? this.#openSession() } : undefined;
        return json(200, reply, opened);
      }
      return json(reply.error.code === ErrorCode.InvalidRequest ? 400 : 200, reply);
    } finally {
      if (payer !== null) this.#calls.leave(payer);
    }
  }

  #endSession(session: string): void {
    this.#sessions.close(session);
    this.#streams.close(session);
  }

  #openSession(): string {
    publishSession('opened');
    return this.#sessions.open();
  }

  #receive<Value extends object>(
    request: IncomingMessage,
    caller: Caller | Promise<Caller>,
    parse: (bytes: Buffer, weight: number) => Value,
    weigh: (bytes: Buffer) => number = () => 0,
  ): Promise<Value | BodyRefusal> {
    const isPaying = caller instanceof Promise ? caller.then(isPayingOf) : caller.isPaying;
    return this.#bodies.read({ request, owner: this.#ownerOf(request), isPaying, parse, weigh });
  }

  /** Null if the handler has answered. */
  async #answerRoute(
    handler: RouteHandler,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): Promise<Answer | null> {
    response.setHeader(requestIdHeader, id);
    const body = await this.#receive(
      request,
      this.#authentication.identify(request.headers),
      (bytes) => bytes,
    );
    if (typeof body === 'number') return bodyRefusals[body];
    const late = () =>
      this.#log('incident', { id, detail: `${path}: no answer after ${this.#config.callTimeoutMs} ms` });
    try {
      await answered(handler, withBody(request, body), response, this.#config.callTimeoutMs, late);
    } catch (error) {
      const failure = this.#failureOf(error, request.headers, id);
      if (!response.headersSent) {
        for (const name of response.getHeaderNames()) response.removeHeader(name);
        this.#addHeaders(response);
        return failure;
      }
      if (!response.writableEnded) cutOff(response);
    }
    return null;
  }

  #addHeaders(response: ServerResponse): void {
    for (const [name, value] of this.#addedHeaders) response.setHeader(name, value);
  }

  /** The caller's network, by the last address in the trusted header or that of the socket. */
  #ownerOf({ headers, socket }: IncomingMessage): string {
    const named = this.#config.clientAddressHeader && headers[this.#config.clientAddressHeader]?.toString();
    return networkOf(named?.split(',').at(-1)?.trim() || (socket.remoteAddress ?? ''));
  }

  /** The process is healthy, even if it can do nothing. */
  #health(): Answer {
    const { name, version, token } = this.#config;
    return json(200, {
      status: 'ok',
      server: name,
      version,
      ...(!this.#authentication.hasKey() && { keys: 'none' }),
      ...(token?.audience === null && { audience: 'pending' }),
    });
  }

  /** Ready means that a call can be paid. */
  async #ready(): Promise<Answer> {
    const preparing = this.#authentication.prepare();
    if (isolatesRequests()) await preparing;
    const reason = this.unready();
    if (this.#isDraining) return json(503, { status: 'stopping' });
    return reason === null ? json(200, { status: 'ok' }) : json(503, { status: 'not ready', reason });
  }

  unready(): string | null {
    if (this.#config.token?.audience === null)
      return 'PLATFORM_AUDIENCE is pending: no token names this server';
    return this.#authentication.hasKey()
      ? null
      : 'no key: the key set of the platform was not fetched; the log says why';
  }

  /** Null for an event stream, whose response has already started. */
  #route(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): Answer | null | Promise<Answer | null> {
    const { method, headers, url = '', socket } = request;
    const { host, origin } = headers;
    if (!this.#origins.admitsHost(host)) {
      return json(403, { error: 'Host not allowed: name it in ALLOWED_HOSTS' });
    }
    const path = targetForm.exec(url)?.[1];
    const isReading = method === 'GET' || method === 'HEAD';
    if (path === '/health' && isReading) return this.#health();
    if (path !== '/mcp') {
      const file = this.#files.get(path ?? '');
      if (file) return isReading ? { status: 200, ...file } : notAllowed('GET, HEAD');
      const handler = path === undefined ? undefined : this.#routes.get(path);
      if (handler && path) return this.#answerRoute(handler, path, request, response, id);
      if (path === '/ready') return this.#ready();
      return json(404, { error: 'Not found' });
    }
    if (origin !== undefined) {
      if (!this.#origins.admits(origin)) return json(403, { error: 'Origin not allowed' });
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-expose-headers', `mcp-session-id, ${requestIdHeader}`);
      response.setHeader('vary', 'origin');
      if (method === 'OPTIONS') return { status: 204, headers: this.#origins.preflight };
    }
    if (method === 'POST') return this.#post(request, response, id);
    if (method !== 'GET' && method !== 'DELETE') {
      return notAllowed('GET, POST, DELETE');
    }
    const session = headers['mcp-session-id']?.toString();
    if (!this.#sessions.isKnown(session)) return invalidSession;
    if (method === 'DELETE') {
      this.#endSession(session);
      publishSession('closed');
      const { replicas } = this.#config;
      return replicas ? replicas.endSession(session).then(() => noContent) : noContent;
    }
    // Starts synchronously: the next request of the connection, which may already be here, ends the stream.
    response.writeHead(200, { ...streamHeaders, [requestIdHeader]: id });
    this.#streams.open(session, this.#ownerOf(request), socket, response);
    return null;
  }

  #send(response: ServerResponse, answer: Answer, id: string): void {
    const { status, headers, body = '' } = answer;
    // A refused token and a reached limit have reasons of their own.
    const isCounted = status >= 400 && status < 500 && status !== 408 && answer !== this.#unauthorized;
    if (isCounted) publishRefusal(`HTTP ${status}`);
    // Node reads the names of a literal faster than those of a spread.
    const type = 'application/json';
    const head =
      body === ''
        ? { 'x-request-id': id }
        : { 'content-type': type, 'content-length': Buffer.byteLength(body), 'x-request-id': id };
    response.writeHead(status, headers ? { ...head, ...headers } : head);
    this.#answers.send(response, body, () => this.#ownerOf(response.req));
  }

  #failureOf(error: unknown, headers: IncomingHttpHeaders, incident: string): Answer {
    if (error instanceof RpcError) {
      // The stateless revision has no id of null.
      const id = this.#modern && isModern(null, headers) ? undefined : null;
      return json(400, errorReply(error.code, error.message, id));
    }
    this.#log('incident', { id: incident, detail: error instanceof Error ? error.stack : String(error) });
    return json(500, { error: `Internal error (incident ${incident})` });
  }
}

/** Names a request in its answer and in the log. One from the caller is not read: it could equal that of another request. */
const requestIdHeader = 'x-request-id';

const jsonType = /^application\/json[ \t]*(?:;|$)/i;

/** Captures the path of a request target, without the query and without the origin that some proxies add. */
const targetForm = /^(?:https?:\/\/[^/?]*)?([^?]*)/i;

/** The value of a body, undefined if it is nested too deeply, and the memory that it has taken. */
function weighedBody(bytes: Buffer, weight: number): { readonly message: unknown; readonly weight: number } {
  return { message: weightOf(bytes) === null ? undefined : parseBody(bytes), weight };
}

const isPayingOf = ({ isPaying }: Caller) => isPaying;

function onGone(response: ServerResponse): OnGone {
  return (leave) => {
    if (response.destroyed) leave();
    response.once('close', leave);
    return () => response.off('close', leave);
  };
}
