/** A minimal MCP client for benchmarks: one request, one answer. */

const accept = 'application/json, text/event-stream';
export const initializeParams = {
  protocolVersion: '2024-11-05',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
};

/**
 * The sender of a request, and the era of MCP.
 *
 * @typedef {object} Identity
 * @property {string} [session]
 * @property {string} [token]
 * @property {boolean} [modern] whether the request is one of 2026-07-28, which has no sessions
 */

const modernVersion = '2026-07-28';
const key = (/** @type {string} */ name) => `io.modelcontextprotocol/${name}`;

/** Adds the members that a request of 2026-07-28 needs in its params. @param {object} params */
export function modernParams(params) {
  const { clientInfo, capabilities } = initializeParams;
  const _meta = {
    [key('protocolVersion')]: modernVersion,
    [key('clientInfo')]: clientInfo,
    [key('clientCapabilities')]: capabilities,
  };
  return { ...params, _meta };
}

/**
 * The headers of a request of 2026-07-28 that repeat its body.
 *
 * @param {string} method
 * @param {object} params
 */
export function modernHeaders(method, params) {
  return {
    'mcp-protocol-version': modernVersion,
    'mcp-method': method,
    ...('name' in params && { 'mcp-name': String(params.name) }),
  };
}

/**
 * The headers of an MCP request.
 *
 * @param {Identity} identity
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
 * @param {Identity} [identity]
 * @returns {Promise<{ result: any, session: string | undefined }>}
 * @throws {Error} if the answer is not a result
 */
export async function request(url, method, params, identity = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headersOf(identity), ...(identity.modern && modernHeaders(method, params)) },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: identity.modern ? modernParams(params) : params,
    }),
  });
  const text = await response.text();
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { result } = text === '' ? { result: undefined } : JSON.parse(json);
  if (result === undefined) throw new Error(`${method}: status ${response.status}, ${text.slice(0, 200)}`);
  return { result, session: response.headers.get('mcp-session-id') ?? undefined };
}

/**
 * Opens a session as clients do: initialize and the notification after it.
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
