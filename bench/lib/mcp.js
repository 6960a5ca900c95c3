/** As little of an MCP client as a benchmark needs: one request, one answer. */

const accept = 'application/json, text/event-stream';
export const initializeParams = {
  protocolVersion: '2024-11-05',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
};

/**
 * The headers of an MCP request.
 *
 * @param {{ readonly session?: string, readonly token?: string }} identity
 */
export function headersOf({ session, token }) {
  return {
    'content-type': 'application/json',
    accept,
    ...(session && { 'mcp-session-id': session }),
    ...(token && { authorization: `Bearer ${token}` }),
  };
}

/**
 * Sends one request and reads its answer, plain or as an event.
 *
 * @param {string} url
 * @param {string} method
 * @param {object} params
 * @param {{ readonly session?: string, readonly token?: string }} [identity]
 * @returns {Promise<{ result: any, session: string | undefined }>}
 * @throws {Error} where the answer is not a result
 */
export async function request(url, method, params, identity = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: headersOf(identity),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await response.text();
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { result } = text === '' ? { result: undefined } : JSON.parse(json);
  if (result === undefined) throw new Error(`${method}: status ${response.status}, ${text.slice(0, 200)}`);
  return { result, session: response.headers.get('mcp-session-id') ?? undefined };
}

/**
 * Opens a session, as clients do: initialize and the notification after it.
 *
 * @param {string} url
 * @param {string} [token]
 */
export async function openSession(url, token) {
  const { session } = await request(url, 'initialize', initializeParams, { token });
  const response = await fetch(url, {
    method: 'POST',
    headers: headersOf({ session, token }),
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  });
  await response.text();
  return session;
}
