// Routes HTTP requests to `/mcp`, `/health`, `/ready` and the author's routes, and sends the responses.

import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Caller, createAuthenticator, noTokenCheck } from './auth.ts';
import {
  abortResponse,
  addedResponseHeaders,
  checkRoutes,
  type RouteHandler,
  type RouteOptions,
  replayBody,
  runRoute,
  wellKnownFiles,
} from './author-routes.ts';
import { createMemory, setSourceMemory } from './call-memory.ts';
import type { Tool } from './define-tool.ts';
import { errorDetail } from './error-detail.ts';
import { networkOf } from './fair-limit.ts';
import {
  bodyRefusals,
  type HttpResponse,
  jsonResponse,
  methodNotAllowed,
  requestIdHeader,
} from './http-responses.ts';
import { BodyRefusal, createBodies, discardRest } from './incoming-bodies.ts';
import { RpcError } from './json-rpc.ts';
import { isolatesRequests } from './limits.ts';
import { createLimitReporter, createRequestId, type Log, provideGauge, publishRefusal } from './log.ts';
import { type EndpointOptions, McpEndpoint } from './mcp-endpoint.ts';
import { createOrigins, type OriginOptions } from './origins.ts';
import { createResponseBatch, createResponseSender } from './response-sender.ts';

/** A complete configuration: the values of `readConfig` with the name and the version of the server. */
export interface AppConfig extends EndpointOptions, OriginOptions, RouteOptions {
  /** Header in which a trusted proxy names the caller, lower case; null without a proxy. */
  readonly clientAddressHeader: string | null;
}

/** The endpoints of C§4, for a server of `node:http`. */
export interface App {
  /** Answers a request: a listener of `createServer`. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Fetches the platform's keys before the first call, which fetches them otherwise; never rejects. */
  prepare(): Promise<void>;
  /** Answers without a body a request that is not handled, such as one that comes while the server stops. */
  refuse(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void;
  /** Whether a request of this connection carried a valid token. */
  hasPaid(socket: Socket): boolean;
  /** Describes the keys that verify tokens. */
  keyInUse(): string;
  /** Why no call can be paid now; null if one can. */
  unready(): string | null;
  /** From now on `/ready` answers 503, and each answer ends its connection. */
  drain(): void;
  /** Ends event streams, and refuses unpaid bodies that wait to be parsed: they would delay a shutdown. */
  refuseUnpaid(): void;
  /** Ends every running call with the failure `SERVER_STOPPING`, and refuses further calls and large bodies. */
  stopCalls(): void;
  /** Number of calls that `stopCalls` has ended. */
  abortedCalls(): number;
}

/** `createApp` of `app.ts`, for callers that have loaded the library that matches patterns (`pattern-matcher.ts`). */
export function createHttpApp(config: AppConfig, tools: readonly Tool[], log: Log): App {
  const app = new HttpApp(config, tools, log);
  return {
    handle: (request, response) => app.handle(request, response),
    prepare: () => app.prepare(),
    refuse: (response, status, headers) => app.refuse(response, status, headers),
    hasPaid: (socket) => app.hasPaid(socket),
    keyInUse: () => app.keyInUse(),
    unready: () => app.unready(),
    drain: () => app.drain(),
    refuseUnpaid: () => app.refuseUnpaid(),
    stopCalls: () => app.stopCalls(),
    abortedCalls: () => app.abortedCalls(),
  };
}

class HttpApp implements App {
  readonly #config: AppConfig;
  readonly #log: Log;
  readonly #authentication: ReturnType<typeof createAuthenticator>;
  readonly #bodies: ReturnType<typeof createBodies>;
  readonly #sender: ReturnType<typeof createResponseSender>;
  readonly #waitForBatch = createResponseBatch();
  readonly #endpoint: McpEndpoint;
  readonly #routes: ReturnType<typeof checkRoutes>;
  readonly #files: ReturnType<typeof wellKnownFiles>;
  readonly #addedHeaders: ReturnType<typeof addedResponseHeaders>;
  readonly #origins: ReturnType<typeof createOrigins>;
  #isDraining = false;

  constructor(config: AppConfig, tools: readonly Tool[], log: Log) {
    const { token: tokenRules, replicas = null } = config;
    this.#config = config;
    this.#log = log;
    this.#authentication =
      tokenRules === null ? noTokenCheck : createAuthenticator(tokenRules, log, config.production, replicas);
    const reportLimit = createLimitReporter(log);
    const memory = createMemory(config, reportLimit);
    setSourceMemory(memory);
    this.#bodies = createBodies(config, memory, reportLimit);
    this.#sender = createResponseSender(config, reportLimit);
    this.#endpoint = new McpEndpoint(config, tools, log, reportLimit, {
      authentication: this.#authentication,
      memory,
      readBody: (request, caller, parse, estimateMemory) =>
        this.#readBody(request, caller, parse, estimateMemory),
      networkOf: (request) => this.#networkOf(request),
    });
    provideGauge('ready', () => {
      const reason = this.#unreadyLabel();
      return { value: Number(reason === ''), labels: { reason } };
    });
    this.#routes = checkRoutes(config);
    this.#files = wellKnownFiles(config, tools, this.#routes);
    this.#addedHeaders = addedResponseHeaders(config);
    this.#origins = createOrigins(config, [
      ...['content-type', 'accept', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'],
      'traceparent',
      ...[tokenRules?.header ?? 'authorization', ...this.#endpoint.headers],
    ]);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = createRequestId();
    this.#endpoint.closeStream(request.socket); // the response to this request would wait until the stream ends
    this.#addHeaders(response);
    if (this.#isDraining) response.setHeader('connection', 'close');
    try {
      const httpResponse = await this.#route(request, response, requestId);
      if (httpResponse !== null) {
        await this.#waitForBatch();
        if (!response.destroyed) this.#send(response, httpResponse, requestId);
      }
    } catch (error) {
      // A request that the caller aborted is not an incident.
      if (!response.destroyed)
        this.#send(response, this.#failureResponse(error, request.headers, requestId), requestId);
    }
    discardRest(request);
  }

  refuse(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
    if (status < 500) publishRefusal(`HTTP ${status}`);
    this.#addHeaders(response);
    response.writeHead(status, { ...headers, [requestIdHeader]: createRequestId() }).end();
  }

  prepare(): Promise<void> {
    return this.#authentication.prepare();
  }

  hasPaid(socket: Socket): boolean {
    return this.#endpoint.hasSentValidToken(socket);
  }

  keyInUse(): string {
    return this.#authentication.describeKeys();
  }

  drain(): void {
    this.#isDraining = true;
  }

  refuseUnpaid(): void {
    this.#endpoint.closeStreams();
    this.#bodies.refuseUnpaid();
  }

  stopCalls(): void {
    this.#bodies.refusePaid();
    this.#endpoint.runningCalls.stop();
  }

  abortedCalls(): number {
    return this.#endpoint.runningCalls.abortedCount;
  }

  #readBody<Value extends object>(
    request: IncomingMessage,
    caller: Caller | Promise<Caller>,
    parse: (bytes: Buffer, memoryBytes: number) => Value,
    estimateMemory: (bytes: Buffer) => number = () => 0,
  ): Promise<Value | BodyRefusal> {
    const hasValidToken = caller instanceof Promise ? caller.then(tokenValidity) : caller.hasValidToken;
    return this.#bodies.read({
      request,
      owner: this.#networkOf(request),
      hasValidToken,
      parse,
      estimateMemory,
    });
  }

  /** Returns null when the handler has already sent the response. */
  async #answerRoute(
    handler: RouteHandler,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): Promise<HttpResponse | null> {
    response.setHeader(requestIdHeader, requestId);
    const body = await this.#readBody(
      request,
      this.#authentication.identify(request.headers),
      (bytes) => bytes,
    );
    if (body instanceof BodyRefusal) return bodyRefusals[body.status];
    const reportTimeout = () =>
      this.#log('incident', {
        id: requestId,
        detail: `${path}: no answer after ${this.#config.callTimeoutMs} ms`,
      });
    try {
      await runRoute(handler, replayBody(request, body), response, this.#config.callTimeoutMs, reportTimeout);
    } catch (error) {
      const failure = this.#failureResponse(error, request.headers, requestId);
      if (!response.headersSent) {
        for (const name of response.getHeaderNames()) response.removeHeader(name);
        this.#addHeaders(response);
        return failure;
      }
      if (!response.writableEnded) abortResponse(response);
    }
    return null;
  }

  #addHeaders(response: ServerResponse): void {
    for (const [name, value] of this.#addedHeaders) response.setHeader(name, value);
  }

  /** The caller's network: of the last address in the trusted header, or of the socket. */
  #networkOf({ headers, socket }: IncomingMessage): string {
    const clientAddress =
      this.#config.clientAddressHeader && headers[this.#config.clientAddressHeader]?.toString();
    return networkOf(clientAddress?.split(',').at(-1)?.trim() || (socket.remoteAddress ?? ''));
  }

  /** `/health`: the process runs, even if no call can be paid. */
  #health(): HttpResponse {
    const { name, version } = this.#config;
    return jsonResponse(200, {
      status: 'ok',
      server: name,
      version,
      keys: this.#authentication.hasKey() ? undefined : 'none',
      audience: this.#isAudiencePending() ? 'pending' : undefined,
    });
  }

  /** Whether the audience of tokens is not yet known, so that no token can be valid. */
  #isAudiencePending(): boolean {
    const tokenRules = this.#config.token;
    return tokenRules !== null && tokenRules.audience === null;
  }

  /** `/ready`: whether a call can be paid. */
  async #ready(): Promise<HttpResponse> {
    const preparing = this.#authentication.prepare();
    if (isolatesRequests()) await preparing;
    const reason = this.unready();
    if (this.#isDraining) return jsonResponse(503, { status: 'stopping' });
    if (reason === null) return jsonResponse(200, { status: 'ok' });
    return jsonResponse(503, { status: 'not ready', reason });
  }

  /** Why no call can be paid now, as a label of the metric; empty if one can. */
  #unreadyLabel(): string {
    if (this.#isDraining) return 'stopping';
    if (this.#isAudiencePending()) return 'audience';
    if (!this.#authentication.hasKey()) return 'key';
    return '';
  }

  unready(): string | null {
    if (this.#isAudiencePending()) return 'PLATFORM_AUDIENCE is pending: no token names this server';
    if (this.#authentication.hasKey()) return null;
    return 'no key: the key set of the platform was not fetched; the log says why';
  }

  /** Answers by path and method. Returns null if the response has already started: an event stream, or a route of the author. */
  #route(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): HttpResponse | null | Promise<HttpResponse | null> {
    const { method, headers, url = '' } = request;
    const { host, origin } = headers;
    if (!this.#origins.admitsHost(host)) {
      return jsonResponse(403, { error: 'Host not allowed: name it in ALLOWED_HOSTS' });
    }
    const path = targetForm.exec(url)?.[1];
    const isReading = method === 'GET' || method === 'HEAD';
    if (path === '/health' && isReading) return this.#health();
    if (path !== '/mcp') return this.#routeOther(path, isReading, request, response, requestId);
    if (origin !== undefined) {
      if (!this.#origins.admitsOrigin(origin)) return jsonResponse(403, { error: 'Origin not allowed' });
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-expose-headers', `mcp-session-id, ${requestIdHeader}`);
      response.setHeader('vary', 'origin');
      if (method === 'OPTIONS') return { status: 204, headers: this.#origins.preflight };
    }
    if (method === 'POST') return this.#endpoint.handlePost(request, response, requestId);
    if (method !== 'GET' && method !== 'DELETE') return methodNotAllowed('GET, POST, DELETE');
    return this.#endpoint.handleSessionRequest(request, response, requestId);
  }

  /** Answers a request to another path than `/mcp`: a file, a route of the author, or `/ready`. */
  #routeOther(
    path: string | undefined,
    isReading: boolean,
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): HttpResponse | null | Promise<HttpResponse | null> {
    const file = this.#files.get(path ?? '');
    if (file) return isReading ? { status: 200, ...file } : methodNotAllowed('GET, HEAD');
    const handler = path === undefined ? undefined : this.#routes.get(path);
    if (handler && path) return this.#answerRoute(handler, path, request, response, requestId);
    if (path === '/ready') return this.#ready();
    return jsonResponse(404, { error: 'Not found' });
  }

  #send(response: ServerResponse, httpResponse: HttpResponse, requestId: string): void {
    const { status, headers, body = '', isCounted = false } = httpResponse;
    // A limit that was reached (503) was counted by `reportLimit`.
    if (status >= 400 && status < 500 && !isCounted) publishRefusal(`HTTP ${status}`);
    const head = body === '' ? { 'x-request-id': requestId } : jsonHead(body, requestId);
    response.writeHead(status, headers ? { ...head, ...headers } : head);
    this.#sender.send(response, body, () => this.#networkOf(response.req));
  }

  #failureResponse(error: unknown, headers: IncomingHttpHeaders, requestId: string): HttpResponse {
    if (error instanceof RpcError) return this.#endpoint.errorResponse(error, headers);
    this.#log('incident', { id: requestId, detail: errorDetail(error) });
    return jsonResponse(500, { error: `Internal error (incident ${requestId})` });
  }
}

/** The headers of a response with a body. Node reads the names of a literal faster than the names of a spread. */
function jsonHead(body: string, requestId: string): OutgoingHttpHeaders {
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
  };
}

/** Captures the path of a request target, without the query and without the origin that some proxies add. */
const targetForm = /^(?:https?:\/\/[^/?]*)?([^?]*)/i;

const tokenValidity = ({ hasValidToken }: Caller) => hasValidToken;
