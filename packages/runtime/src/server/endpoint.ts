import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  bodyRefusals,
  type HttpResponse,
  invalidSession,
  json,
  noContent,
  requestIdHeader,
  serverStopping,
  streamHeaders,
  tooManyCalls,
  usedTokensUnknown,
} from './answer.ts';
import {
  type Caller,
  type createAuthentication,
  signatureEnd,
  type TokenRules,
  type UsedKeys,
  type UseResult,
} from './auth.ts';
import type { BodyRefusal } from './bodies.ts';
import type { OnGone } from './call.ts';
import type { Tool } from './define-tool.ts';
import { createCalls, type Limits } from './limits.ts';
import { type Log, publishSession, type ReportLimit } from './log.ts';
import {
  createMethods,
  ErrorCode,
  type ErrorReply,
  errorReply,
  holdsPaidMethod,
  isRequest,
  type MethodOptions,
  paidMethod,
  parseBody,
  protocolVersions,
  RpcError,
  replyTo,
} from './mcp.ts';
import { type createMemory, estimateMemory, HeldMemory } from './memory.ts';
import { createModern, isModern, traceparentOf } from './modern.ts';
import { RunningCalls } from './running-calls.ts';
import { isObject, type Members } from './schema.ts';
import { createSessions, createStreams, type SharedSessions } from './session.ts';

/** What the environment and the author set for `/mcp`. */
export interface EndpointOptions extends MethodOptions, Limits {
  /** Null if the token check is off. */
  readonly token: TokenRules | null;
  /** Null for a random secret: sessions then end with the process. */
  readonly sessionSecret: string | null;
  /** A former secret, whose sessions stay valid; null or absent if there is none. */
  readonly previousSessionSecret?: string | null;
  /** Lifetime of a session, in seconds. */
  readonly sessionTtlSeconds: number;
  /** Whether requests of MCP 2026-07-28 are also answered; true by default. */
  readonly modern?: boolean;
  /** What it shares with its replicas; null or absent: nothing. */
  readonly replicas?: Replicas | null;
}

/** What a server shares with its replicas. */
export interface Replicas extends SharedSessions, UsedKeys {}

/** What `http.ts` gives to the endpoint. */
export interface EndpointServices {
  readonly authentication: ReturnType<typeof createAuthentication>;
  readonly memory: ReturnType<typeof createMemory>;
  /** Reads a body, within the limits of who sends it. */
  receive<Value extends object>(
    request: IncomingMessage,
    caller: Caller | Promise<Caller>,
    parse: (bytes: Buffer, memoryBytes: number) => Value,
    weigh?: (bytes: Buffer) => number,
  ): Promise<Value | BodyRefusal>;
  /** The caller's network. */
  ownerOf(request: IncomingMessage): string;
}

/** `/mcp` (C§4, C§5): sessions, the gate of calls, and MCP in both revisions. */
export class McpEndpoint {
  readonly unauthorized: HttpResponse;
  readonly runningCalls = new RunningCalls();
  readonly #config: EndpointOptions;
  readonly #services: EndpointServices;
  readonly #reportLimit: ReportLimit;
  readonly #sessions: ReturnType<typeof createSessions>;
  readonly #streams: ReturnType<typeof createStreams>;
  readonly #calls: ReturnType<typeof createCalls>;
  readonly #methods: ReturnType<typeof createMethods>;
  readonly #modern: ReturnType<typeof createModern> | null;
  readonly #paidSockets = new WeakSet<Socket>();

  constructor(
    config: EndpointOptions,
    tools: readonly Tool[],
    log: Log,
    reportLimit: ReportLimit,
    services: EndpointServices,
  ) {
    const { token, replicas = null, sessionSecret, previousSessionSecret, sessionTtlSeconds } = config;
    this.#config = config;
    this.#services = services;
    this.#reportLimit = reportLimit;
    this.#sessions = createSessions(
      sessionSecret,
      sessionTtlSeconds,
      token?.audience ?? undefined,
      undefined,
      previousSessionSecret,
    );
    this.#streams = createStreams(config, reportLimit);
    this.#calls = createCalls(config, reportLimit);
    this.#methods = createMethods(config, tools, log, this.runningCalls);
    this.#modern = config.modern === false ? null : createModern(this.#methods, config, tools);
    this.unauthorized = json(token?.refusalStatus ?? 401, { error: 'Unauthorized' });
    replicas?.follow((session) => {
      if (this.#sessions.isKnown(session)) this.#endSession(session);
    });
  }

  /** The headers of a request that only the stateless revision has. */
  get headers(): readonly string[] {
    return this.#modern?.headers ?? [];
  }

  hasPaid(socket: Socket): boolean {
    return this.#paidSockets.has(socket);
  }

  /** Ends the event stream of a connection. */
  closeStream(socket: Socket): void {
    this.#streams.close(socket);
  }

  closeStreams(): void {
    this.#streams.closeAll();
  }

  async post(request: IncomingMessage, response: ServerResponse, id: string): Promise<HttpResponse> {
    const { headers } = request;
    if (!jsonType.test(headers['content-type'] ?? '')) {
      return json(415, { error: 'Content-Type must be application/json' });
    }
    const identified = this.#services.authentication.identify(headers);
    const body = await this.#services.receive(
      request,
      identified,
      parseWithinDepth,
      (bytes) => estimateMemory(bytes) ?? 0,
    );
    if (typeof body === 'number') return bodyRefusals[body];
    const heldMemory = new HeldMemory(this.#services.memory, body.memoryBytes);
    try {
      const caller = await identified;
      if (caller.isPaying) this.#paidSockets.add(request.socket);
      return await this.#answerTo(request, response, id, body.message, heldMemory, caller);
    } finally {
      heldMemory.release();
    }
  }

  async #answerTo(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
    message: unknown,
    heldMemory: HeldMemory,
    caller: Caller,
  ): Promise<HttpResponse> {
    const { headers } = request;
    const denial = this.#refusalBeforeCall(id, message, caller);
    if (denial) return denial;
    if (message === undefined) throw new RpcError(ErrorCode.ParseError, 'Nested too deeply');
    const modern = this.#modernFor(message, headers);
    const refusal = modern?.refusalOf(message, headers);
    if (refusal) return refusalResponse(refusal);
    if (!isObject(message)) throw new RpcError(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message');
    const initializes = isInitialize(message, modern);
    if (this.#lacksSession(modern, headers, initializes)) return invalidSession;
    const isCall = message.method === paidMethod;
    const tokenKey = this.#tokenKey(headers);
    if (isCall && !this.#calls.enter(tokenKey)) return tooManyCalls;
    try {
      // After every check that answers 400 or 503: such a call keeps its token. A call with invalid arguments uses it up.
      const useUp = isCall && isRequest(message) ? caller.useUp : undefined;
      const useDenial = useUp && this.#useDenial(await useUp(id));
      if (useDenial) return useDenial;
      const traceparent = traceparentOf(message, headers);
      const context = { requestId: id, traceparent, held: heldMemory, onGone: onGone(response) };
      const reply = await replyTo(message, modern?.methods ?? this.#methods, context);
      if (typeof reply !== 'string') return replyResponse(reply);
      return json(200, reply, this.#sessionHeaders(headers, initializes));
    } finally {
      if (isCall) this.#calls.leave(tokenKey);
    }
  }

  /** The response to a paid method that may not run now, since its caller does not pay or the server stops; null if it may run. */
  #refusalBeforeCall(id: string, message: unknown, caller: Caller): HttpResponse | null {
    // A message that is nested too deeply was not parsed, so it may contain a call.
    const isPaid = message === undefined || holdsPaidMethod(message);
    if (!isPaid) return null;
    if (caller.isPaying && this.runningCalls.areStopped) {
      this.#reportLimit('SHUTDOWN_GRACE_MS');
      return serverStopping;
    }
    if (caller.mayCall(id)) return null;
    return this.unauthorized;
  }

  /**
   * Whether a request names no session of this server, although it needs one.
   *
   * @throws RpcError if its version of the protocol is not supported
   */
  #lacksSession(modern: object | null, headers: IncomingHttpHeaders, initializes: boolean): boolean {
    if (modern) return false;
    const session = headers['mcp-session-id']?.toString();
    const needsNone = initializes && session === undefined;
    if (!needsNone && !this.#sessions.isKnown(session)) return true;
    const protocol = headers['mcp-protocol-version']?.toString();
    if (!initializes && protocol !== undefined && !protocolVersions.includes(protocol)) {
      throw new RpcError(ErrorCode.InvalidRequest, 'Unsupported MCP-Protocol-Version');
    }
    return false;
  }

  /** The response to a call whose token cannot be used up. */
  #useDenial(use: UseResult): HttpResponse | null {
    if (use === 'later') return usedTokensUnknown;
    if (use === 'denied') return this.unauthorized;
    return null;
  }

  /** Null if the message belongs to a version with sessions. */
  #modernFor(message: unknown, headers: IncomingHttpHeaders) {
    if (this.#modern && isModern(message, headers)) return this.#modern;
    return null;
  }

  #sessionHeaders(headers: IncomingHttpHeaders, initializes: boolean): HttpResponse['headers'] {
    if (!initializes) return undefined;
    return { 'mcp-session-id': headers['mcp-session-id']?.toString() ?? this.#openSession() };
  }

  /** A GET or DELETE. Null for an event stream, whose response has already started. */
  ofSession(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): HttpResponse | null | Promise<HttpResponse> {
    const { method, headers, socket } = request;
    const session = headers['mcp-session-id']?.toString();
    if (!this.#sessions.isKnown(session)) return invalidSession;
    if (method === 'DELETE') {
      this.#endSession(session);
      publishSession('closed');
      const { replicas } = this.#config;
      if (replicas) return replicas.endSession(session).then(() => noContent);
      return noContent;
    }
    // Starts synchronously: the next request of the connection, which may already be here, ends the stream.
    response.writeHead(200, { ...streamHeaders, [requestIdHeader]: id });
    this.#streams.open(session, this.#services.ownerOf(request), socket, response);
    return null;
  }

  /** The answer to a message that is no request of MCP. */
  refusalOf({ code, message }: RpcError, headers: IncomingHttpHeaders): HttpResponse {
    // The stateless revision has no id of null.
    const id = this.#modern && isModern(null, headers) ? undefined : null;
    return json(400, errorReply(code, message, id));
  }

  #endSession(session: string): void {
    this.#sessions.close(session);
    this.#streams.close(session);
  }

  /** Identifies the token of a request. Null if no token is checked: then only the total of calls is limited. */
  #tokenKey(headers: IncomingHttpHeaders): string | null {
    const { token } = this.#config;
    return token && signatureEnd(String(headers[token.header]));
  }

  #openSession(): string {
    publishSession('opened');
    return this.#sessions.open();
  }
}

const jsonType = /^application\/json[ \t]*(?:;|$)/i;

/** Parses a body. `message` is undefined if it is nested too deeply; `memoryBytes` is the memory that the body has taken. */
function parseWithinDepth(
  bytes: Buffer,
  memoryBytes: number,
): { readonly message: unknown; readonly memoryBytes: number } {
  return { message: estimateMemory(bytes) === null ? undefined : parseBody(bytes), memoryBytes };
}

function isInitialize(message: Members, modern: object | null): boolean {
  return modern === null && message.method === 'initialize' && 'id' in message;
}

function refusalResponse(refusal: ErrorReply): HttpResponse {
  return json(refusal.error.code === ErrorCode.MethodNotFound ? 404 : 400, refusal);
}

/** The response to a notification, or to a request that failed. */
function replyResponse(reply: ErrorReply | null): HttpResponse {
  if (reply === null) return { status: 202 };
  return json(reply.error.code === ErrorCode.InvalidRequest ? 400 : 200, reply);
}

function onGone(response: ServerResponse): OnGone {
  return (leave) => {
    if (response.destroyed) leave();
    response.once('close', leave);
    return () => response.off('close', leave);
  };
}
