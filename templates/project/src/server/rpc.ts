import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  InitializeRequestSchema,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';

export { ErrorCode };

/** Name and version, as `initialize` and `/health` tell them (C§2.3, C§2.4). */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** What a method may know of the HTTP request that brought its message; the signal aborts when the caller is gone. */
export type Caller = Pick<Request, 'headers' | 'signal'>;

/** Answers the requests of one MCP method; a thrown `RpcError` becomes an error of its code. */
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

/** A JSON-RPC response as it goes out. */
export type Reply = { readonly result: object } | ErrorReply;

export interface ErrorReply {
  readonly error: { readonly code: number; readonly message: string };
}

/** Resolves to the reply to a message, or to null where none is due: to notifications and responses. */
export type Answer = (message: object, caller: Caller) => Promise<Reply | null>;

/** A JSON-RPC error response. */
export function errorResponse(code: number, message: string, id: unknown = null): ErrorReply {
  const response = { jsonrpc: '2.0', id, error: { code, message } };
  return response;
}

/** Whether `MCP-Protocol-Version` names a version that this server speaks. */
export function isSupportedVersion(version: string): boolean {
  return SUPPORTED_PROTOCOL_VERSIONS.includes(version);
}

/**
 * Connects methods to the protocol. Every request gets an SDK server of its own, so that no state between callers can
 * exist. Hence a `notifications/cancelled`, a request of its own, finds nothing to cancel: callers cancel a call by
 * closing its connection.
 */
export function createAnswer(info: ServerInfo, methods: ReadonlyMap<string, Method>): Answer {
  return async (message, caller) => {
    if (!('method' in message && 'id' in message)) {
      const quiet =
        isJSONRPCNotification(message) || isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
      return quiet ? null : errorResponse(ErrorCode.InvalidRequest, 'Invalid Request');
    }
    const { method, id } = message;
    if (method === 'initialize' && !InitializeRequestSchema.safeParse(message).success) {
      return errorResponse(ErrorCode.InvalidParams, 'Invalid params of initialize', id);
    }
    const server = new Server(info, options);
    const handler = methods.get(method as string);
    if (handler) server.fallbackRequestHandler = async ({ params = {} }) => handler(params, caller);
    return exchange(server, message as JSONRPCMessage);
  };
}

/** Without a validator of ours each server would build an Ajv, for elicitation, which tools here cannot use. */
const options: ConstructorParameters<typeof Server>[1] = {
  capabilities: { tools: {} },
  jsonSchemaValidator: {
    getValidator() {
      throw new Error('Elicitation is not supported.');
    },
  },
};

/** Hands one request to a fresh server and resolves to what it sends back. */
function exchange(server: Server, request: JSONRPCMessage): Promise<Reply> {
  return new Promise((resolve) => {
    const refuse = () => resolve(errorResponse(ErrorCode.InvalidRequest, 'Invalid Request'));
    const transport: Transport = {
      start: async () => {},
      send: async (message) => {
        if ('result' in message || 'error' in message) resolve(message);
      },
      close: async () => transport.onclose?.(),
    };
    server.onerror = refuse;
    server
      .connect(transport)
      .then(() => transport.onmessage?.(request))
      .catch(refuse);
  });
}
