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
import { now } from '../../contract/clock.ts';
import { isObject, jsonIn } from '../../contract/json.ts';
import { isLoopback } from '../../contract/probe/address.ts';
import { networkReason } from '../../contract/probe/network-error.ts';
import { redact, redactUrl } from './redact.ts';
import { type Message, maxBodyBytes, type Purpose, sentTo, type Traffic } from './traffic.ts';

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

export interface RouteOptions {
  readonly purpose: Purpose;
  /** Sends request bodies in small pieces with pauses, like a client with a slow connection. */
  readonly slow?: boolean;
}

export interface RecordingProxy {
  route(endpoint: string, options: RouteOptions): Route;
  close(): Promise<void>;
}

const routeHeader = 'x-market-mcp-route';
/** Tells a local development server which exchange a request belongs to (src/dev/observe.js). */
const exchangeHeader = 'x-market-mcp-exchange';
const slowPieces = 12;
const slowPauseMs = 60;

type OpenRoute = { -readonly [K in keyof Route]: Route[K] } & {
  endpoint: URL;
  slow: boolean;
  purpose: Purpose;
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
    route(endpoint, { purpose, slow = false }) {
      const key = randomUUID();
      const url = new URL(endpoint);
      const route: OpenRoute = {
        url: `http://127.0.0.1:${port}${url.pathname}${url.search}`,
        headers: { [routeHeader]: key },
        exchanges: [],
        error: undefined,
        close: () => routes.delete(key),
        endpoint: url,
        slow,
        purpose,
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
  const upstream = send(target, { method, headers: { ...headers, ...marked(target, id) } });
  const fail = (error: Error): void => {
    route.error = networkReason(error);
    traffic.change(id, { ms: now() - started, error: networkReason(error) });
    outgoing.destroy();
  };
  upstream.on('error', fail);
  upstream.on('response', (answer) => {
    const response = record(answer.headers);
    const status = answer.statusCode ?? 0;
    const finish = (): void =>
      traffic.change(id, { response: { ...keep(response.message()), status }, ms: now() - started });
    outgoing.writeHead(status, endToEnd(answer.headers));
    outgoing.flushHeaders();
    answer.on('data', response.take).on('end', finish).on('error', fail).pipe(outgoing);
    if (answer.headers['content-type']?.startsWith('text/event-stream')) finish();
  });
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) upstream.destroy(new Error('the caller closed the connection'));
  });
  incoming.on('data', request.take).on('end', () => {
    traffic.change(id, { request: keep(request.message()), rpc: rpcIn(request.message().body) });
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

function marked({ hostname }: URL, id: number): IncomingHttpHeaders {
  return isLoopback(hostname) ? { [exchangeHeader]: String(id) } : {};
}

interface Recorder {
  take(chunk: Buffer): void;
  message(): Message;
}

function record(headers: IncomingHttpHeaders): Recorder {
  const chunks: Buffer[] = [];
  let kept = 0;
  let cut = 0;
  return {
    take(chunk) {
      const room = Math.max(0, maxBodyBytes - kept);
      if (room > 0) chunks.push(chunk.subarray(0, room));
      kept += Math.min(room, chunk.length);
      cut += Math.max(0, chunk.length - room);
    },
    message: () => ({
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: Buffer.concat(chunks).toString('utf8'),
      cut,
    }),
  };
}

const hopByHop = /^(?:connection|keep-alive|proxy-connection|transfer-encoding|te|trailer|upgrade)$/;

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.test(name)));
}

/** The method of a JSON-RPC request, and the tool if it calls one. */
function rpcIn(body: string): { readonly method: string; readonly tool?: string } | null {
  const [value] = jsonIn(body);
  if (Array.isArray(value)) return { method: `batch of ${value.length}` };
  if (!isObject(value) || typeof value.method !== 'string') return null;
  const { method, params } = value;
  const name = isObject(params) ? params.name : undefined;
  return typeof name === 'string' ? { method, tool: name } : { method };
}
