import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';

/** A request that an API has received. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A response of an API. The defaults are status 200, JSON as the content type, and no body. */
export interface ApiResponse {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** Text, or a value that is sent as JSON. */
  readonly body?: unknown;
}

/**
 * Starts an API on a free port of loopback, which runs until the tests of this file are done.
 *
 * @param respond its response; a promise that never settles leaves the request open
 * @returns the origin, and all requests in the order of their arrival
 */
export async function startApi(
  respond: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>,
): Promise<{ readonly origin: string; readonly requests: ApiRequest[] }> {
  const requests: ApiRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: target = '', headers } = incoming;
    const request = { method, target, headers, body: await text(incoming) };
    requests.push(request);
    const response = await respond(request);
    outgoing.writeHead(response.status ?? 200, { 'content-type': 'application/json', ...response.headers });
    outgoing.end(typeof response.body === 'string' ? response.body : JSON.stringify(response.body));
  });
  return { origin: await serveHere(server), requests };
}

/** Sends a request to another server in the place of its client. Returns the response. */
export async function forwardRequest(request: ApiRequest, url: string): Promise<ApiResponse> {
  const { method, headers, body } = request;
  const { accept = '', 'content-type': type = '' } = headers;
  const sent = method === 'POST' ? body : null;
  const response = await fetch(url, { method, headers: { accept, 'content-type': type }, body: sent });
  const contentType = response.headers.get('content-type') ?? '';
  return { status: response.status, headers: { 'content-type': contentType }, body: await response.text() };
}

/** Serves on a free port of loopback until the tests of this file are done. Returns the origin. */
export async function serveHere(server: Server): Promise<string> {
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
