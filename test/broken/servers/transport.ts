import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import {
  type Broken,
  methodOf,
  type Variant,
  where,
  withAnswer,
  withHeaders,
  withRequest,
} from '../variant.ts';
import type { Answer, Request } from '../wire.ts';

const crash = { status: 500, body: { error: 'Internal error' } };

/** A server that refuses some POSTs. */
function refuses(status: number, refused: (request: Request) => boolean): Variant {
  return where((request) => request.method === 'POST' && refused(request), { status });
}

function file(body: string): Answer {
  return { status: 200, headers: { 'content-type': 'text/plain' }, body };
}

/** A server that allows requests from the pages of the marketplace, with these headers. */
function openTo(headers: Readonly<Record<string, string>>): Variant {
  const answer: Variant['answer'] = (good) => async (request) => {
    const { origin } = request.headers;
    if (origin !== 'https://ctxprotocol.com') return good(request);
    const all = { 'access-control-allow-origin': origin, ...headers };
    if (request.method === 'OPTIONS') return { status: 204, headers: all };
    const answer = await good(withHeaders(request, { origin: undefined }));
    return { ...answer, headers: { ...answer.headers, ...all } };
  };
  return { answer };
}

/** A server that accepts a body that is too large, if it lists the tools. */
function takesLarge(chunked: boolean): Variant {
  return {
    parse: (good) => (request) =>
      request.body === undefined && (request.headers['content-length'] === undefined) === chunked
        ? { message: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }
        : good(request),
  };
}

/** A server with seven workers; each serves one client until that client is done. */
function workers(
  held: (server: Server, hold: (client: object) => void, free: (client: object) => void) => void,
) {
  const busy = new Set<object>();
  return {
    attach: (server: Server) =>
      held(
        server,
        (client) => busy.add(client),
        (client) => busy.delete(client),
      ),
    ...where((request) => request.path === '/health' && busy.size > 7, { status: 503 }),
  };
}

export const brokenTransport: Broken<Variant> = {
  'http.stream-ends': withAnswer((answer, request) =>
    answer.status === 200 &&
    methodOf(request) === 'tools/list' &&
    request.headers.accept !== 'application/json'
      ? {
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
          body: `event: message\ndata: ${JSON.stringify(answer.body)}\n\n`,
          stream: true,
        }
      : answer,
  ),
  'http.accept-absent': refuses(406, ({ headers }) => headers.accept === undefined),
  'http.accept-any': refuses(406, ({ headers }) => headers.accept === '*/*'),
  'http.accept-json': refuses(406, ({ headers }) => headers.accept === 'application/json'),
  'http.accept-events': refuses(406, ({ headers }) => headers.accept === 'text/event-stream'),
  'http.charset': refuses(
    415,
    ({ headers }) => headers['content-type'] === 'application/json; charset=utf-8',
  ),
  'http.chunked': refuses(
    411,
    ({ headers, body }) => headers['content-length'] === undefined && body !== undefined,
  ),
  'http.body-limit': refuses(413, ({ body = '' }) => body.length > 1_024),
  'http.internal-paths': [
    where(({ path }) => path === '/.env', file('PORT=3000\nPRICES_API_KEY=8f1d2c3b\n')),
    where(({ path }) => path === '/debug', file('{"token":"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}')),
    where(({ path }) => path === '/metrics', file('# TYPE calls_total counter\ncalls_total 12\n')),
  ],
  'http.cors': [
    openTo({ 'access-control-allow-headers': 'content-type' }),
    openTo({
      'access-control-allow-headers': 'content-type, mcp-session-id',
      'access-control-expose-headers': 'x-request-id',
    }),
  ],
  'http.any-host': refuses(421, ({ headers }) => !headers.host?.startsWith('127.0.0.1')),
  'http.content-type': withRequest((request) =>
    request.headers['content-type'] === 'text/plain'
      ? withHeaders(request, { 'content-type': 'application/json' })
      : request,
  ),
  'http.malformed': where(({ body }) => body?.startsWith('{') && body.endsWith('"'), crash),
  'http.empty': where(
    ({ method, body, headers }) => method === 'POST' && body === '' && headers.accept?.includes('json'),
    crash,
  ),
  'http.not-object': where(({ body }) => body === '"tools/list"', crash),
  'http.null': where(({ body }) => body === 'null', crash),
  'http.foreign-origin': withRequest((request) => withHeaders(request, { origin: undefined })),
  'http.other-methods': withRequest((request) =>
    request.method === 'PUT' ? { ...request, method: 'POST' } : request,
  ),
  'http.large-body': takesLarge(false),
  'http.large-body-chunked': takesLarge(true),
  'http.deep-body': where(({ body }) => body?.startsWith('[[[[[['), crash),
  'http.slow-headers': workers((server, hold, free) => {
    server.on('connection', (socket: Socket) => {
      hold(socket);
      socket.on('close', () => free(socket));
    });
    server.on('request', ({ socket }) => free(socket));
  }),
  'http.slow-body': workers((server, hold, free) => {
    server.on('request', (incoming) => {
      hold(incoming);
      incoming.on('end', () => free(incoming));
      incoming.on('close', () => free(incoming));
    });
  }),
};
