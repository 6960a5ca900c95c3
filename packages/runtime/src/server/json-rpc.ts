// Messages of JSON-RPC: parsing, checking, replying.

import type { ReservedMemory } from './call-memory.ts';
import { restoreLongIntegers } from './exact-numbers.ts';
import { type RequestIds, type RunningOperation, startOperation, unknownName } from './log.ts';
import { isObject, type Members } from './schema.ts';

export type RequestId = string | number;

/** A message that expects a reply. */
export interface Request {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Members;
}

export interface ErrorReply {
  readonly jsonrpc: '2.0';
  /** Null or absent if the request has no valid id. */
  readonly id?: RequestId | null;
  readonly error: { readonly code: number; readonly message: string; readonly data?: object };
}

export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
} as const;

/**
 * An error that becomes the reply. If a method throws it, the reply has the id of the request and HTTP 200, or 400 for `InvalidRequest`. If it is thrown
 * before, the reply has HTTP 400 and the id null, which the stateless revision omits.
 */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Subscribes to the end of the caller's connection. The returned function unsubscribes. */
export type OnDisconnect = (listener: () => void) => () => void;

/** The request that a method answers. */
export interface RequestContext extends RequestIds {
  readonly onDisconnect: OnDisconnect;
  /** Reserved for the request until its response is sent. */
  readonly memory?: ReservedMemory;
  /** The published operation; undefined if nothing subscribes. */
  readonly operation?: RunningOperation | undefined;
}

/**
 * Returns the result of a request as JSON text.
 *
 * @param leadingMembers further members of the result, before its own: JSON text that ends with a comma, or nothing
 */
export type McpMethod = (
  params: Members,
  context: RequestContext,
  leadingMembers?: string,
) => string | Promise<string>;

/**
 * Parses JSON text. Integers in arguments that JavaScript would change become text, as in `parseExactly`.
 *
 * @throws RpcError if the text is not JSON
 */
export function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new RpcError(ErrorCode.ParseError, 'Parse error');
  }
  return withArguments(body, restoreLongIntegers(text, body));
}

/** Takes only `params.arguments` from `exactBody`, where long integers are text. Ids stay numbers. */
function withArguments(body: unknown, exactBody: unknown): unknown {
  if (body === exactBody) return body;
  if (Array.isArray(body))
    return body.map((message, i) => withArguments(message, (exactBody as unknown[])[i]));
  if (!isObject(body) || !isObject(body.params)) return body;
  const { params } = exactBody as { readonly params: Members };
  return { ...body, params: { ...body.params, arguments: params.arguments } };
}

export function errorReply(code: number, message: string, id?: RequestId | null, data?: object): ErrorReply {
  return { jsonrpc: '2.0', id, error: { code, message, data } };
}

/**
 * Replies to one message: a result as JSON text, an error, or null for a notification. No state outlives a message, so
 * `notifications/cancelled` has no effect: a caller cancels a call by closing its connection. Responses are invalid,
 * because the server sends no requests.
 */
export async function replyTo(
  message: Members,
  methods: ReadonlyMap<string, McpMethod>,
  context: RequestContext,
): Promise<string | ErrorReply | null> {
  if (isNotification(message)) return null;
  if (!isRequest(message)) return errorReply(ErrorCode.InvalidRequest, 'Invalid Request', null);
  const { id, method, params = {} } = message;
  const handler = methods.get(method);
  const operation = startOperation(context, handler ? method : unknownName);
  operation?.setResult({ outcome: 'ok' });
  try {
    if (!handler) throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
    const result = await handler(params, operation ? { ...context, operation } : context);
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
  } catch (error) {
    const isRpcError = error instanceof RpcError;
    operation?.setResult({ outcome: 'error', errorType: isRpcError ? String(error.code) : 'INTERNAL_ERROR' });
    if (isRpcError) return errorReply(error.code, error.message, id);
    throw error;
  } finally {
    operation?.publishEnd();
  }
}

/** The member `_meta` of the params of a message; empty if it has none. */
export function requestMeta(message: unknown): Members {
  const params = isObject(message) ? message.params : undefined;
  if (isObject(params) && isObject(params._meta)) return params._meta;
  return {};
}

/** Whether a message is a request: a method, optional params and an id, and nothing else. */
export function isRequest(message: unknown): message is Request {
  if (!isObject(message)) return false;
  const { id } = message;
  return (typeof id === 'string' || Number.isSafeInteger(id)) && isPlainRequest(message, 'id');
}

/** Whether a message is a notification: a method and optional params, without an id. */
export function isNotification(message: unknown): boolean {
  return isObject(message) && message.id === undefined && isPlainRequest(message);
}

function isPlainRequest(message: Members, extraMember?: string): boolean {
  const { jsonrpc, method, params } = message;
  if (jsonrpc !== '2.0' || typeof method !== 'string') return false;
  if (params !== undefined && !isObject(params)) return false;
  for (const name in message) {
    if (name !== 'jsonrpc' && name !== 'method' && name !== 'params' && name !== extraMember) return false;
  }
  return true;
}
