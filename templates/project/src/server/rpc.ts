import type { Caller } from './caller.ts';
import { ErrorCode, isQuiet, isRequest, type Members, type RequestId } from './protocol.ts';

/** Answers the requests of one method by a result as JSON text; a thrown `RpcError` becomes an error of its code. */
export type Method = (params: Members, caller: Caller) => string | Promise<string>;

export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A JSON-RPC response: a result as the text that goes out, or an error. */
export type Reply = string | ErrorReply;

export interface ErrorReply {
  readonly jsonrpc: '2.0';
  /** Null where the request's own cannot be told. */
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string };
}

export function errorReply(code: number, message: string, id: RequestId | null = null): ErrorReply {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/**
 * Replies to one message; null where no reply is due, to notifications and responses.
 *
 * No state outlives a message, so that none can be shared between callers. Hence a `notifications/cancelled`, which is
 * a message of its own, finds nothing to cancel: callers cancel a call by closing its connection.
 */
export async function replyTo(
  message: Members,
  methods: ReadonlyMap<string, Method>,
  caller: Caller,
): Promise<Reply | null> {
  if (!isRequest(message)) {
    return isQuiet(message) ? null : errorReply(ErrorCode.InvalidRequest, 'Invalid Request');
  }
  const { id, method, params = {} } = message;
  try {
    const handler = methods.get(method);
    if (!handler) throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
    const result = await handler(params, caller);
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
  } catch (error) {
    if (error instanceof RpcError) return errorReply(error.code, error.message, id);
    throw error;
  }
}
