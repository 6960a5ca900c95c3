import { contrast, type Explanations, exchange, parameter } from './model.ts';

const list = 'POST tools/list, MCP-Protocol-Version: 2026-07-28, no session';
const call = 'POST tools/call, MCP-Protocol-Version: 2026-07-28, no session';

/** The stateless revision of MCP. */
export const modernExplanations: Explanations = {
  'modern.served': exchange(
    'Newer hosts ask for this revision first. A server without it costs each of their connections one refused request more.',
    'POST server/discover, MCP-Protocol-Version: 2026-07-28',
    'HTTP 400 {"error": "Invalid session"}',
    'HTTP 200 {"supportedVersions": ["2026-07-28"], …}',
  ),
  'modern.discover': exchange(
    'A client chooses its version from this answer, and asks for nothing that the capabilities do not name.',
    'POST server/discover',
    '{"versions": "2026-07-28"}',
    '{"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, …}',
  ),
  'modern.tools': exchange(
    'An agent must find the same tools, whichever version its host speaks; the marketplace reads them with no token.',
    list,
    'HTTP 401 {"error": "Unauthorized"}',
    'HTTP 200 {"tools": [{"name": "get_price", …}], …}',
  ),
  'modern.result-type': exchange(
    'A result may also ask for input, so clients read its type first; one that they do not know is invalid.',
    list,
    '{"resultType": "done", "tools": […]}',
    '{"resultType": "complete", "tools": […]}',
  ),
  'modern.server-info': exchange(
    'Without initialize, this is how a host shows and logs which server has answered.',
    list,
    '{"resultType": "complete", "tools": […]}',
    '{"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "prices", "version": "1.0.0"}}, …}',
  ),
  'modern.cache': exchange(
    'Nothing announces a change of the tools, so hosts keep a list for as long as the server says.',
    list,
    '{"tools": […], "ttlMs": "1 minute"}',
    '{"tools": […], "ttlMs": 60000, "cacheScope": "public"}',
  ),
  'modern.stateless': exchange(
    'Each request stands for itself. A client that still sends a session of earlier must not be turned away for it.',
    `${list}, Mcp-Session-Id: of-last-week`,
    'HTTP 400 {"error": "Invalid session"}',
    'HTTP 200 {"tools": […], …}, without Mcp-Session-Id',
  ),
  'modern.call': exchange(
    'The token comes with the request, so a paid call needs no session in front of it.',
    `${call}, Authorization: Bearer <token>`,
    'HTTP 400 {"error": "Invalid session"}',
    'HTTP 200 {"resultType": "complete", "structuredContent": {…}, …}',
  ),
  'modern.encoded-name': exchange(
    'A name that a header cannot hold travels as base64, and a client may send any name so.',
    `${call}, Mcp-Name: =?base64?Z2V0X3ByaWNl?=`,
    'HTTP 400, error -32020',
    'HTTP 200 {"resultType": "complete", …}',
  ),
  'modern.headers': exchange(
    'Gateways route and bill by the headers. Where they may differ from the body, one thing is checked and another runs.',
    'POST tools/list, Mcp-Method: server/discover',
    'HTTP 200 {"tools": […]}',
    'HTTP 400, error -32020',
  ),
  'modern.name-header': exchange(
    'A gateway that admits one tool by its name must not let another one run.',
    'POST tools/call of get_price, Mcp-Name: free_tool',
    'HTTP 200 {"structuredContent": {"price": 1}}',
    'HTTP 400, error -32020',
  ),
  'modern.version': exchange(
    'From this error a client takes a version that both sides know, and asks again.',
    'POST tools/list, MCP-Protocol-Version: 1900-01-01',
    'HTTP 400, error -32600',
    'HTTP 400, error -32022, data {"supported": ["2026-07-28"], "requested": "1900-01-01"}',
  ),
  'modern.meta': exchange(
    'Nothing is known of a client but what its request says; half of that must not be guessed.',
    `${list}, _meta without clientCapabilities`,
    'HTTP 200 {"tools": […]}',
    'HTTP 400, error -32602',
  ),
  'modern.unknown-method': exchange(
    'By the status and the code a client distinguishes a method that is not there from a server that is not there.',
    'POST ping, MCP-Protocol-Version: 2026-07-28',
    'HTTP 200 {"result": {}}',
    'HTTP 404, error -32601',
  ),
  'modern.notification': exchange(
    'Nobody waits for an answer to a notification, and a client takes one for the answer to something else.',
    'POST notifications/cancelled, MCP-Protocol-Version: 2026-07-28',
    'HTTP 200 {"id": null, "result": {}}',
    'HTTP 202',
  ),
  'modern.unreadable': exchange(
    'The revision has no id of null: clients that check messages reject an error with one, and show a riddle instead.',
    'POST [{…}], MCP-Protocol-Version: 2026-07-28',
    'HTTP 400 {"id": null, "error": {"code": -32600, …}}',
    'HTTP 400 {"error": {"code": -32600, …}}',
  ),
  'modern.no-token': exchange(
    'A call without a session is a paid call as well: a server that asks for the token only in sessions gives it away.',
    call,
    'HTTP 200 {"structuredContent": {…}}',
    'HTTP 401 {"error": "Unauthorized"}',
  ),
  'modern.forged-token': exchange(
    'Both eras serve the same paid tools, so both must verify the token in the same way.',
    `${call}, Authorization: Bearer <signed with another key>`,
    'HTTP 200 {"structuredContent": {…}}',
    'HTTP 401 {"error": "Unauthorized"}',
  ),
  'modern.disguised-call': contrast(
    'The headers of this revision say what the body holds. Who believes them lets anyone call without paying.',
    'POST tools/call, Mcp-Method: tools/list, no token\n→ HTTP 200 {"structuredContent": {…}}',
    'POST tools/call, Mcp-Method: tools/list, no token\n→ HTTP 401 {"error": "Unauthorized"}',
  ),
  'modern.parameter-header': parameter(
    'Clients leave out a tool with a mark that they cannot follow, so nobody can call it.',
    { type: 'string', description: 'Symbol', examples: ['BTC'], 'x-mcp-header': 'not a token' },
    { type: 'string', description: 'Symbol', examples: ['BTC'], 'x-mcp-header': 'Symbol' },
  ),
};
