import { contrast, type Explanations, exchange, parameter } from './explanation.ts';

const list = 'POST tools/list, MCP-Protocol-Version: 2026-07-28, no session';
const call = 'POST tools/call, MCP-Protocol-Version: 2026-07-28, no session';

/** The stateless revision of MCP. */
export const modernExplanations: Explanations = {
  'modern.served': exchange(
    'Newer hosts ask for this revision first. Without it, each of their connections starts with a refused request.',
    'POST server/discover, MCP-Protocol-Version: 2026-07-28',
    'HTTP 400 {"error": "Invalid session"}',
    'HTTP 200 {"supportedVersions": ["2026-07-28"], …}',
  ),
  'modern.discover': exchange(
    'A client chooses its version from this answer, and uses only what the capabilities name.',
    'POST server/discover',
    '{"versions": "2026-07-28"}',
    '{"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, …}',
  ),
  'modern.tools': exchange(
    'An agent must find the same tools, whichever version its host speaks. The marketplace reads them without a token.',
    list,
    'HTTP 401 {"error": "Unauthorized"}',
    'HTTP 200 {"tools": [{"name": "get_price", …}], …}',
  ),
  'modern.result-type': exchange(
    'In this revision, a result can also ask for input, so clients read its type first. A result of an unknown type is invalid.',
    list,
    '{"resultType": "done", "tools": […]}',
    '{"resultType": "complete", "tools": […]}',
  ),
  'modern.server-info': exchange(
    'This revision has no initialize, so hosts learn only from _meta which server has answered.',
    list,
    '{"resultType": "complete", "tools": […]}',
    '{"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "prices", "version": "1.0.0"}}, …}',
  ),
  'modern.cache': exchange(
    'No message announces a change of the tools. Hosts keep a list for as long as the server says, or do not keep it at all.',
    list,
    '{"tools": […], "ttlMs": "1 minute"}',
    '{"tools": […], "ttlMs": 60000, "cacheScope": "public"}',
  ),
  'modern.stateless': exchange(
    'In this revision, each request stands alone. A client that still sends an old session id must get its answer.',
    `${list}, Mcp-Session-Id: of-last-week`,
    'HTTP 400 {"error": "Invalid session"}',
    'HTTP 200 {"tools": […], …}, without Mcp-Session-Id',
  ),
  'modern.call': exchange(
    'The token comes with the request and proves the payment. A server that also demands a session refuses every caller of this revision.',
    `${call}, Authorization: Bearer <token>`,
    'HTTP 400 {"error": "Invalid session"}',
    'HTTP 200 {"resultType": "complete", "structuredContent": {…}, …}',
  ),
  'modern.results': exchange(
    'Clients of both eras validate what they get. A result that is built twice is soon wrong in one of them.',
    `${call}, Authorization: Bearer <token>`,
    'HTTP 200 {"structuredContent": {"price": 3}, "content": [{"type": "text", "text": "{\\"price\\":2}"}]}',
    'HTTP 200 {"structuredContent": {"price": 3}, "content": [{"type": "text", "text": "{\\"price\\":3}"}]}',
  ),
  'modern.call-type': exchange(
    'A client reads the type of a result before the result. Without it, it takes the server for one of an earlier version.',
    `${call}, Authorization: Bearer <token>`,
    'HTTP 200 {"content": […], "structuredContent": {…}}',
    'HTTP 200 {"resultType": "complete", "content": […], "structuredContent": {…}}',
  ),
  'modern.failure': exchange(
    'A caller without a session must learn that a call failed, as a caller with one does. Otherwise it pays for an error and shows it as data.',
    'tools/call get_price {"symbol": 5}, without a session',
    '200 {"result": {"isError": false, …}}',
    '200 {"result": {"isError": true, "content": […], …}}',
  ),
  'modern.encoded-name': exchange(
    'A client encodes a name that a header cannot contain as base64. It may encode any name.',
    `${call}, Mcp-Name: =?base64?Z2V0X3ByaWNl?=`,
    'HTTP 400, error -32020',
    'HTTP 200 {"resultType": "complete", …}',
  ),
  'modern.headers': exchange(
    'Gateways route and bill by the headers. If the body may differ from them, the gateway checks one call and the server runs another.',
    'POST tools/list, Mcp-Method: server/discover',
    'HTTP 200 {"tools": […]}',
    'HTTP 400, error -32020',
  ),
  'modern.name-header': exchange(
    'A gateway may allow only some tools, by the name in the header. If the body may name another tool, that tool runs.',
    'POST tools/call of get_price, Mcp-Name: free_tool',
    'HTTP 200 {"structuredContent": {"price": 1}}',
    'HTTP 400, error -32020',
  ),
  'modern.version': exchange(
    'From this error, a client learns which versions it can use, and tries again with one of them.',
    'POST tools/list, MCP-Protocol-Version: 1900-01-01',
    'HTTP 400, error -32600',
    'HTTP 400, error -32022, data {"supported": ["2026-07-28"], "requested": "1900-01-01"}',
  ),
  'modern.meta': exchange(
    'Without a session, the server knows only what the request says about its client. It must not guess the rest.',
    `${list}, _meta without clientCapabilities`,
    'HTTP 200 {"tools": […]}',
    'HTTP 400, error -32602',
  ),
  'modern.unknown-method': exchange(
    'The status and the code tell a client whether the method is missing or the whole server.',
    'POST ping, MCP-Protocol-Version: 2026-07-28',
    'HTTP 200 {"result": {}}',
    'HTTP 404, error -32601',
  ),
  'modern.error-codes': exchange(
    'Clients decide by the code what to do: correct the headers, choose another version, or give up. A code with another meaning misleads them.',
    'POST resources/read {"uri": "file:///no-such-resource"}, MCP-Protocol-Version: 2026-07-28',
    'HTTP 200 {"error": {"code": -32002, "message": "Resource not found"}}',
    'HTTP 200 {"error": {"code": -32602, "message": "Resource not found"}}',
  ),
  'modern.notification': exchange(
    'Nobody waits for an answer to a notification. A client could take it for the answer to another request.',
    'POST notifications/cancelled, MCP-Protocol-Version: 2026-07-28',
    'HTTP 200 {"id": null, "result": {}}',
    'HTTP 202',
  ),
  'modern.unreadable': exchange(
    'This revision has no batches and no request without an id. A server that answers them as requests is asked in ways that its authentication may not foresee.',
    'POST [{"method": "tools/list", …}], MCP-Protocol-Version: 2026-07-28',
    'HTTP 200 [{"result": {…}}]',
    'HTTP 400 {"error": {"code": -32600, …}}',
  ),
  'modern.error-id': exchange(
    'In this revision, an id is never null. Clients that validate messages reject such an error, and their users never see what was wrong.',
    'POST [{…}], MCP-Protocol-Version: 2026-07-28',
    'HTTP 400 {"id": null, "error": {"code": -32600, …}}',
    'HTTP 400 {"error": {"code": -32600, …}}',
  ),
  'modern.no-token': exchange(
    'A call without a session must be paid, too. A server that checks the token only in sessions gives its calls away.',
    call,
    'HTTP 200 {"structuredContent": {…}}',
    'HTTP 401 {"error": "Unauthorized"}',
  ),
  'modern.forged-token': exchange(
    'Both eras serve the same paid tools. If one of them verifies less, everyone calls through that one.',
    `${call}, Authorization: Bearer <signed with another key>`,
    'HTTP 200 {"structuredContent": {…}}',
    'HTTP 401 {"error": "Unauthorized"}',
  ),
  'modern.disguised-call': contrast(
    'The headers of this revision describe the body, but the caller writes them. A server that trusts them lets anyone call without paying.',
    'POST tools/call, Mcp-Method: tools/list, no token\n→ HTTP 200 {"structuredContent": {…}}',
    'POST tools/call, Mcp-Method: tools/list, no token\n→ HTTP 401 {"error": "Unauthorized"}',
  ),
  'modern.parameter-header': parameter(
    'Clients omit a tool with an x-mcp-header that they cannot apply, so nobody can call it.',
    { type: 'string', description: 'Symbol', examples: ['BTC'], 'x-mcp-header': 'not a token' },
    { type: 'string', description: 'Symbol', examples: ['BTC'], 'x-mcp-header': 'Symbol' },
  ),
};
