// A tool server in the style of a marketplace's quickstart: Express, the MCP SDK, one Server object for the
// process, and a middleware that checks the method of the body.
import { randomUUID } from 'node:crypto';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  isInitializeRequest,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import express from 'express';
import { importSPKI, jwtVerify } from 'jose';

const { PLATFORM_PUBLIC_KEY = '', PLATFORM_ISSUER = '', PLATFORM_AUDIENCE = '', PORT = 3000 } = process.env;
const key = await importSPKI(PLATFORM_PUBLIC_KEY, 'RS256');

const TOOLS = [
  {
    name: 'get_gas_price',
    description: 'Returns the current gas price of a chain. Use it before a transaction is sent.',
    inputSchema: {
      type: 'object',
      properties: { chain: { type: 'string', description: 'Name of the chain.', default: 'base' } },
      required: [],
    },
    outputSchema: {
      type: 'object',
      properties: {
        chain: { type: 'string', description: 'Name of the chain.' },
        gwei: { type: 'number', description: 'Gas price in gwei.' },
      },
      required: ['chain', 'gwei'],
    },
  },
];

const server = new Server({ name: 'gas-prices', version: '1.0.0' }, { capabilities: { tools: {} } });

server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: TOOLS }));

server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;
  if (name !== 'get_gas_price') {
    return { content: [{ type: 'text', text: `Unknown tool: ${name}` }], isError: true };
  }
  const data = { chain: args?.chain ?? 'base', gwei: 12.5 };
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
});

const app = express();
app.use(express.json());

app.use('/mcp', async (req, res, next) => {
  if (req.body?.method !== 'tools/call') return next();
  const [, token] = (req.headers.authorization ?? '').split('Bearer ');
  try {
    await jwtVerify(token ?? '', key, { issuer: PLATFORM_ISSUER, audience: PLATFORM_AUDIENCE });
    next();
  } catch {
    res.status(401).json({ error: 'Unauthorized' });
  }
});

/** @type {Record<string, StreamableHTTPServerTransport>} */
const transports = {};

app.post('/mcp', async (req, res) => {
  const sessionId = req.headers['mcp-session-id'];
  let transport = sessionId ? transports[sessionId] : undefined;
  if (!transport && !sessionId && isInitializeRequest(req.body)) {
    const opened = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        transports[id] = opened;
      },
    });
    await server.connect(opened);
    transport = opened;
  }
  if (!transport) {
    res.status(400).json({ error: 'Invalid session' });
    return;
  }
  await transport.handleRequest(req, res, req.body);
});

app.get('/mcp', async (req, res) => {
  const transport = transports[req.headers['mcp-session-id']];
  if (!transport) {
    res.status(400).json({ error: 'Invalid session' });
    return;
  }
  await transport.handleRequest(req, res);
});

app.get('/health', (_req, res) => {
  res.json({ status: 'ok', server: 'gas-prices', version: '1.0.0' });
});

app.listen(Number(PORT), '127.0.0.1');
