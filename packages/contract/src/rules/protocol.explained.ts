import { type Explanations, exchange } from './explanation.ts';

function initialize(version: string): string {
  return `initialize {"protocolVersion": "${version}", …}`;
}

/** JSON-RPC and the versions of MCP. */
export const protocolExplanations: Explanations = {
  'protocol.platform-version': exchange(
    'This is the version that the platform sends.',
    initialize('2024-11-05'),
    '{"protocolVersion": "2025-06-18", …}',
    '{"protocolVersion": "2024-11-05", …}',
  ),
  'protocol.later-versions': exchange(
    'Agents with a newer SDK request a newer version and work best with it.',
    initialize('2025-06-18'),
    '{"protocolVersion": "2024-11-05", …}',
    '{"protocolVersion": "2025-06-18", …}',
  ),
  'protocol.unknown-version': exchange(
    'Client and server negotiate a version that both support. An error, or an unknown version in the answer, ends the negotiation.',
    initialize('1999-12-31'),
    '{"protocolVersion": "1999-12-31", …}',
    '{"protocolVersion": "2025-11-25", …}',
  ),
  'protocol.envelope': exchange(
    'A caller matches a response to its request by the id. A server that treats the id 0 as absent never answers such a request.',
    '{"jsonrpc": "2.0", "id": 0, "method": "tools/list"}',
    '{"tools": […]}',
    '{"jsonrpc": "2.0", "id": 0, "result": {"tools": […]}}',
  ),
  'protocol.string-id': exchange(
    'JSON-RPC allows strings as ids, and several clients use them.',
    '{"id": "a1", "method": "tools/list", …}',
    '{"id": null, "error": …}',
    '{"id": "a1", "result": …}',
  ),
  'protocol.optional-params': exchange(
    'Some callers omit params, others send {}. Both mean the same.',
    '{"id": 1, "method": "tools/list"}',
    '{"id": 1, "error": {"code": -32602, …}}',
    '{"id": 1, "result": {"tools": […]}}',
  ),
  'protocol.unknown-method': exchange(
    'Clients try optional methods. If a method is missing, they continue after the standard error.',
    '{"id": 1, "method": "tools/destroy", …}',
    'HTTP 500',
    '{"id": 1, "error": {"code": -32601, "message": "Method not found"}}',
  ),
  'protocol.notification': exchange(
    'Every client sends notifications/initialized after initialize. A notification has no id, so nothing can answer it.',
    '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    'HTTP 400, or {"id": null, "error": …}',
    'HTTP 202',
  ),
  'protocol.ill-formed': exchange(
    'The meaning of a message that violates the protocol can only be guessed. An error tells the caller to fix it.',
    '{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    '{"id": 1, "result": …}, or HTTP 500',
    'HTTP 400 {"error": {"code": -32600, …}}',
  ),
  'protocol.ping': exchange(
    'Clients send ping to see whether a session is alive, and drop the session if there is no answer.',
    '{"id": 1, "method": "ping"}',
    '{"id": 1, "error": {"code": -32601, …}}',
    '{"id": 1, "result": {}}',
  ),
};
