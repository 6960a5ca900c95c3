import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type ServerResponse,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject, type Json, shorten } from 'market-mcp-contract/json';
import { isEventStream, isLoopback, maximumBytes, networkReason, now } from 'market-mcp-contract/wire';
import type { DeliberateRefusal } from './model.ts';
import { redact, redactText, redactUrl } from './redact.ts';
import { type Exchange, type Message, maxBodyBytes, type Purpose, sentTo, type Traffic } from './traffic.ts';
import { exactJsonIn, walkableValuesIn } from './values.ts';
import { type AnsweredExchange, exchangeOutcome, failedOutcome } from './verdict.ts';

/** A recorded connection to an endpoint. */
export interface Route {
  /** The URL to use instead of the endpoint. */
  readonly url: string;
  /** Required with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ids of the exchanges through this route, in order. */
  readonly exchanges: readonly number[];
  /** Why the last request got no response; undefined if it got one. */
  readonly error: string | undefined;
  close(): void;
}

export interface ProxyRouteOptions {
  readonly purpose: Purpose;
  /** Sends request bodies in small pieces with pauses, like a client with a slow connection. */
  readonly slow?: boolean;
  /** The refusal that the contract expects of its calls; a call without a token is `Unauthorized` in any case (C§5.4). */
  readonly refusal?: DeliberateRefusal | null;
}

export interface RecordingProxy {
  /** @throws Error if the endpoint is no http or https URL. */
  route(endpoint: string, options: ProxyRouteOptions): Route;
  close(): Promise<void>;
}

const routeHeader = 'x-market-mcp-route';
/** Tells a local development server which exchange a request belongs to (src/dev/observe.js). */
const exchangeHeader = 'x-market-mcp-exchange';
const slowPieces = 12;
const slowPauseMs = 60;

type OpenRoute = { -readonly [K in keyof Route]: Route[K] } & Required<ProxyRouteOptions> & {
    readonly endpoint: URL;
  };

/**
 * A proxy on loopback that forwards requests byte for byte and records them in the traffic, without secrets. It serves
 * only requests that name a route, by a random id that nobody else knows.
 *
 * @param tokenHeader the request header that carries the platform's token, lower case.
 */
export async function startProxy(traffic: Traffic, tokenHeader: string): Promise<RecordingProxy> {
  const routes = new Map<string, OpenRoute>();
  const server = createServer((incoming, outgoing) => {
    const route = routes.get(String(incoming.headers[routeHeader]));
    if (!route) {
      outgoing.writeHead(404).end();
      return;
    }
    forward(incoming, outgoing, route, traffic, tokenHeader);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    route(endpoint, { purpose, slow = false, refusal = null }) {
      const key = randomUUID();
      const url = new URL(endpoint);
      if (!/^https?:$/.test(url.protocol)) throw new Error('expected an http or https URL');
      const route: OpenRoute = {
        url: `http://127.0.0.1:${port}${url.pathname}${url.search}`,
        headers: { [routeHeader]: key },
        exchanges: [],
        error: undefined,
        close: () => routes.delete(key),
        endpoint: url,
        slow,
        purpose,
        refusal,
      };
      routes.set(key, route);
      return route;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  route: OpenRoute,
  traffic: Traffic,
  tokenHeader: string,
): void {
  const { method = 'GET', url = '/' } = incoming;
  const { [routeHeader]: _route, ...given } = incoming.headers;
  const target = new URL(url, route.endpoint);
  const headers = { ...endToEnd(given), host: target.host };
  const request: Recorder = record(headers);
  const keep = (message: Message): Message => redact(message, tokenHeader);
  const id = traffic.start({
    purpose: route.purpose,
    method,
    url: redactUrl(target.href),
    [sentTo]: target.href,
    rpc: null,
    request: keep(request.message()),
  });
  route.exchanges = [...route.exchanges, id];
  route.error = undefined;
  const started = now();

  const send = target.protocol === 'https:' ? secureRequest : plainRequest;
  const mark = isLoopback(target.hostname) ? { [exchangeHeader]: String(id) } : {};
  const upstream = send(target, { method, headers: { ...headers, ...mark } });
  let calls: Calls = 'none';
  let rpcId: Json | undefined;
  let answered: Pick<AnsweredExchange, 'status' | 'values'> | undefined;
  /** Sets the outcome when both the request and its answer are complete, in either order. A verdict of the caller stays. */
  const settle = (): void => {
    if (!answered || !incoming.readableEnded) return;
    const unpaid = given[tokenHeader] === undefined ? 'Unauthorized' : null;
    const refusal = calls === 'none' ? null : (route.refusal ?? unpaid);
    const outcome = exchangeOutcome({ ...answered, id: rpcId, isCall: calls === 'one', refusal });
    traffic.change(id, { outcome: traffic.get(id)?.outcome ?? outcome });
  };
  let isLeft = false;
  const fail = (reason: Error): void => {
    const error = isLeft ? 'the caller closed the connection' : networkReason(reason);
    route.error = error;
    traffic.change(id, { ms: now() - started, error, outcome: failedOutcome('no answer') });
    outgoing.destroy();
  };
  upstream.on('error', fail);
  upstream.on('response', (answer) => {
    const response = record(answer.headers);
    const status = answer.statusCode ?? 0;
    const type = answer.headers['content-type'];
    const arrive = (): void =>
      traffic.change(id, { response: { ...keep(response.message()), status }, ms: now() - started });
    const finish = (): void => {
      answered = { status, values: walkableValuesIn(response.text(), type) };
      arrive();
      settle();
    };
    outgoing.writeHead(status, endToEnd(answer.headers));
    outgoing.flushHeaders();
    // Whoever leaves a stream of events has what it waited for.
    const end = (error: Error): void => (isLeft && isEventStream(type) ? finish() : fail(error));
    answer.on('data', response.take).on('end', finish).on('error', end).pipe(outgoing);
    if (isEventStream(type)) arrive();
  });
  outgoing.on('close', () => {
    isLeft = !outgoing.writableFinished;
    if (isLeft) upstream.destroy();
  });
  incoming.on('data', request.take).on('end', () => {
    const [value] = exactJsonIn(redactText(request.text()));
    calls = callsIn(value);
    rpcId = isObject(value) ? value.id : undefined;
    traffic.change(id, { request: keep(request.message()), rpc: rpcOf(value) });
    settle();
  });
  if (route.slow) sendSlowly(incoming, upstream).catch(fail);
  else incoming.pipe(upstream);
}

async function sendSlowly(incoming: IncomingMessage, upstream: NodeJS.WritableStream): Promise<void> {
  const body = Buffer.concat(await incoming.toArray());
  const size = Math.max(1, Math.ceil(body.length / slowPieces));
  for (let at = 0; at < body.length; at += size) {
    upstream.write(body.subarray(at, at + size));
    await delay(slowPauseMs);
  }
  upstream.end();
}

interface Recorder {
  take(chunk: Buffer): void;
  /** The body, up to the size at which callers give up. */
  text(): string;
  message(): Message;
}

function record(headers: IncomingHttpHeaders): Recorder {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    take(chunk) {
      if (size < maximumBytes) chunks.push(chunk);
      size += chunk.length;
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
    message: () => ({
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: Buffer.concat(chunks).subarray(0, maxBodyBytes).toString('utf8'),
      cut: Math.max(0, size - maxBodyBytes),
    }),
  };
}

const hopByHop = /^(?:connection|keep-alive|proxy-connection|transfer-encoding|te|trailer|upgrade)$/;

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.test(name)));
}

/** Whether a body calls a tool: alone, or in a batch. */
type Calls = 'none' | 'one' | 'batch';

function callsIn(value: Json | undefined): Calls {
  const isCall = (message: Json | undefined) => isObject(message) && message.method === 'tools/call';
  if (Array.isArray(value)) return value.some(isCall) ? 'batch' : 'none';
  return isCall(value) ? 'one' : 'none';
}

const shownCharacters = 200;

/** The method of a JSON-RPC request; the tool and its arguments if it calls one. */
function rpcOf(value: Json | undefined): Exchange['rpc'] {
  if (Array.isArray(value)) return { method: `batch of ${value.length}` };
  if (!isObject(value) || typeof value.method !== 'string') return null;
  const { method } = value;
  const params = isObject(value.params) ? value.params : {};
  if (typeof params.name !== 'string') return { method };
  return { method, tool: params.name, arguments: shorten(params.arguments ?? {}, shownCharacters) };
}
