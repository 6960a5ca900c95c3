import { token } from './support.ts';

const key = (name: string) => `io.modelcontextprotocol/${name}`;
const version = '2026-07-28';

/** The `_meta` of a request of 2026-07-28 with changes; `undefined` omits an entry. */
export function envelope(changes: Readonly<Record<string, unknown>> = {}): object {
  const entries = {
    protocolVersion: version,
    clientInfo: { name: 'test', version: '1' },
    clientCapabilities: {},
    ...changes,
  };
  return Object.fromEntries(Object.entries(entries).map(([name, value]) => [key(name), value]));
}

/** A request of 2026-07-28 and its headers; further ones replace them, `undefined` omits one. */
export function modernRequest(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  changes: Readonly<Record<string, string | undefined>> = {},
): { readonly body: Record<string, unknown>; readonly headers: Record<string, string> } {
  const all = {
    'mcp-protocol-version': version,
    'mcp-method': method,
    'mcp-name': typeof params.name === 'string' ? params.name : undefined,
    ...changes,
  };
  return {
    body: { jsonrpc: '2.0', id: 1, method, params: { _meta: envelope(), ...params } },
    headers: Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ),
  };
}

/** A header with a token signed by the platform. */
export async function paid(...claims: Parameters<typeof token>): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await token(...claims)}` };
}
