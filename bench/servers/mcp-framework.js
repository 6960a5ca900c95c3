import { JWTAuthProvider, MCPServer, MCPTool } from 'mcp-framework';
import { z } from 'zod';
import { answer, port, token, tools } from './task.js';

const auth = token && {
  provider: new JWTAuthProvider({ secret: token.pem, algorithms: token.claims.algorithms }),
  endpoints: { sse: false, messages: true },
};
const server = new MCPServer({
  name: 'mcp-framework',
  version: '1.0.0',
  transport: { type: 'http-stream', options: { port }, ...(auth && { auth }) },
});
for (const definition of tools) {
  server.addTool(
    class extends MCPTool {
      name = definition.name;
      description = definition.description;
      schema = zodObject(definition.inputSchema);
      outputSchemaShape = zodObject(definition.outputSchema);
      async execute() {
        return answer;
      }
    },
  );
}
await server.start();

/** Converts a JSON Schema of flat strings, numbers and booleans to this framework's notation. */
function zodObject({ properties, required }) {
  const fields = Object.entries(properties).map(([name, property]) => {
    const [type] = [property.type].flat();
    const described = z[type]().describe(property.description);
    const field = [property.type].flat().includes('null') ? described.nullable() : described;
    return [name, required.includes(name) ? field : field.optional()];
  });
  return z.object(Object.fromEntries(fields));
}
