import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type BrokenServer, instead, methodOf, withAnswer, withHeaders, withRequest } from '../variant.ts';
import type { Request } from '../wire.ts';

const crash = { status: 500, body: { error: 'Internal error' } };

/** A server that refuses some POSTs. */
function refuses(status: number, refused: (request: Request) => boolean): BrokenServer['breaks'] {
  return instead((request) => (request.method === 'POST' && refused(request) ? { status } : undefined));
}

/** A server that allows requests from the pages of the marketplace, with these headers. */
function openTo(headers: Readonly<Record<string, string>>): NonNullable<BrokenServer['breaks']>['answer'] {
  return (good) => async (request) => {
    const { origin } = request.headers;
    if (origin !== 'https://ctxprotocol.com') return good(request);
    const all = { 'access-control-allow-origin': origin, ...headers };
    if (request.method === 'OPTIONS') return { status: 204, headers: all };
    const answer = await good(withHeaders(request, { origin: undefined }));
    return { ...answer, headers: { ...answer.headers, ...all } };
  };
}

/** A server that accepts a body that is too large, if it lists the tools. */
function takesLarge(chunked: boolean): BrokenServer['breaks'] {
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
    breaks: instead((request) => (request.path === '/health' && busy.size > 7 ? { status: 503 } : undefined)),
  };
}

export const brokenTransport: readonly BrokenServer[] = [
  {
    rule: 'http.stream-ends',
    breaks: withAnswer((answer, request) =>
      answer.status === 200 && methodOf(request) === 'tools/list'
        ? {
            status: 200,
            headers: { 'content-type': 'text/event-stream' },
            body: `event: message\ndata: ${JSON.stringify(answer.body)}\n\n`,
            stream: true,
          }
        : answer,
    ),
  },
  { rule: 'http.accept-absent', breaks: refuses(406, ({ headers }) => headers.accept === undefined) },
  { rule: 'http.accept-any', breaks: refuses(406, ({ headers }) => headers.accept === '*/*') },
  { rule: 'http.accept-json', breaks: refuses(406, ({ headers }) => headers.accept === 'application/json') },
  {
    rule: 'http.accept-events',
    breaks: refuses(406, ({ headers }) => headers.accept === 'text/event-stream'),
  },
  {
    rule: 'http.charset',
    breaks: refuses(415, ({ headers }) => headers['content-type'] === 'application/json; charset=utf-8'),
  },
  {
    rule: 'http.chunked',
    breaks: refuses(
      411,
      ({ headers, body }) => headers['content-length'] === undefined && body !== undefined,
    ),
  },
  { rule: 'http.cors', breaks: { answer: openTo({ 'access-control-allow-headers': 'content-type' }) } },
  {
    rule: 'http.cors',
    breaks: {
      answer: openTo({
        'access-control-allow-headers': 'content-type, mcp-session-id',
        'access-control-expose-headers': 'x-request-id',
      }),
    },
  },
  { rule: 'http.any-host', breaks: refuses(421, ({ headers }) => !headers.host?.startsWith('127.0.0.1')) },
  {
    rule: 'http.content-type',
    breaks: withRequest((request) =>
      request.headers['content-type'] === 'text/plain'
        ? withHeaders(request, { 'content-type': 'application/json' })
        : request,
    ),
  },
  {
    rule: 'http.malformed',
    breaks: instead(({ body }) => (body?.startsWith('{') && body.endsWith('"') ? crash : undefined)),
  },
  {
    rule: 'http.empty',
    breaks: instead(({ method, body, headers }) =>
      method === 'POST' && body === '' && headers.accept?.includes('json') ? crash : undefined,
    ),
  },
  { rule: 'http.not-object', breaks: instead(({ body }) => (body === '"tools/list"' ? crash : undefined)) },
  { rule: 'http.null', breaks: instead(({ body }) => (body === 'null' ? crash : undefined)) },
  {
    rule: 'http.foreign-origin',
    breaks: withRequest((request) => withHeaders(request, { origin: undefined })),
  },
  {
    rule: 'http.other-methods',
    breaks: withRequest((request) => (request.method === 'PUT' ? { ...request, method: 'POST' } : request)),
  },
  { rule: 'http.large-body', breaks: takesLarge(false) },
  { rule: 'http.large-body-chunked', breaks: takesLarge(true) },
  { rule: 'http.deep-body', breaks: instead(({ body }) => (body?.startsWith('[[[[[[') ? crash : undefined)) },
  {
    rule: 'http.slow-headers',
    ...workers((server, hold, free) => {
      server.on('connection', (socket: Socket) => {
        hold(socket);
        socket.on('close', () => free(socket));
      });
      server.on('request', ({ socket }) => free(socket));
    }),
  },
  {
    rule: 'http.slow-body',
    ...workers((server, hold, free) => {
      server.on('request', (incoming) => {
        hold(incoming);
        incoming.on('end', () => free(incoming));
        incoming.on('close', () => free(incoming));
      });
    }),
  },
];
