import { type FailureLine, type Incident, type RequestContext, runCall } from './call.ts';
import type { Tool } from './define-tool.ts';
import { exactly } from './exact.ts';
import { createTurns } from './limits.ts';
import {
  type AnswerDrift,
  createThrottledLog,
  drifts,
  type Log,
  startOperation,
  toolError,
  unknownName,
} from './log.ts';
import type { CallResult } from './result.ts';
import type { RunningCalls } from './running-calls.ts';
import { type CompiledTool, compileTool, isObject, type Members } from './schema.ts';

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

/** An error that becomes the reply. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Returns the result of a request as JSON text.
 *
 * @param lead further members of the result, before its own: JSON text that ends with a comma, or nothing
 */
export type McpMethod = (params: Members, context: RequestContext, lead?: string) => string | Promise<string>;

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
  return withArguments(body, exactly(text, body));
}

/** The messages of `body`, with the arguments of the same messages in `exact`. */
function withArguments(body: unknown, exact: unknown): unknown {
  if (body === exact) return body;
  if (Array.isArray(body)) return body.map((message, i) => withArguments(message, (exact as unknown[])[i]));
  if (!isObject(body) || !isObject(body.params)) return body;
  const { params } = exact as { readonly params: Members };
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
  operation?.ends({ outcome: 'ok' });
  try {
    if (!handler) throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${await handler(params, operation ? { ...context, operation } : context)}}`;
  } catch (error) {
    const isReply = error instanceof RpcError;
    operation?.ends({ outcome: 'error', errorType: isReply ? String(error.code) : 'INTERNAL_ERROR' });
    if (isReply) return errorReply(error.code, error.message, id);
    throw error;
  } finally {
    operation?.publish();
  }
}

/** Whether a message is like a notification, but has an id and thus expects a reply. */
export function isRequest(message: unknown): message is Request {
  if (!isObject(message)) return false;
  const { id } = message;
  return (typeof id === 'string' || Number.isSafeInteger(id)) && isPlainRequest(message, 'id');
}

/** Whether a message has a method, optional params, and nothing else. */
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

/** Whether a value names a program, as `clientInfo` does. */
export function isImplementation(value: unknown): boolean {
  return isObject(value) && typeof value.name === 'string' && typeof value.version === 'string';
}

/** Supported versions of MCP, newest first. The oldest that platforms send is 2024-11-05 (C§9.1). */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** The method whose requests are paid (C§5.3). */
export const paidMethod = 'tools/call';

/** Whether a body contains a call, as a single request or in a batch of any depth. */
export function holdsPaidMethod(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(holdsPaidMethod);
  return isObject(body) && body.method === paidMethod;
}

/** The identity in `initialize` and `/health` (C§2.3, C§2.4). */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

export interface MethodOptions extends ServerInfo {
  /** Deadline of a call in milliseconds. */
  readonly callTimeoutMs: number;
  readonly production: boolean;
}

/** The methods of C§4.1. @throws Error if two tools have the same name or a schema does not compile */
export function createMethods(
  { name, version, callTimeoutMs: timeoutMs, production }: MethodOptions,
  tools: readonly Tool[],
  log: Log,
  { onStop }: RunningCalls,
): ReadonlyMap<string, McpMethod> {
  const byName = new Map<string, CompiledTool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`Two tools are named ${tool.name}.`);
    byName.set(tool.name, compileTool(tool));
  }
  const list = JSON.stringify({ tools: tools.map(listedDefinition) }).slice(1);
  const logIncident = (incident: Incident) => log('incident', incident);
  const logFailure = (line: FailureLine) => log('failure', line);
  const turns = createTurns();
  const traces = !production;
  const logMissing = createThrottledLog(log, 'output-drift', 60_000);
  const onMissingOf = (tool: string) => (path: string) => {
    const hint = 'Return null for this member, or remove it from required in the outputSchema.';
    logMissing(`${tool} ${path}`, { tool, path, hint });
    if (drifts.hasSubscribers) drifts.publish({ tool, path } satisfies AnswerDrift);
  };

  const listTools: McpMethod = ({ cursor }, _context, lead = '') => {
    // All tools are on one page, so no cursor has been issued.
    if (typeof cursor === 'string') throw new RpcError(ErrorCode.InvalidParams, 'Unknown cursor');
    return `{${lead}${list}`;
  };

  const initialize: McpMethod = ({ protocolVersion: requestedVersion, capabilities, clientInfo }) => {
    if (typeof requestedVersion !== 'string' || !isObject(capabilities) || !isImplementation(clientInfo)) {
      throw new RpcError(ErrorCode.InvalidParams, 'Invalid params of initialize');
    }
    const protocolVersion = protocolVersions.includes(requestedVersion)
      ? requestedVersion
      : protocolVersions[0];
    return JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version } });
  };

  const call: McpMethod = async ({ name, arguments: args = {} }, context, lead) => {
    const { requestId, traceparent, operation } = context;
    if (typeof name !== 'string') {
      throw new RpcError(ErrorCode.InvalidParams, 'params.name: expected the name of a tool');
    }
    const compiled = byName.get(name);
    if (!compiled) {
      const shownName = name.slice(0, 100).replace(/\p{C}/gu, '\uFFFD');
      const code = 'UNKNOWN_TOOL';
      operation?.ends({ tool: unknownName, outcome: 'error', errorType: toolError, code });
      log('call', { tool: shownName, ms: 0, outcome: code, code, request: requestId, traceparent });
      const text = `Unknown tool: ${shownName}. tools/list names all tools.`;
      return serializeResult({ content: [{ type: 'text', text }], isError: true }, lead);
    }
    const startedAt = performance.now();
    // Copied by hand: a spread of `context` into the literal takes 2 µs.
    const { onGone, held } = context;
    const requestContext = { requestId, traceparent, onGone, held, operation };
    const { result, outcome, code } = await runCall(compiled, args, {
      ...requestContext,
      timeoutMs,
      onStop,
      turns,
      traces,
      onIncident: logIncident,
      onFailure: logFailure,
      onMissing: production ? onMissingOf(name) : undefined,
    });
    const errorType = result.isError ? toolError : undefined;
    operation?.ends({ tool: name, outcome, errorType, code });
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    // Instead of the outcome `error`, the log has its code.
    const loggedOutcome = outcome === 'error' ? code : outcome;
    log('call', { tool: name, ms, outcome: loggedOutcome, code, request: requestId, traceparent });
    return serializeResult(result, lead);
  };

  return new Map<string, McpMethod>([
    ['initialize', initialize],
    ['ping', () => '{}'],
    ['tools/list', listTools],
    ['resources/list', () => '{"resources":[]}'],
    ['prompts/list', () => '{"prompts":[]}'],
    [paidMethod, call],
  ]);
}

/** A tool as `tools/list` shows it. */
export function listedDefinition({
  run: _,
  examples: __,
  ...definition
}: Tool): Omit<Tool, 'run' | 'examples'> {
  return definition;
}

/** A result as JSON. It contains the data twice, but serializes it once. */
function serializeResult({ content, structuredContent, isError }: CallResult, lead = ''): string {
  const [{ text }] = content;
  const data = structuredContent ? `,"structuredContent":${text}` : '';
  return `{${lead}"content":[{"type":"text","text":${JSON.stringify(text)}}]${data}${isError ? ',"isError":true' : ''}}`;
}
