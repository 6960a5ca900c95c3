import { contrast, type Explanations, exchange } from './explanation.ts';

const initialize = 'POST /mcp  {"method": "initialize", …}';
const unauthorized = '401 {"error": "Unauthorized"}';

function open(method: string, result: string): ReturnType<typeof exchange> {
  return exchange(
    'Registration and each later "Refresh Skills" read the server without a token. So do agents that choose among tools.',
    `POST /mcp  {"method": "${method}", …}, no token`,
    unauthorized,
    `200 {"result": ${result}}`,
  );
}

/** The address of the server, its identity, and resources that need no payment. */
export const addressExplanations: Explanations = {
  'endpoint.stays-up': contrast(
    'One request that ends the process also ends the calls of all other users. A server that is down when the platform checks it is delisted.',
    "TypeError: Cannot read properties of undefined (reading 'price')\n    at Timeout._onTimeout (file:///app/tools/price.js:12:20)\nthe process exits",
    'the call with the error fails, all other calls continue',
  ),
  'endpoint.path': contrast(
    'The registration form accepts only URLs whose path ends in /mcp.',
    'https://tools.example.com/api',
    'https://tools.example.com/mcp',
  ),
  'endpoint.https': contrast(
    'The platform does not call plain HTTP. Such an endpoint fails without a message, and tokens would be sent unencrypted.',
    'http://tools.example.com/mcp',
    'https://tools.example.com/mcp',
  ),
  'endpoint.no-sse': contrast(
    'If the URL contains the letters "sse", the platform assumes the old SSE transport and does not fall back to another.',
    'https://example.com/assets/mcp',
    'https://example.com/tools/mcp',
  ),
  'health.status': exchange(
    'Monitors and hosting platforms use this address to see whether the server can take calls.',
    'GET /health',
    '404',
    '200 {"status": "ok", "server": "prices", "version": "1.4.0"}',
  ),
  'health.fields': exchange(
    'The answer shows which version is live, so that a deployment can be verified.',
    'GET /health',
    '200 OK',
    '200 {"status": "ok", "server": "prices", "version": "1.4.0"}',
  ),
  'health.ready': exchange(
    'A host sends traffic to a server as soon as its health is 200. Calls that arrive before it is ready fail.',
    'GET /health',
    '200 {"status": "starting", …}',
    '503 {"status": "starting", …}',
  ),
  'health.ready-paid': exchange(
    'A host that asks /ready never ends the previous version, or sends no calls to this one.',
    'GET /ready',
    '404',
    '200 {"status": "ok"}',
  ),
  'health.ready-key': exchange(
    'A wrong URL of the key set, or a network rule, leaves a new version without a key. A host that finds it ready replaces the version that works, and every paid call is refused.',
    'GET /ready, while no key set was fetched',
    '200 {"status": "ok"}',
    '503 {"status": "not ready", "reason": "no key: …"}',
  ),
  'health.ready-audience': exchange(
    'While the server does not know its public URL, no token names it, and every paid call is refused.',
    'GET /ready, with PLATFORM_AUDIENCE=pending',
    '200 {"status": "ok"}',
    '503 {"status": "not ready", "reason": "PLATFORM_AUDIENCE is pending: …"}',
  ),
  'identity.name': exchange(
    'Callers and support distinguish servers and releases by name and version.',
    initialize,
    '200 {"result": {"serverInfo": {"name": "prices", "version": ""}, …}}',
    '200 {"result": {"serverInfo": {"name": "prices", "version": "1.4.0"}, …}}',
  ),
  'identity.tools': exchange(
    'A client asks for tools only if the server declares the tools capability.',
    initialize,
    '200 {"result": {"capabilities": {}, …}}',
    '200 {"result": {"capabilities": {"tools": {}}, …}}',
  ),
  'identity.same': contrast(
    'With two names or versions for one server, nobody knows which release is live.',
    'GET /health\n→ {"version": "1.3.0", …}\ninitialize\n→ {"serverInfo": {"version": "1.4.0", …}}',
    'GET /health\n→ {"version": "1.4.0", …}\ninitialize\n→ {"serverInfo": {"version": "1.4.0", …}}',
  ),
  'discovery.initialize': open('initialize', '{"protocolVersion": "2024-11-05", …}'),
  'discovery.in-time': exchange(
    'The platform checks daily. A server that answers too late counts as down, and after three failures in a row it is delisted.',
    `${initialize}, after a cold start`,
    '200, after 40 s',
    '200, after 2 s',
  ),
  'discovery.tools-list': open('tools/list', '{"tools": [{"name": "get_price", …}]}'),
  'discovery.resources-list': open('resources/list', '{"resources": []}'),
  'discovery.prompts-list': open('prompts/list', '{"prompts": []}'),
  'discovery.invalid-token': exchange(
    'A client sends its token with every request. After two minutes it has expired, and the list must still be readable.',
    'POST /mcp  {"method": "tools/list", …}, Authorization: Bearer <expired>',
    unauthorized,
    '200 {"result": {"tools": [{"name": "get_price", …}]}}',
  ),
  'discovery.same-list': contrast(
    'The marketplace judges every call by the list it has read. If the list changes between two requests, a correct answer may be disputed.',
    'tools/list → get_price, described as "… (as of 12:00:01)"\ntools/list → get_price, described as "… (as of 12:00:02)"',
    'tools/list → the same definitions, until the next deployment',
  ),
  'discovery.tools': exchange(
    'Without a tool there is nothing to list and nothing to sell.',
    'POST /mcp  {"method": "tools/list", …}',
    '200 {"result": {"tools": []}}',
    '200 {"result": {"tools": [{"name": "get_price", …}]}}',
  ),
  'discovery.client': exchange(
    'The marketplace and most agents use the client of the MCP SDK, which refuses lists that violate the protocol.',
    'client.listTools()',
    'McpError: tools[0].annotations: expected object, received string',
    '2 tools',
  ),
};
