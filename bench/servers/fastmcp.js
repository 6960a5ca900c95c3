import { FastMCP, jsonSchemaAdapter } from 'fastmcp';
import { jwtVerify } from 'jose';
import { answer, port, token, tools } from './task.js';

async function authenticate(request) {
  const [, bearer] = request.headers.authorization.split(' ');
  const { payload } = await jwtVerify(bearer, token.key, token.claims);
  return payload;
}

const server = new FastMCP({ name: 'fastmcp', version: '1.0.0', ...(token && { authenticate }) });
for (const { name, description, inputSchema, outputSchema } of tools) {
  server.addTool({
    name,
    description,
    parameters: jsonSchemaAdapter(inputSchema),
    outputSchema: jsonSchemaAdapter(outputSchema),
    execute: async () => answer,
  });
}
await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } });
