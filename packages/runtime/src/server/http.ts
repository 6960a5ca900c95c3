import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bodyRefusals, type HttpResponse, json, notAllowed, requestIdHeader } from './answer.ts';
import { type Caller, createAuthentication, noAuthentication } from './auth.ts';
import { type BodyRefusal, createBodies, discardRest } from './bodies.ts';
import type { Tool } from './define-tool.ts';
import { type EndpointOptions, McpEndpoint } from './endpoint.ts';
import { createAnswers, createTurnEnd, isolatesRequests, networkOf } from './limits.ts';
import { createLimitReporter, type Log, logId, provide, publishRefusal } from './log.ts';
import { RpcError } from './mcp.ts';
import { chargeSourceAnswersTo, createMemory } from './memory.ts';
import { createOrigins, type OriginOptions } from './origins.ts';
import {
  abortResponse,
  answered,
  type RouteHandler,
  type RouteOptions,
  replayBody,
  responseHeaders,
  routesOf,
  wellKnownOf,
} from './routes.ts';

/** A complete configuration; `readConfig` gives all but the name and the version. */
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
  /** Whether a request of a connection carried a valid token. */
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

/** `createApp` of `app.ts`, for callers that have loaded the library that matches patterns (`pattern.ts`). */
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
  readonly #authentication: ReturnType<typeof createAuthentication>;
  readonly #bodies: ReturnType<typeof createBodies>;
  readonly #answers: ReturnType<typeof createAnswers>;
  readonly #endOfTurn = createTurnEnd();
  readonly #endpoint: McpEndpoint;
  readonly #routes: ReturnType<typeof routesOf>;
  readonly #files: ReturnType<typeof wellKnownOf>;
  readonly #addedHeaders: ReturnType<typeof responseHeaders>;
  readonly #origins: ReturnType<typeof createOrigins>;
  #isDraining = false;

  constructor(config: AppConfig, tools: readonly Tool[], log: Log) {
    const { token, replicas = null } = config;
    this.#config = config;
    this.#log = log;
    this.#authentication =
      token === null ? noAuthentication : createAuthentication(token, log, config.production, replicas);
    const reportLimit = createLimitReporter(log);
    const memory = createMemory(config, reportLimit);
    chargeSourceAnswersTo(memory);
    this.#bodies = createBodies(config, memory, reportLimit);
    this.#answers = createAnswers(config, reportLimit);
    this.#endpoint = new McpEndpoint(config, tools, log, reportLimit, {
      authentication: this.#authentication,
      memory,
      receive: (request, caller, parse, weigh) => this.#readBody(request, caller, parse, weigh),
      ownerOf: (request) => this.#ownerOf(request),
    });
    provide('ready', () => {
      let reason = '';
      if (this.#isDraining) reason = 'stopping';
      else if (token?.audience === null) reason = 'audience';
      else if (!this.#authentication.hasKey()) reason = 'key';
      return { value: Number(reason === ''), labels: { reason } };
    });
    this.#routes = routesOf(config);
    this.#files = wellKnownOf(config, tools, this.#routes);
    this.#addedHeaders = responseHeaders(config);
    this.#origins = createOrigins(config, [
      ...['content-type', 'accept', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'],
      'traceparent',
      ...[token?.header ?? 'authorization', ...this.#endpoint.headers],
    ]);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = logId();
    this.#endpoint.closeStream(request.socket); // this request waits behind it
    this.#addHeaders(response);
    if (this.#isDraining) response.setHeader('connection', 'close');
    try {
      const answer = await this.#route(request, response, id);
      if (answer !== null) await this.#endOfTurn(); // answers of one turn are sent together
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
    return this.#endpoint.hasPaid(socket);
  }

  keyInUse(): string {
    return this.#authentication.inUse();
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
    parse: (bytes: Buffer, weight: number) => Value,
    weigh: (bytes: Buffer) => number = () => 0,
  ): Promise<Value | BodyRefusal> {
    const isPaying = caller instanceof Promise ? caller.then(isPayingOf) : caller.isPaying;
    return this.#bodies.read({ request, owner: this.#ownerOf(request), isPaying, parse, weigh });
  }

  /** Returns null when the handler has already sent the response. */
  async #answerRoute(
    handler: RouteHandler,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): Promise<HttpResponse | null> {
    response.setHeader(requestIdHeader, id);
    const body = await this.#readBody(
      request,
      this.#authentication.identify(request.headers),
      (bytes) => bytes,
    );
    if (typeof body === 'number') return bodyRefusals[body];
    const onLate = () =>
      this.#log('incident', { id, detail: `${path}: no answer after ${this.#config.callTimeoutMs} ms` });
    try {
      await answered(handler, replayBody(request, body), response, this.#config.callTimeoutMs, onLate);
    } catch (error) {
      const failure = this.#failureOf(error, request.headers, id);
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

  /** The caller's network, by the last address in the trusted header, or the address of the socket. */
  #ownerOf({ headers, socket }: IncomingMessage): string {
    const clientAddress =
      this.#config.clientAddressHeader && headers[this.#config.clientAddressHeader]?.toString();
    return networkOf(clientAddress?.split(',').at(-1)?.trim() || (socket.remoteAddress ?? ''));
  }

  /** The process is healthy, even if it can do nothing. */
  #health(): HttpResponse {
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
  async #ready(): Promise<HttpResponse> {
    const preparing = this.#authentication.prepare();
    if (isolatesRequests()) await preparing;
    const reason = this.unready();
    if (this.#isDraining) return json(503, { status: 'stopping' });
    if (reason === null) return json(200, { status: 'ok' });
    return json(503, { status: 'not ready', reason });
  }

  unready(): string | null {
    if (this.#config.token?.audience === null)
      return 'PLATFORM_AUDIENCE is pending: no token names this server';
    if (this.#authentication.hasKey()) return null;
    return 'no key: the key set of the platform was not fetched; the log says why';
  }

  /** Null for an event stream, whose response has already started. */
  #route(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): HttpResponse | null | Promise<HttpResponse | null> {
    const { method, headers, url = '' } = request;
    const { host, origin } = headers;
    if (!this.#origins.admitsHost(host)) {
      return json(403, { error: 'Host not allowed: name it in ALLOWED_HOSTS' });
    }
    const path = targetForm.exec(url)?.[1];
    const isReading = method === 'GET' || method === 'HEAD';
    if (path === '/health' && isReading) return this.#health();
    if (path !== '/mcp') return this.#routeOther(path, isReading, request, response, id);
    if (origin !== undefined) {
      if (!this.#origins.admits(origin)) return json(403, { error: 'Origin not allowed' });
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-expose-headers', `mcp-session-id, ${requestIdHeader}`);
      response.setHeader('vary', 'origin');
      if (method === 'OPTIONS') return { status: 204, headers: this.#origins.preflight };
    }
    if (method === 'POST') return this.#endpoint.post(request, response, id);
    if (method !== 'GET' && method !== 'DELETE') return notAllowed('GET, POST, DELETE');
    return this.#endpoint.ofSession(request, response, id);
  }

  /** Any path but that of the endpoint. */
  #routeOther(
    path: string | undefined,
    isReading: boolean,
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): HttpResponse | null | Promise<HttpResponse | null> {
    const file = this.#files.get(path ?? '');
    if (file) return isReading ? { status: 200, ...file } : notAllowed('GET, HEAD');
    const handler = path === undefined ? undefined : this.#routes.get(path);
    if (handler && path) return this.#answerRoute(handler, path, request, response, id);
    if (path === '/ready') return this.#ready();
    return json(404, { error: 'Not found' });
  }

  #send(response: ServerResponse, answer: HttpResponse, id: string): void {
    const { status, headers, body = '' } = answer;
    // Not counted yet: a denied call and a reached limit were counted where they arose, with a more exact reason.
    const isUncounted =
      status >= 400 && status < 500 && status !== 408 && answer !== this.#endpoint.unauthorized;
    if (isUncounted) publishRefusal(`HTTP ${status}`);
    // Node reads the names of a literal faster than those of a spread.
    const type = 'application/json';
    const head =
      body === ''
        ? { 'x-request-id': id }
        : { 'content-type': type, 'content-length': Buffer.byteLength(body), 'x-request-id': id };
    response.writeHead(status, headers ? { ...head, ...headers } : head);
    this.#answers.send(response, body, () => this.#ownerOf(response.req));
  }

  #failureOf(error: unknown, headers: IncomingHttpHeaders, incident: string): HttpResponse {
    if (error instanceof RpcError) return this.#endpoint.refusalOf(error, headers);
    this.#log('incident', { id: incident, detail: error instanceof Error ? error.stack : String(error) });
    return json(500, { error: `Internal error (incident ${incident})` });
  }
}

/** Captures the path of a request target, without the query and without the origin that some proxies add. */
const targetForm = /^(?:https?:\/\/[^/?]*)?([^?]*)/i;

const isPayingOf = ({ isPaying }: Caller) => isPaying;
