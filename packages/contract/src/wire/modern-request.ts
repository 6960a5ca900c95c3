import { isObject, present } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { PostOptions, Requests } from './requests.ts';
import { nextId, type RpcAnswer, rpcAnswer } from './rpc.ts';

/** The stateless revision of MCP, without initialize and sessions. */
export const modernVersion = '2026-07-28';

/** Options of a request of the stateless revision. */
export interface ModernOptions extends PostOptions {
  /** Replaces entries of `_meta`, by their name without the prefix; undefined omits one. */
  readonly meta?: Readonly<Record<string, Json | undefined>>;
}

/** A message of the stateless revision, and the headers that repeat parts of it. */
export interface ModernMessage {
  readonly body: JsonObject & { readonly id: number };
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The reserved name of an entry of `_meta`. */
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
      'mcp-name': typeof params.name === 'string' ? encodeHeaderText(params.name) : undefined,
    },
  };
}

/** Sends one request of the stateless revision. Headers in the options replace those derived from the body. */
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

/** A text in the base64 form of a header value. */
export function base64Header(text: string): string {
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The headers that repeat arguments of a call, according to the inputSchema (`x-mcp-header`). */
export function parameterHeaders(
  inputSchema: Json | undefined,
  args: Json | undefined,
): Readonly<Record<string, string>> {
  if (!isObject(inputSchema) || args === undefined || args === null) return {};
  const name = inputSchema['x-mcp-header'];
  if (typeof name === 'string')
    return { [`mcp-param-${name.toLowerCase()}`]: encodeHeaderText(String(args)) };
  const { properties } = inputSchema;
  if (!isObject(properties) || !isObject(args)) return {};
  const inner = Object.entries(properties).map(([property, schema]) =>
    parameterHeaders(schema, Object.hasOwn(args, property) ? args[property] : undefined),
  );
  return Object.assign({}, ...inner);
}

/** A text as the value of a header; encoded if it is not a valid one. */
function encodeHeaderText(text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')) return text;
  return base64Header(text);
}
