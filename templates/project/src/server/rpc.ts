import type { OnGone } from './call.ts';
import { isObject, type Members } from './schema.ts';

export type RequestId = string | number;

/** A message that is due an answer. */
export interface Request {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Members;
}

export interface ErrorReply {
  readonly jsonrpc: '2.0';
  /** Null or absent where the request's own cannot be read. */
  readonly id?: RequestId | null;
  readonly error: { readonly code: number; readonly message: string };
}

/** Codes of JSON-RPC errors. */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
} as const;

/** Thrown by a method, becomes an error reply of its code. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Answers the requests of one method by a result as JSON text. */
export type Method = (params: Members, onGone: OnGone) => string | Promise<string>;

/** Levels of JSON that a message may have. */
const mostLevels = 500;

/**
 * The JSON value that bytes are the text of; undefined where it nests too deeply to be read.
 *
 * @throws RpcError where they are none.
 */
export function parseMessage(bytes: Buffer): unknown {
  if (isNestedTooDeep(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new RpcError(ErrorCode.ParseError, 'Parse error');
  }
}

export function errorReply(code: number, message: string, id: RequestId | null | undefined): ErrorReply {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/**
 * Replies to one message: JSON text where a method gave a result, or an error; null where no reply is due, to
 * notifications and responses.
 *
 * No state outlives a message, so that none can be shared between callers. Hence a `notifications/cancelled`, which is
 * a message of its own, finds nothing to cancel: callers cancel a call by closing its connection.
 */
export async function replyTo(
  message: Members,
  methods: ReadonlyMap<string, Method>,
  onGone: OnGone,
): Promise<string | ErrorReply | null> {
  if (!isRequest(message)) {
    return isQuiet(message) ? null : errorReply(ErrorCode.InvalidRequest, 'Invalid Request', null);
  }
  const { id, method, params = {} } = message;
  try {
    const handler = methods.get(method);
    if (!handler) throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${await handler(params, onGone)}}`;
  } catch (error) {
    if (error instanceof RpcError) return errorReply(error.code, error.message, id);
    throw error;
  }
}

export function isRequest(message: Members): message is Members & Request {
  return consistsOf(message, 'id', 'method', 'params') && isId(message.id) && namesMethod(message);
}

/** Whether a message is due no answer: a notification, or a response to a request. */
export function isQuiet(message: Members): boolean {
  const { id, result, error } = message;
  if (consistsOf(message, 'method', 'params')) return namesMethod(message);
  if (consistsOf(message, 'id', 'result')) return isId(id) && isObject(result);
  if (!consistsOf(message, 'id', 'error') || !(id === undefined || isId(id))) return false;
  return isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string';
}

function consistsOf(message: Members, ...names: string[]): boolean {
  return (
    message.jsonrpc === '2.0' &&
    Object.keys(message).every((name) => name === 'jsonrpc' || names.includes(name))
  );
}

/** Numbers beyond the safe ones would come back as others. */
function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

function namesMethod({ method, params }: Members): boolean {
  return typeof method === 'string' && (params === undefined || isObject(params));
}

const [quote, backslash, brace, bracket, closingBrace, closingBracket] = Buffer.from('"\\{[}]');

/** Whether JSON text nests deeper than is read: to parse such a text would take far longer than to see it. */
function isNestedTooDeep(bytes: Buffer): boolean {
  if (bytes.length <= mostLevels) return false;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
    } else if (byte === brace || byte === bracket) {
      if (++depth > mostLevels) return true;
    } else if (byte === closingBrace || byte === closingBracket) depth--;
  }
  return false;
}
