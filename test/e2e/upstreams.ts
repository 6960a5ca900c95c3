import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { serveHere } from '../api-server.ts';

/** An OpenAPI document of an API at this address. */
export const openApi = (url: string, title: string, paths: object, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title, version: '1' },
  servers: [{ url }],
  paths,
  ...more,
});

/** The responses of an operation that answers with JSON. */
export const answering = (schema: object, example?: unknown) => ({
  200: { description: 'The answer', content: { 'application/json': { schema, example } } },
});

/** A required text in the path of an operation. */
export const inPath = (name: string, description: string, example: string, schema: object = {}) => ({
  ...{ name, in: 'path', required: true, description, example },
  schema: { type: 'string', examples: [example], ...schema },
});

/** Serves tools by the SDK, without sessions, until this test file is done. @returns the endpoint */
export async function serveTools(
  name: string,
  tools: readonly object[],
  call: (tool: string) => object = () => ({ content: [] }),
): Promise<string> {
  const http = createServer(async (request, response) => {
    const server = new Server({ name, version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }) as never);
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => call(params.name) as never);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport as never);
    await transport.handleRequest(request, response);
  });
  return `${await serveHere(http)}/mcp`;
}
