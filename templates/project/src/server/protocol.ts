import { isObject } from '../../contract/schema.ts';

/** The versions of MCP that the server speaks, newest first. The oldest that platforms send is 2024-11-05 (C§9.1). */
export const protocolVersions = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const;

/** Codes of JSON-RPC errors. */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  Unauthorized: -32001,
} as const;

export type RequestId = string | number;

/** The members of a JSON object from outside. */
export type Members = { readonly [name: string]: unknown };

/** A message that is due an answer. */
export interface Request {
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Members;
}

export function isRequest(message: Members): message is Members & Request {
  return consistsOf(requestMembers, message) && isId(message.id) && namesMethod(message);
}

/** Whether a message is due no answer: a notification, or a response to a request. */
export function isQuiet(message: Members): boolean {
  const { id, result, error } = message;
  if (consistsOf(notificationMembers, message)) return namesMethod(message);
  if (consistsOf(resultMembers, message)) return isId(id) && isObject(result);
  if (!consistsOf(errorMembers, message) || !(id === undefined || isId(id))) return false;
  return isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string';
}

const requestMembers = new Set(['jsonrpc', 'id', 'method', 'params']);
const notificationMembers = new Set(['jsonrpc', 'method', 'params']);
const resultMembers = new Set(['jsonrpc', 'id', 'result']);
const errorMembers = new Set(['jsonrpc', 'id', 'error']);

function consistsOf(members: ReadonlySet<string>, message: Members): boolean {
  return message.jsonrpc === '2.0' && Object.keys(message).every((name) => members.has(name));
}

/** Numbers beyond the safe ones would come back as others. */
function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

function namesMethod({ method, params }: Members): boolean {
  return typeof method === 'string' && (params === undefined || isObject(params));
}
