import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { importSPKI, jwtVerify } from 'jose';
import { listening, type Served } from './reference.ts';
import type { Trust } from './token.ts';
import { resultOf, tools } from './tools.ts';

const identity = { name: 'lakes-and-tides', version: '2.0.0' };

/** A server object of the SDK of version 2, for one session or one request. */
function protocol(): Server {
  const server = new Server(identity, { capabilities: { tools: {}, resources: {}, prompts: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ definition }) => definition as unknown as Tool),
  }));
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
  server.setRequestHandler('tools/call', ({ params }) => resultOf(params.name, params.arguments));
  return server;
}

/** Hono and the SDK of version 2: sessions of the earlier versions of MCP, and the stateless revision beside them. */
export async function serveSdkV2(trust: Trust): Promise<Served> {
  const key = await importSPKI(trust.publicKey, 'RS256');
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const modern = createMcpHandler(protocol, { legacy: 'reject' });
  const app = new Hono<{ Variables: { body: unknown } }>();
  const problem = (message: string) => ({ jsonrpc: '2.0', error: { code: -32600, message } });

  app.onError((_, { json }) => json(problem('The request cannot be served'), 500));
  app.get('/health', ({ json }) => json({ status: 'up', server: identity.name, version: identity.version }));
  app.use('/mcp', async ({ req, json }, next) =>
    req.header('origin') === undefined ? next() : json(problem('Foreign origin'), 403),
  );
  app.use('/mcp', bodyLimit({ maxSize: 1_000_000, onError: ({ json }) => json(problem('Too large'), 413) }));
  const read = createMiddleware(async (context, next) => {
    if (!/^application\/json *(;|$)/i.test(context.req.header('content-type') ?? '')) {
      return context.json(problem('Send application/json'), 415);
    }
    const body = await context.req.json().catch(() => undefined);
    const isOne = typeof body === 'object' && body !== null && !Array.isArray(body);
    if (!isOne) return context.text('Invalid JSON', 400);
    context.set('body', body);
    return next();
  });
  const gate = createMiddleware(async ({ var: { body }, req, json }, next) => {
    if (body.method !== 'tools/call') return next();
    const [, token = ''] = /^Bearer ([^ ]+)$/i.exec(req.header('authorization') ?? '') ?? [];
    const { issuer, audience } = trust;
    const requiredClaims = ['exp'];
    const verified = await jwtVerify(token, key, {
      issuer,
      audience,
      algorithms: ['RS256'],
      requiredClaims,
    }).catch(() => undefined);
    return verified ? next() : json({ error: 'Unauthorized' }, 401);
  });
  app.post('/mcp', read, gate, async ({ req, var: { body }, json }) => {
    const headers = new Headers(req.raw.headers);
    headers.set('accept', 'application/json, text/event-stream');
    const request = new Request(req.url, { method: 'POST', headers, body: await req.text() });
    if (!(await isLegacyRequest(request, body))) return modern.fetch(request, { parsedBody: body });
    const id = headers.get('mcp-session-id');
    if (id === null && isInitializeRequest(body)) {
      const transport: WebStandardStreamableHTTPServerTransport =
        new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (session) => {
            sessions.set(session, transport);
          },
          onsessionclosed: (session) => {
            sessions.delete(session);
          },
        });
      await protocol().connect(transport);
      return transport.handleRequest(request, { parsedBody: body });
    }
    const transport = sessions.get(id ?? '');
    return transport
      ? transport.handleRequest(request, { parsedBody: body })
      : json({ error: 'Invalid session' }, 400);
  });
  app.on(['GET', 'DELETE'], '/mcp', async ({ req, json }) => {
    const transport = sessions.get(req.header('mcp-session-id') ?? '');
    return transport ? transport.handleRequest(req.raw) : json({ error: 'Invalid session' }, 400);
  });
  return listening(createServer(getRequestListener(app.fetch)));
}
