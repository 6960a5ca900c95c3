import { serve } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { jwtVerify } from 'jose';
import { answer, port, token, tools } from './task.js';

// A server of both eras as version 2 of the SDK provides it: its own handler under Hono, a server for each request, and
// verification of the token on each call.

const handler = createMcpHandler(() => {
  const server = new Server({ name: 'sdk2', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', () => ({
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: answer,
  }));
  return server;
});

const app = new Hono();
app.get('/health', (context) => context.json({ status: 'ok', server: 'sdk2', version: '1.0.0' }));
app.post('/mcp', async (context) => {
  if (token !== null && context.req.header('mcp-method') === 'tools/call') {
    try {
      const [, bearer] = context.req.header('authorization').split(' ');
      await jwtVerify(bearer, token.key, token.claims);
    } catch {
      return context.json({ error: 'Unauthorized' }, 401);
    }
  }
  return handler.fetch(context.req.raw);
});
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
