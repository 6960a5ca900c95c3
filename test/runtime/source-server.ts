import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, vi } from 'vitest';
import { signals, type Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { httpSource } from '../../packages/runtime/src/source/http-source.ts';
import type { HttpSourceOptions } from '../../packages/runtime/src/source/http-source-options.ts';
import { Secret } from '../../packages/runtime/src/source/secret.ts';
import type { SourceError } from '../../packages/runtime/src/source/source-errors.ts';
import { listen } from '../listen.ts';

/** A request that a source has received. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (request: Received, response: ServerResponse, count: number) => void;

/** A source on loopback for one test, and the requests that it has received. */
export async function sourceServer(answer: Answer) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    received.push({ method, url, headers, body: await text(request) });
    answer(received.at(-1) as Received, response, received.length);
  });
  // A connection that ends while it is reused fails a request that nobody sends again.
  server.keepAliveTimeout = 60_000;
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/v1`, received };
}

export function json(response: ServerResponse, value: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

export const key = 'k3y-of-the-author';
export const gas = { type: 'object', properties: { gwei: { type: 'number' } }, required: ['gwei'] } as const;
/** A tool without arguments whose answer has this member; its output may have further ones. */
export const gasTool = (run: Tool['run'], more: object = {}): Tool => ({
  name: 'get_gas',
  description: 'Gas',
  inputSchema: { type: 'object', properties: {}, required: [] },
  outputSchema: { type: 'object', properties: { ...signals, ...gas.properties, ...more }, required: [] },
  examples: [],
  run,
});

export async function source(answer: Answer, options: Partial<HttpSourceOptions> = {}) {
  const { url, received } = await sourceServer(answer);
  const headers = { 'x-api-key': new Secret('API_KEY', key) };
  return { api: httpSource({ baseUrl: url, headers, timeoutMs: 60_000, ...options }), received, url };
}

export const always =
  (value: unknown, status = 200, headers = {}): Answer =>
  (_, response) =>
    json(response, value, status, headers);
export const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => Promise.reject(new Error(`answered ${JSON.stringify(value)}`)),
    (error: SourceError) => error,
  );

/** Keeps what sources log out of the output of each test of a file. */
export function quiet(): void {
  beforeEach(() => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    return () => logged.mockRestore();
  });
}
