import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  isInitializeRequest,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { importSPKI, jwtVerify } from 'jose';
import { listening, type Served } from './reference.ts';
import type { Trust } from './token.ts';
import { resultOf, tools } from './tools.ts';

const identity = { name: 'lakes-and-tides', version: '1.0.0' };

/** A server object for each session, as the SDK asks for. */
function protocol(): Server {
  const server = new Server(identity, { capabilities: { tools: {}, resources: {}, prompts: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ definition }) => definition as unknown as Tool),
  }));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [] }));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => resultOf(params.name, params.arguments));
  return server;
}

interface ExpressRequest extends IncomingMessage {
  body?: { readonly method?: unknown };
}
interface ExpressResponse extends ServerResponse {
  status(code: number): ExpressResponse;
  json(body: unknown): void;
}
type Handler = (request: ExpressRequest, response: ExpressResponse, next: () => void) => unknown;
interface Express {
  disable(setting: string): void;
  use(...handlers: unknown[]): void;
  get(path: string, handler: Handler): void;
  post(path: string, handler: Handler): void;
  delete(path: string, handler: Handler): void;
}

/** Express and the SDK of version 1: a transport for each session, jose for the tokens. `json` or events as answers. */
export async function serveSdkV1(trust: Trust, { json }: { readonly json: boolean }): Promise<Served> {
  // Express has no types.
  const { default: express } = (await import('express' as string)) as {
    default: { (): Express; json(options: object): unknown };
  };
  const key = await importSPKI(trust.publicKey, 'RS256');
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const app = express();
  app.disable('x-powered-by');
  const problem = (response: ExpressResponse, status: number, message: string) =>
    response.status(status).json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } });

  const originCheck: Handler = (request, response, next) =>
    request.headers.origin === undefined ? next() : problem(response, 403, 'Foreign origin');
  const oneObject: Handler = ({ body }, response, next) =>
    typeof body === 'object' && !Array.isArray(body) ? next() : problem(response, 400, 'Send one message');
  const gate: Handler = async ({ body, headers }, response, next) => {
    if (body?.method !== 'tools/call') return next();
    const [, token = ''] = /^Bearer ([^ ]+)$/i.exec(headers.authorization ?? '') ?? [];
    try {
      await jwtVerify(token, key, {
        issuer: trust.issuer,
        audience: trust.audience,
        algorithms: ['RS256'],
        requiredClaims: ['exp'],
      });
    } catch {
      return response.status(401).json({ error: 'Unauthorized' });
    }
    next();
  };
  /** The SDK answers 406 unless a request accepts both; it reads the headers as they were sent. */
  const acceptBoth: Handler = (request, _, next) => {
    const { rawHeaders } = request;
    for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
      if (rawHeaders[at]?.toLowerCase() === 'accept') rawHeaders.splice(at, 2);
    }
    rawHeaders.push('Accept', 'application/json, text/event-stream');
    request.headers.accept = 'application/json, text/event-stream';
    next();
  };
  const inSession: Handler = async (request, response) => {
    const transport = transports.get(String(request.headers['mcp-session-id']));
    if (!transport) return response.status(400).json({ error: 'Invalid session' });
    await transport.handleRequest(request, response, request.body);
  };

  app.get('/health', (_, response) => {
    response.json({ status: 'ok', server: identity.name, version: identity.version });
  });
  app.use('/mcp', originCheck);
  app.use('/mcp', acceptBoth);
  app.use('/mcp', express.json({ limit: '1mb', strict: false }));
  app.post('/mcp', (request, response, next) =>
    oneObject(request, response, () => gate(request, response, next)),
  );
  app.post('/mcp', async (request, response) => {
    if (request.headers['mcp-session-id'] !== undefined || !isInitializeRequest(request.body)) {
      return inSession(request, response, () => {});
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: json,
      onsessioninitialized: (id) => {
        transports.set(id, transport);
      },
    });
    transport.onclose = () => transports.delete(transport.sessionId ?? '');
    await protocol().connect(transport as never);
    await transport.handleRequest(request, response, request.body);
  });
  app.get('/mcp', inSession);
  app.delete('/mcp', inSession);
  app.use((error: { status?: number }, _: unknown, response: ExpressResponse, _next: unknown) =>
    problem(response, error.status ?? 500, 'The request cannot be read'),
  );
  return listening(createServer(app as never));
}
