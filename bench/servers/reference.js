import { randomUUID } from 'node:crypto';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  isInitializeRequest,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import express from 'express';
import { jwtVerify } from 'jose';
import { answer, port, token, tools } from './task.js';

// A server in the style of public quickstarts: Express, an SDK server and a transport per session in a map, and
// verification of the token on each call.

const transports = {};

function createServer() {
  const server = new Server({ name: 'reference', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async (request) => {
    const tool = tools.find(({ name }) => name === request.params.name);
    if (!tool) {
      return { content: [{ type: 'text', text: `Unknown tool: ${request.params.name}` }], isError: true };
    }
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
  });
  return server;
}

async function authenticate(req, res, next) {
  if (token === null || req.body?.method !== 'tools/call') return next();
  try {
    const [, bearer] = req.headers.authorization.split(' ');
    await jwtVerify(bearer, token.key, token.claims);
    next();
  } catch {
    res.status(401).json({ error: 'Unauthorized' });
  }
}

const app = express();
app.use(express.json());

app.get('/health', (_req, res) => {
  res.json({ status: 'ok', server: 'reference', version: '1.0.0' });
});

app.post('/mcp', authenticate, async (req, res) => {
  const sessionId = req.headers['mcp-session-id'];
  let transport = transports[sessionId];
  if (!transport && !sessionId && isInitializeRequest(req.body)) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        transports[id] = transport;
      },
    });
    transport.onclose = () => {
      delete transports[transport.sessionId];
    };
    await createServer().connect(transport);
  }
  if (!transport) return res.status(400).json({ error: 'Invalid session' });
  await transport.handleRequest(req, res, req.body);
});

app.get('/mcp', async (req, res) => {
  const transport = transports[req.headers['mcp-session-id']];
  if (!transport) return res.status(400).json({ error: 'Invalid session' });
  await transport.handleRequest(req, res);
});

app.listen(port, '127.0.0.1');
