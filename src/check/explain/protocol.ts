import { type Explanations, exchange } from './model.ts';

function initialize(version: string): string {
  return `initialize {"protocolVersion": "${version}", …}`;
}

/** JSON-RPC and the versions of MCP. */
export const protocolExplanations: Explanations = {
  'protocol.platform-version': exchange(
    'It is the version that the platform sends.',
    initialize('2024-11-05'),
    '{"protocolVersion": "2025-06-18", …}',
    '{"protocolVersion": "2024-11-05", …}',
  ),
  'protocol.later-versions': exchange(
    'Agents with a newer SDK ask for a newer version, and get along best with it.',
    initialize('2025-06-18'),
    '{"protocolVersion": "2024-11-05", …}',
    '{"protocolVersion": "2025-06-18", …}',
  ),
  'protocol.unknown-version': exchange(
    'The two sides settle on a version both know; an error, or an echo of what nobody knows, ends that.',
    initialize('1999-12-31'),
    '{"protocolVersion": "1999-12-31", …}',
    '{"protocolVersion": "2025-11-25", …}',
  ),
  'protocol.envelope': exchange(
    'A caller finds the answer to its request by the id. Servers that treat 0 as absent answer nobody.',
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
    'Callers leave params out, or send {}: both mean the same.',
    '{"id": 1, "method": "tools/list"}',
    '{"id": 1, "error": {"code": -32602, …}}',
    '{"id": 1, "result": {"tools": […]}}',
  ),
  'protocol.unknown-method': exchange(
    'Clients try methods that a server may lack, and go on when they are told so in the agreed way.',
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
    'What a caller meant by a message that breaks the protocol can only be guessed; an error tells it to fix the message.',
    '{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    '{"id": 1, "result": …}, or HTTP 500',
    'HTTP 400 {"error": {"code": -32600, …}}',
  ),
  'protocol.ping': exchange(
    'Clients ping to see whether a session is alive, and drop it where no answer comes.',
    '{"id": 1, "method": "ping"}',
    '{"id": 1, "error": {"code": -32601, …}}',
    '{"id": 1, "result": {}}',
  ),
};
