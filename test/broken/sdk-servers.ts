import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport as TransportV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  createMcpHandler,
  isLegacyRequest,
  Server as ServerV2,
  WebStandardStreamableHTTPServerTransport as TransportV2,
} from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createSteps, listening, type RunningServer, type Steps, type Trust } from './good-server.ts';

const identity = { name: 'good-server', version: '1.2.3' };
const capabilities = { capabilities: { tools: {}, resources: {}, prompts: {} } };

interface Transport {
  handleRequest(request: Request, options?: { readonly parsedBody?: unknown }): Promise<Response>;
}
type Sessions = Map<string, Transport>;

/** What differs between the two major versions of the SDK. */
interface Sdk {
  /** Opens a session, which enters `sessions` when it has its id. */
  open(sessions: Sessions): Promise<Transport>;
  /** Answers a request of the stateless revision; undefined for others. */
  modern?(request: Request, body: unknown): Promise<Response | undefined>;
}

/** The SDK of version 1, which answers in JSON or as events. */
export function serveSdkV1(trust: Trust, enableJsonResponse: boolean): Promise<RunningServer> {
  return serveSdk(trust, (steps) => ({
    async open(sessions) {
      const transport = new TransportV1({
        sessionIdGenerator: randomUUID,
        enableJsonResponse,
        onsessioninitialized: (id) => void sessions.set(id, transport),
        onsessionclosed: (id) => void sessions.delete(id),
      });
      const server = new ServerV1(identity, capabilities);
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: steps.list() as never }));
      server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [] }));
      server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [] }));
      server.setRequestHandler(CallToolRequestSchema, ({ params }) => steps.call(params as never) as never);
      await server.connect(transport);
      return transport;
    },
  }));
}

/** The SDK of version 2: sessions of the earlier versions of MCP, and the stateless revision beside them. */
export function serveSdkV2(trust: Trust): Promise<RunningServer> {
  return serveSdk(trust, (steps) => {
    const protocol = () => {
      const server = new ServerV2(identity, capabilities);
      server.setRequestHandler('tools/list', () => ({ tools: steps.list() as never }));
      server.setRequestHandler('resources/list', () => ({ resources: [] }));
      server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
      server.setRequestHandler('tools/call', ({ params }) => steps.call(params as never) as never);
      return server;
    };
    const handler = createMcpHandler(protocol, { legacy: 'reject' });
    return {
      async open(sessions) {
        const transport = new TransportV2({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (id) => void sessions.set(id, transport),
          onsessionclosed: (id) => void sessions.delete(id),
        });
        await protocol().connect(transport);
        return transport;
      },
      modern: async (request, body) =>
        (await isLegacyRequest(request, body)) ? undefined : handler.fetch(request, { parsedBody: body }),
    };
  });
}

/** An SDK behind hono and the authentication of the good server. */
async function serveSdk(trust: Trust, sdkOf: (steps: Steps) => Sdk): Promise<RunningServer> {
  const steps = createSteps(trust);
  const sdk = sdkOf(steps);
  const sessions: Sessions = new Map();
  const refusal = (status: number, error: string) => Response.json({ error }, { status });
  const app = new Hono();
  app.onError(() => refusal(500, 'The request cannot be served'));
  app.get('/health', ({ json }) => json(steps.health().body as object));
  app.use('/mcp', async ({ req }, next) =>
    req.header('origin') === undefined ? next() : refusal(403, 'Foreign origin'),
  );
  app.use('/mcp', bodyLimit({ maxSize: 1024 * 1024, onError: () => refusal(413, 'Request too large') }));
  app.post('/mcp', async ({ req }) => {
    const body = await req.text();
    const headers: Record<string, string> = { ...req.header() };
    const parsed = steps.parse({ method: 'POST', path: '/mcp', headers, body });
    if (!('message' in parsed)) return Response.json(parsed.body, { status: parsed.status });
    const { message } = parsed;
    if (steps.isPaid(message) && !(await steps.authorized(headers.authorization)))
      return refusal(401, 'Unauthorized');
    // The SDK answers 406 unless a request accepts both.
    headers.accept = 'application/json, text/event-stream';
    const request = new Request(req.url, { method: 'POST', headers, body });
    const modern = await sdk.modern?.(request, message);
    if (modern) return modern;
    const id = headers['mcp-session-id'];
    const isOpening = id === undefined && message.method === 'initialize';
    const transport = isOpening ? await sdk.open(sessions) : sessions.get(id ?? '');
    return transport?.handleRequest(request, { parsedBody: message }) ?? refusal(400, 'Invalid session');
  });
  app.on(['GET', 'DELETE'], '/mcp', ({ req }) => {
    const transport = sessions.get(req.header('mcp-session-id') ?? '');
    return transport?.handleRequest(req.raw) ?? refusal(400, 'Invalid session');
  });
  return listening(createServer(getRequestListener(app.fetch)));
}
