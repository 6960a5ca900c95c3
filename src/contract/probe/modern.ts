import { present } from '../json.ts';
import type { Json, JsonObject } from '../model.ts';
import type { PostOptions, Requests } from './requests.ts';
import { nextId, type RpcAnswer, rpcAnswer } from './rpc.ts';

/** The stateless revision of MCP: no initialize, no session. */
export const modernVersion = '2026-07-28';

/** What a request of the stateless revision may differ in. */
export interface ModernOptions extends PostOptions {
  /** Replaces entries of `_meta`, by the name after its prefix; undefined leaves one out. */
  readonly meta?: Readonly<Record<string, Json | undefined>>;
}

/** A message of the stateless revision, and the headers that repeat what is in it. */
export interface ModernMessage {
  readonly body: JsonObject & { readonly id: number };
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The name of an entry of `_meta` that the specification reserves. */
export function metaKey(name: string): string {
  return `io.modelcontextprotocol/${name}`;
}

export function modernMessage(
  method: string,
  params: JsonObject = {},
  meta: ModernOptions['meta'] = {},
): ModernMessage {
  const entries = present<Json>({
    protocolVersion: modernVersion,
    clientInfo: { name: 'marketplace-contract', version: '1.0.0' },
    clientCapabilities: {},
    ...meta,
  });
  const _meta = Object.fromEntries(Object.entries(entries).map(([name, value]) => [metaKey(name), value]));
  return {
    body: { jsonrpc: '2.0', id: nextId(), method, params: { ...params, _meta } },
    headers: {
      'mcp-protocol-version': modernVersion,
      'mcp-method': method,
      'mcp-name': typeof params.name === 'string' ? nameHeader(params.name) : undefined,
    },
  };
}

/** Sends one request of the stateless revision. Headers that the options name replace those that agree with the body. */
export async function modernRpc(
  requests: Requests,
  method: string,
  params?: JsonObject,
  { meta, headers, ...options }: ModernOptions = {},
): Promise<RpcAnswer> {
  const message = modernMessage(method, params, meta);
  const http = await requests.post(message.body, { ...options, headers: { ...message.headers, ...headers } });
  return rpcAnswer(http, message.body.id);
}

/** A text as base64, in the form that a header takes. */
export function encoded(text: string): string {
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The header that repeats a tool's name: encoded where the name is nothing that a header can hold as it is. */
function nameHeader(name: string): string {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.startsWith('=?base64?')
    ? name
    : encoded(name);
}
