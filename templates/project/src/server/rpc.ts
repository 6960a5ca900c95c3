import {
  ErrorCode,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from './caller.ts';

export { ErrorCode };

/** Answers the requests of one method; a thrown `RpcError` becomes an error response of its code. */
export type Method = (
  params: { readonly [name: string]: unknown },
  caller: Caller,
) => object | Promise<object>;

export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A JSON-RPC response as it goes out; the `id` of an error is null where the request's own cannot be told. */
export type Reply =
  | { readonly jsonrpc: '2.0'; readonly id: string | number; readonly result: object }
  | ErrorReply;

export interface ErrorReply {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

export function errorReply(code: number, message: string, id: string | number | null = null): ErrorReply {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/**
 * Replies to one message as the protocol's schemas read it; null where no reply is due, to notifications and responses.
 *
 * No state outlives a message, so that none can be shared between callers. Hence a `notifications/cancelled`, which is
 * a message of its own, finds nothing to cancel: callers cancel a call by closing its connection.
 */
export async function replyTo(
  message: object,
  methods: ReadonlyMap<string, Method>,
  caller: Caller,
): Promise<Reply | null> {
  if (!isJSONRPCRequest(message)) {
    const quiet =
      isJSONRPCNotification(message) || isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    return quiet ? null : errorReply(ErrorCode.InvalidRequest, 'Invalid Request');
  }
  const { id, method, params = {} } = message;
  try {
    const handler = methods.get(method);
    if (!handler) throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
    return { jsonrpc: '2.0', id, result: await handler(params, caller) };
  } catch (error) {
    if (error instanceof RpcError) return errorReply(error.code, error.message, id);
    throw error;
  }
}
