import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type Answer,
  bodyRefusals,
  invalidSession,
  json,
  noContent,
  requestIdHeader,
  serverStopping,
  streamHeaders,
  tokenUnknown,
  tooManyCalls,
} from './answer.ts';
import {
  type Admission,
  type Caller,
  type createAuthentication,
  signatureEnd,
  type TokenRules,
} from './auth.ts';
import type { BodyRefusal } from './bodies.ts';
import type { OnGone } from './call.ts';
import type { Tool } from './define-tool.ts';
import { createCalls, type Limits } from './limits.ts';
import { type Log, type PublishReport, publishSession } from './log.ts';
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
import { createSessions, createStreams, type Replicas } from './session.ts';

/** Of the endpoint. */
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

/** What the endpoint shares with the other routes. */
export interface Shared {
  readonly authentication: ReturnType<typeof createAuthentication>;
  readonly memory: ReturnType<typeof createMemory>;
  /** Reads a body, within the limits of who sends it. */
  receive<Value extends object>(
    request: IncomingMessage,
    caller: Caller | Promise<Caller>,
    parse: (bytes: Buffer, weight: number) => Value,
    weigh?: (bytes: Buffer) => number,
  ): Promise<Value | BodyRefusal>;
  /** The caller's network. */
  ownerOf(request: IncomingMessage): string;
}

/** `/mcp` (C§4, C§5): sessions, the gate of calls, and MCP in both revisions. */
export class Endpoint {
  readonly unauthorized: Answer;
  readonly runningCalls = new RunningCalls();
  readonly #config: EndpointOptions;
  readonly #shared: Shared;
  readonly #report: PublishReport;
  readonly #sessions: ReturnType<typeof createSessions>;
  readonly #streams: ReturnType<typeof createStreams>;
  readonly #calls: ReturnType<typeof createCalls>;
  readonly #methods: ReturnType<typeof createMethods>;
  readonly #modern: ReturnType<typeof createModern> | null;
  readonly #payers = new WeakSet<Socket>();

  constructor(
    config: EndpointOptions,
    tools: readonly Tool[],
    log: Log,
    report: PublishReport,
    shared: Shared,
  ) {
    const { token, replicas = null, sessionSecret, previousSessionSecret, sessionTtlSeconds } = config;
    this.#config = config;
    this.#shared = shared;
    this.#report = report;
    this.#sessions = createSessions(
      sessionSecret,
      sessionTtlSeconds,
      token?.audience ?? undefined,
      undefined,
      previousSessionSecret,
    );
    this.#streams = createStreams(config, report);
    this.#calls = createCalls(config, report);
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
    return this.#payers.has(socket);
  }

  /** Ends the event stream of a connection. */
  closeStream(socket: Socket): void {
    this.#streams.close(socket);
  }

  closeStreams(): void {
    this.#streams.closeAll();
  }

  async post(request: IncomingMessage, response: ServerResponse, id: string): Promise<Answer> {
    const { headers } = request;
    if (!jsonType.test(headers['content-type'] ?? '')) {
      return json(415, { error: 'Content-Type must be application/json' });
    }
    const identified = this.#shared.authentication.identify(headers);
    const body = await this.#shared.receive(
      request,
      identified,
      weighedBody,
      (bytes) => estimateMemory(bytes) ?? 0,
    );
    if (typeof body === 'number') return bodyRefusals[body];
    const heldMemory = new HeldMemory(this.#shared.memory, body.weight);
    try {
      const caller = await identified;
      if (caller.isPaying) this.#payers.add(request.socket);
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
  ): Promise<Answer> {
    const { headers } = request;
    const denial = this.#paymentDenial(id, message, caller);
    if (denial) return denial;
    if (message === undefined) throw new RpcError(ErrorCode.ParseError, 'Nested too deeply');
    const era = this.#eraOf(message, headers);
    const refusal = era?.refusalOf(message, headers);
    if (refusal) return refusalAnswer(refusal);
    if (!isObject(message)) throw new RpcError(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message');
    const initializes = isInitialize(message, era);
    if (!era && this.#lacksSession(headers, initializes)) return invalidSession;
    const isCall = message.method === paidMethod;
    const payer = this.#payerOf(headers);
    if (isCall && !this.#calls.enter(payer)) return tooManyCalls;
    try {
      // Last, so that a refused call leaves its token valid for another attempt.
      const claim = isCall && isRequest(message) ? caller.claim : undefined;
      const claimDenial = claim && this.#claimDenial(await claim(id));
      if (claimDenial) return claimDenial;
      const traceparent = traceparentOf(message, headers);
      const context = { request: id, traceparent, held: heldMemory, onGone: onGone(response) };
      const reply = await replyTo(message, era?.methods ?? this.#methods, context);
      if (typeof reply !== 'string') return replyAnswer(reply);
      return json(200, reply, this.#sessionHeaders(headers, initializes));
    } finally {
      if (isCall) this.#calls.leave(payer);
    }
  }

  /** The answer to a caller that may not send a paid method now; null if it may, or if the message has none. */
  #paymentDenial(id: string, message: unknown, caller: Caller): Answer | null {
    const isPaid = message === undefined || holdsPaidMethod(message);
    if (!isPaid) return null;
    if (caller.isPaying && this.runningCalls.areStopped) {
      this.#report('SHUTDOWN_GRACE_MS');
      return serverStopping;
    }
    return caller.mayCall(id) ? null : this.unauthorized;
  }

  /**
   * Whether a request names no session of this server, although it needs one.
   *
   * @throws RpcError if its version of the protocol is not supported
   */
  #lacksSession(headers: IncomingHttpHeaders, initializes: boolean): boolean {
    const session = headers['mcp-session-id']?.toString();
    const needsNone = initializes && session === undefined;
    if (!needsNone && !this.#sessions.isKnown(session)) return true;
    const protocol = headers['mcp-protocol-version']?.toString();
    if (!initializes && protocol !== undefined && !protocolVersions.includes(protocol)) {
      throw new RpcError(ErrorCode.InvalidRequest, 'Unsupported MCP-Protocol-Version');
    }
    return false;
  }

  #eraOf(message: unknown, headers: IncomingHttpHeaders) {
    return this.#modern && isModern(message, headers) ? this.#modern : null;
  }

  #claimDenial(admission: Admission): Answer | null {
    if (admission === 'later') return tokenUnknown;
    return admission ? null : this.unauthorized;
  }

  #sessionHeaders(headers: IncomingHttpHeaders, initializes: boolean): Answer['headers'] {
    if (!initializes) return undefined;
    return { 'mcp-session-id': headers['mcp-session-id']?.toString() ?? this.#openSession() };
  }

  /** A GET or DELETE. Null for an event stream, whose response has already started. */
  ofSession(request: IncomingMessage, response: ServerResponse, id: string): Answer | null | Promise<Answer> {
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
    this.#streams.open(session, this.#shared.ownerOf(request), socket, response);
    return null;
  }

  /** The answer to a message that is no request of MCP. */
  refusalOf({ code, message }: RpcError, headers: IncomingHttpHeaders): Answer {
    // The stateless revision has no id of null.
    const id = this.#modern && isModern(null, headers) ? undefined : null;
    return json(400, errorReply(code, message, id));
  }

  #endSession(session: string): void {
    this.#sessions.close(session);
    this.#streams.close(session);
  }

  /** Identifies the token of a request. Null if no token is checked: then only the total of calls is limited. */
  #payerOf(headers: IncomingHttpHeaders): string | null {
    const { token } = this.#config;
    return token && signatureEnd(String(headers[token.header]));
  }

  #openSession(): string {
    publishSession('opened');
    return this.#sessions.open();
  }
}

const jsonType = /^application\/json[ \t]*(?:;|$)/i;

/** The value of a body, undefined if it is nested too deeply, and the memory that it has taken. */
function weighedBody(bytes: Buffer, weight: number): { readonly message: unknown; readonly weight: number } {
  return { message: estimateMemory(bytes) === null ? undefined : parseBody(bytes), weight };
}

function isInitialize(message: Members, era: object | null): boolean {
  return era === null && message.method === 'initialize' && 'id' in message;
}

function refusalAnswer(refusal: ErrorReply): Answer {
  return json(refusal.error.code === ErrorCode.MethodNotFound ? 404 : 400, refusal);
}

/** The answer to a notification, or to a request that failed. */
function replyAnswer(reply: ErrorReply | null): Answer {
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
