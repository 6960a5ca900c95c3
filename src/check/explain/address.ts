import { contrast, type Explanations, exchange } from './model.ts';

const initialize = 'POST /mcp  {"method": "initialize", …}';
const unauthorized = '401 {"error": "Unauthorized"}';

function open(method: string, result: string): ReturnType<typeof exchange> {
  return exchange(
    'Listing, and every "Refresh Skills" after it, reads the server without a token; so do agents that choose among tools.',
    `POST /mcp  {"method": "${method}", …}, no token`,
    unauthorized,
    `200 {"result": ${result}}`,
  );
}

/** Where the server is, who it says it is, and what can be read of it without paying. */
export const addressExplanations: Explanations = {
  'endpoint.stays-up': contrast(
    'One caller whose request ends the process ends the calls of everybody else, and a server that is down when the platform looks is delisted.',
    "TypeError: Cannot read properties of undefined (reading 'price')\n    at Timeout._onTimeout (file:///app/tools/price.js:12:20)\nand the process is gone",
    'the call that met the error fails, all others go on',
  ),
  'endpoint.path': contrast(
    'The registration form takes only URLs whose path ends in /mcp.',
    'https://tools.example.com/api',
    'https://tools.example.com/mcp',
  ),
  'endpoint.https': contrast(
    'The platform does not call plain HTTP: such an endpoint fails without a message, and tokens would travel in the clear.',
    'http://tools.example.com/mcp',
    'https://tools.example.com/mcp',
  ),
  'endpoint.no-sse': contrast(
    'Where the URL contains the letters "sse", the platform takes the server for one of the old SSE transport and never falls back.',
    'https://example.com/assets/mcp',
    'https://example.com/tools/mcp',
  ),
  'health.status': exchange(
    'Monitors and hosts ask here whether the server can take calls.',
    'GET /health',
    '404',
    '200 {"status": "ok", "server": "prices", "version": "1.4.0"}',
  ),
  'health.fields': exchange(
    'The answer tells which version is live, so that a deployment can be checked.',
    'GET /health',
    '200 OK',
    '200 {"status": "ok", "server": "prices", "version": "1.4.0"}',
  ),
  'identity.name': exchange(
    'Name and version are how callers and support tell servers and releases apart.',
    initialize,
    '200 {"result": {"serverInfo": {"name": "prices", "version": ""}, …}}',
    '200 {"result": {"serverInfo": {"name": "prices", "version": "1.4.0"}, …}}',
  ),
  'identity.tools': exchange(
    'A client asks for tools only where the server declares that it has some.',
    initialize,
    '200 {"result": {"capabilities": {}, …}}',
    '200 {"result": {"capabilities": {"tools": {}}, …}}',
  ),
  'identity.same': contrast(
    'Two names or versions for one server make it unclear which release is live.',
    'GET /health\n→ {"version": "1.3.0", …}\ninitialize\n→ {"serverInfo": {"version": "1.4.0", …}}',
    'GET /health\n→ {"version": "1.4.0", …}\ninitialize\n→ {"serverInfo": {"version": "1.4.0", …}}',
  ),
  'discovery.initialize': open('initialize', '{"protocolVersion": "2024-11-05", …}'),
  'discovery.in-time': exchange(
    'The platform looks in daily; a server that answers too late counts as down, and three misses in a row take it off the list.',
    `${initialize}, after a cold start`,
    '200, after 40 s',
    '200, after 2 s',
  ),
  'discovery.tools-list': open('tools/list', '{"tools": [{"name": "get_price", …}]}'),
  'discovery.resources-list': open('resources/list', '{"resources": []}'),
  'discovery.prompts-list': open('prompts/list', '{"prompts": []}'),
  'discovery.tools': exchange(
    'There is nothing to list and nothing to sell without a tool.',
    'POST /mcp  {"method": "tools/list", …}',
    '200 {"result": {"tools": []}}',
    '200 {"result": {"tools": [{"name": "get_price", …}]}}',
  ),
  'discovery.client': exchange(
    'The marketplace and most agents talk through the MCP SDK, whose client refuses lists that are not as the protocol says.',
    'client.listTools()',
    'McpError: tools[0].annotations: expected object, received string',
    '2 tools',
  ),
};
