// `/mcp`: token, session, era and limit of a message, before its method runs.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Caller, type createAuthenticator, signatureEnd } from './auth.ts';
import { createCallLimit } from './call-limit.ts';
import { type createMemory, estimateBody, ReservedMemory } from './call-memory.ts';
import type { Tool } from './define-tool.ts';
import { createStreams } from './event-streams.ts';
import {
  bodyRefusals,
  type HttpResponse,
  invalidSession,
  jsonResponse,
  noContent,
  requestIdHeader,
  serverStopping,
  streamHeaders,
  tooManyCalls,
  unauthorizedResponse,
  usedTokensUnknown,
} from './http-responses.ts';
import { BodyRefusal } from './incoming-bodies.ts';
import {
  ErrorCode,
  type ErrorReply,
  errorReply,
  isRequest,
  type McpMethod,
  type OnDisconnect,
  parseBody,
  type RequestContext,
  RpcError,
  replyTo,
} from './json-rpc.ts';
import type { Limits } from './limits.ts';
import { type Log, publishSession, type ReportLimit } from './log.ts';
import { createMethods, type MethodOptions, protocolVersions } from './mcp-methods.ts';
import { createModernEra, isModern } from './modern.ts';
import { RunningCalls } from './running-calls.ts';
import { isObject, type Members } from './schema.ts';
import { createSessions, type SharedSessions } from './session.ts';
import { holdsPaidMethod, paidMethod } from './tools-call.ts';
import { readTraceparent } from './trace.ts';
import type { UsedKeys, UseResult } from './used-tokens.ts';
import type { TokenRules } from './verify-token.ts';

/** The settings of `/mcp`. */
export interface EndpointOptions extends MethodOptions, Limits {
  /** The requirements for the token of a call; null if the token check is off. */
  readonly token: TokenRules | null;
  /** Null for a random secret, with which sessions end with the process. */
  readonly sessionSecret: string | null;
  /** The previous secret, whose sessions stay valid; null or absent if there is none. */
  readonly previousSessionSecret?: string | null;
  /** Lifetime of a session, in seconds. */
  readonly sessionTtlSeconds: number;
  /** Whether requests of MCP 2026-07-28 are also answered; true by default. */
  readonly modern?: boolean;
  /** The state that the server shares with its replicas; null or absent if it shares nothing. */
  readonly replicas?: Replicas | null;
}

/** Ended sessions and used tokens, which replicas share. */
export interface Replicas extends SharedSessions, UsedKeys {}

/** The parts of the HTTP app that the endpoint uses. */
export interface EndpointServices {
  readonly authentication: ReturnType<typeof createAuthenticator>;
  readonly memory: ReturnType<typeof createMemory>;
  /** Reads and parses a body within the limits for its caller. */
  readBody<Value extends object>(
    request: IncomingMessage,
    caller: Caller | Promise<Caller>,
    parse: (bytes: Buffer, memoryBytes: number) => Value,
    estimateMemory?: (bytes: Buffer) => number,
  ): Promise<Value | BodyRefusal>;
  /** The caller's network. */
  networkOf(request: IncomingMessage): string;
}

/** Answers requests to `/mcp` (C§4, C§5): checks the token of a call and the session, then runs the method of MCP in its era. */
export class McpEndpoint {
  /** The response to a call without a valid token. */
  readonly #unauthorized: HttpResponse;
  readonly runningCalls = new RunningCalls();
  readonly #config: EndpointOptions;
  readonly #services: EndpointServices;
  readonly #reportLimit: ReportLimit;
  readonly #sessions: ReturnType<typeof createSessions>;
  readonly #streams: ReturnType<typeof createStreams>;
  readonly #calls: ReturnType<typeof createCallLimit>;
  readonly #methods: ReturnType<typeof createMethods>;
  /** Null if requests of the modern era are not answered. */
  readonly #modernEra: ReturnType<typeof createModernEra> | null;
  readonly #socketsWithValidToken = new WeakSet<Socket>();

  constructor(
    config: EndpointOptions,
    tools: readonly Tool[],
    log: Log,
    reportLimit: ReportLimit,
    services: EndpointServices,
  ) {
    const { token: tokenRules, replicas = null, sessionSecret, sessionTtlSeconds } = config;
    this.#config = config;
    this.#services = services;
    this.#reportLimit = reportLimit;
    const audience = tokenRules?.audience ?? '';
    const previousSecret = config.previousSessionSecret ?? null;
    this.#sessions = createSessions(sessionSecret, sessionTtlSeconds, { audience, previousSecret });
    this.#streams = createStreams(config, reportLimit);
    this.#calls = createCallLimit(config, reportLimit);
    this.#methods = createMethods(config, tools, log, this.runningCalls);
    this.#modernEra = config.modern === false ? null : createModernEra(this.#methods, config, tools);
    this.#unauthorized = unauthorizedResponse(tokenRules);
    replicas?.follow((session) => {
      if (this.#sessions.isOpen(session)) this.#endSession(session);
    });
  }

  /** Names of the request headers of the stateless revision. */
  get headers(): readonly string[] {
    return this.#modernEra?.headers ?? [];
  }

  /** Whether a request of this connection carried a valid token. */
  hasSentValidToken(socket: Socket): boolean {
    return this.#socketsWithValidToken.has(socket);
  }

  /** Ends the event stream of a connection. */
  closeStream(socket: Socket): void {
    this.#streams.close(socket);
  }

  closeStreams(): void {
    this.#streams.closeAll();
  }

  /** Receives a message while its token is verified, then answers the message. */
  async handlePost(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): Promise<HttpResponse> {
    const { headers } = request;
    if (!jsonType.test(headers['content-type'] ?? '')) {
      return jsonResponse(415, { error: 'Content-Type must be application/json' });
    }
    const pendingCaller = this.#services.authentication.identify(headers);
    const body = await this.#services.readBody(
      request,
      pendingCaller,
      parseWithinDepth,
      (bytes) => estimateBody(bytes).memoryBytes,
    );
    if (body instanceof BodyRefusal) return bodyRefusals[body.status];
    const memory = new ReservedMemory(this.#services.memory, body.memoryBytes);
    try {
      const caller = await pendingCaller;
      if (caller.hasValidToken) this.#socketsWithValidToken.add(request.socket);
      return await this.#answerMessage({ request, response, requestId, body, memory, caller });
    } finally {
      memory.release();
    }
  }

  async #answerMessage(receivedMessage: ReceivedMessage): Promise<HttpResponse> {
    const { request, requestId, body, caller } = receivedMessage;
    const { headers } = request;
    const denial = this.#callDenial(requestId, body, caller);
    if (denial) return denial;
    if (body.kind === 'too deep') throw new RpcError(ErrorCode.ParseError, 'Nested too deeply');
    const { message } = body;
    const modernEra = this.#findModernEra(message, headers);
    const refusal = modernEra?.refusalOf(message, headers);
    if (refusal) return refusalResponse(refusal);
    if (!isObject(message)) throw new RpcError(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message');
    const isInitialize = modernEra === null && isInitializeRequest(message);
    const sessionRefusal = modernEra ? null : this.#findSessionRefusal(headers, isInitialize);
    if (sessionRefusal) return sessionRefusal;
    const methods = modernEra?.methods ?? this.#methods;
    if (message.method === paidMethod) return this.#answerCall(receivedMessage, message, methods);
    const reply = await replyTo(message, methods, requestContext(receivedMessage, message));
    if (!isInitialize || typeof reply !== 'string') return replyResponse(reply);
    const session = headers['mcp-session-id']?.toString() ?? this.#openSession();
    return jsonResponse(200, reply, { 'mcp-session-id': session });
  }

  /** Answers a call that has passed the checks of its token and its session. */
  async #answerCall(
    receivedMessage: ReceivedMessage,
    message: Members,
    methods: ReadonlyMap<string, McpMethod>,
  ): Promise<HttpResponse> {
    const { request, requestId, caller } = receivedMessage;
    const limitKey = this.#limitKey(request.headers);
    if (!this.#calls.enter(limitKey)) return tooManyCalls;
    try {
      // After the checks of this file: a call that they refuse keeps its token. A call with an unknown tool or invalid arguments, which the
      // method finds, has used its token. A message that is not a request runs no tool, so it uses up nothing.
      if (isRequest(message) && caller.useUp) {
        const useDenial = this.#tokenUseDenial(await caller.useUp(requestId));
        if (useDenial) return useDenial;
      }
      return replyResponse(await replyTo(message, methods, requestContext(receivedMessage, message)));
    } finally {
      this.#calls.leave(limitKey);
    }
  }

  /** Returns the response to a call without a valid token, or to a call while the server stops; null if it may run, or is no call. */
  #callDenial(requestId: string, body: ParsedBody, caller: Caller): HttpResponse | null {
    // A body that is nested too deeply was not parsed, so it may contain a call.
    const mayContainCall = body.kind === 'too deep' || holdsPaidMethod(body.message);
    if (!mayContainCall) return null;
    if (caller.hasValidToken && this.runningCalls.areStopped) {
      this.#reportLimit('SHUTDOWN_GRACE_MS');
      return serverStopping;
    }
    if (caller.admitCall(requestId)) return null;
    return this.#unauthorized;
  }

  /**
   * Returns the response to a request that needs an open session and does not name one; null if it may run. `initialize` needs none, but
   * one that it names must be open.
   *
   * @throws RpcError if a request in a session names a version that is not supported
   */
  #findSessionRefusal(headers: IncomingHttpHeaders, isInitialize: boolean): HttpResponse | null {
    const session = headers['mcp-session-id']?.toString();
    const opensSession = isInitialize && session === undefined;
    if (!opensSession && !this.#sessions.isOpen(session)) return invalidSession;
    if (!isInitialize) requireSupportedVersion(headers);
    return null;
  }

  /** The response to a call whose token cannot be used up; null if the call may run. */
  #tokenUseDenial(use: UseResult): HttpResponse | null {
    if (use === 'unknown') return usedTokensUnknown;
    if (use === 'denied') return this.#unauthorized;
    return null;
  }

  /** Returns the era without sessions if a message belongs to it; null if the message belongs to the legacy era. */
  #findModernEra(message: unknown, headers: IncomingHttpHeaders) {
    if (this.#modernEra && isModern(message, headers)) return this.#modernEra;
    return null;
  }

  /** Answers a GET or DELETE. Null for an event stream, whose response has already started. */
  handleSessionRequest(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): HttpResponse | null | Promise<HttpResponse> {
    const { method, headers, socket } = request;
    const session = headers['mcp-session-id']?.toString();
    if (!this.#sessions.isOpen(session)) return invalidSession;
    if (method === 'DELETE') {
      this.#endSession(session);
      publishSession('closed');
      const { replicas } = this.#config;
      if (replicas) return replicas.endSession(session).then(() => noContent);
      return noContent;
    }
    // Before any await: the next request of the connection ends the stream, and may already have arrived.
    response.writeHead(200, { ...streamHeaders, [requestIdHeader]: requestId });
    this.#streams.open(session, this.#services.networkOf(request), socket, response);
    return null;
  }

  /** The response to an `RpcError` that was thrown before `replyTo`. */
  errorResponse({ code, message }: RpcError, headers: IncomingHttpHeaders): HttpResponse {
    // The stateless revision has no id of null.
    const id = this.#modernEra && isModern(null, headers) ? undefined : null;
    return jsonResponse(400, errorReply(code, message, id));
  }

  #endSession(session: string): void {
    this.#sessions.close(session);
    this.#streams.close(session);
  }

  /** The key under which `MAX_CALLS_PER_TOKEN` counts a call: the end of its token; null if tokens are not checked. */
  #limitKey(headers: IncomingHttpHeaders): string | null {
    const tokenRules = this.#config.token;
    return tokenRules && signatureEnd(String(headers[tokenRules.header]));
  }

  #openSession(): string {
    publishSession('opened');
    return this.#sessions.open();
  }
}

const jsonType = /^application\/json[ \t]*(?:;|$)/i;

/** A body as JSON, and the memory that is reserved for it. A body that is nested too deeply is not parsed. */
type ParsedBody =
  | { readonly kind: 'message'; readonly message: unknown; readonly memoryBytes: number }
  | { readonly kind: 'too deep'; readonly memoryBytes: number };

/** A message that has arrived, and what is needed to answer it. */
interface ReceivedMessage {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly body: ParsedBody;
  /** Reserved for the message until its response is sent. */
  readonly memory: ReservedMemory;
  readonly caller: Caller;
}

function parseWithinDepth(bytes: Buffer, memoryBytes: number): ParsedBody {
  if (estimateBody(bytes).isTooDeep) return { kind: 'too deep', memoryBytes };
  return { kind: 'message', message: parseBody(bytes), memoryBytes };
}

/** @throws RpcError if the header names a version that is not supported */
function requireSupportedVersion(headers: IncomingHttpHeaders): void {
  const protocol = headers['mcp-protocol-version']?.toString();
  if (protocol !== undefined && !protocolVersions.includes(protocol)) {
    throw new RpcError(ErrorCode.InvalidRequest, 'Unsupported MCP-Protocol-Version');
  }
}

/** What the method of a message gets beside its params. */
function requestContext(
  { request, response, requestId, memory }: ReceivedMessage,
  message: Members,
): RequestContext {
  const traceparent = readTraceparent(message, request.headers);
  return { requestId, traceparent, memory, onDisconnect: onDisconnect(response) };
}

function isInitializeRequest(message: Members): boolean {
  return message.method === 'initialize' && 'id' in message;
}

function refusalResponse(refusal: ErrorReply): HttpResponse {
  return jsonResponse(refusal.error.code === ErrorCode.MethodNotFound ? 404 : 400, refusal);
}

/** The response with the reply to a message: a result as JSON text, an error, or null for a notification. */
function replyResponse(reply: string | ErrorReply | null): HttpResponse {
  if (reply === null) return { status: 202 };
  if (typeof reply === 'string') return jsonResponse(200, reply);
  return jsonResponse(reply.error.code === ErrorCode.InvalidRequest ? 400 : 200, reply);
}

function onDisconnect(response: ServerResponse): OnDisconnect {
  return (listener) => {
    if (response.destroyed) listener();
    response.once('close', listener);
    return () => response.off('close', listener);
  };
}
