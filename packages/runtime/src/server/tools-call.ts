// The method `tools/call`, with the log line `call`.

import type { CallResult } from './call-result.ts';
import { ErrorCode, type McpMethod, type RequestContext, RpcError } from './json-rpc.ts';
import { createLargeWorkQueue } from './large-work-queue.ts';
import {
  type AnswerDrift,
  createThrottledLog,
  drifts,
  type FailureLine,
  type Incident,
  type Log,
  toolError,
  unknownName,
} from './log.ts';
import { runCall } from './run-call.ts';
import type { RunningCalls } from './running-calls.ts';
import { type CompiledTool, isObject } from './schema.ts';

/** The method whose requests are paid (C§5.3). */
export const paidMethod = 'tools/call';

/** Whether a body contains a call, as a single request or in a batch of any depth. */
export function holdsPaidMethod(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(holdsPaidMethod);
  return isObject(body) && body.method === paidMethod;
}

export interface CallMethodOptions {
  /** Deadline of a call in milliseconds. */
  readonly callTimeoutMs: number;
  readonly production: boolean;
}

/** Returns the method `tools/call`: it runs a tool, writes the log line `call`, and serializes the result. */
export function createCallMethod(
  { callTimeoutMs: timeoutMs, production }: CallMethodOptions,
  compiledTools: ReadonlyMap<string, CompiledTool>,
  log: Log,
  { onStop }: RunningCalls,
): McpMethod {
  const onIncident = (incident: Incident) => log('incident', incident);
  const onFailure = (line: FailureLine) => log('failure', line);
  const takeLargeWorkTurn = createLargeWorkQueue();
  const keepsFoundStack = !production;
  const fillsMissing = production;
  const missingReporterOf = createMissingReporters(log);

  return async ({ name, arguments: args = {} }, context, leadingMembers) => {
    if (typeof name !== 'string') {
      throw new RpcError(ErrorCode.InvalidParams, 'params.name: expected the name of a tool');
    }
    const compiledTool = compiledTools.get(name);
    if (!compiledTool) return serializeResult(callUnknownTool(name, context, log), leadingMembers);
    const startedAt = performance.now();
    const { requestId, traceparent, onDisconnect, memory, operation } = context;
    // Each member is named, because a spread of `context` takes 2 µs.
    const { result, outcome, code } = await runCall(compiledTool, args, {
      requestId,
      traceparent,
      onDisconnect,
      memory,
      operation,
      timeoutMs,
      onStop,
      takeLargeWorkTurn,
      keepsFoundStack,
      onIncident,
      onFailure,
      fillsMissing,
      onMissing: missingReporterOf(name),
    });
    const errorType = result.isError ? toolError : undefined;
    operation?.setResult({ tool: name, outcome, errorType, code });
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    // Instead of the outcome `error`, the log has its code.
    const loggedOutcome = outcome === 'error' ? code : outcome;
    log('call', { tool: name, ms, outcome: loggedOutcome, code, request: requestId, traceparent });
    return serializeResult(result, leadingMembers);
  };
}

/** The result of a call to a tool that the server does not have, after it was logged. */
function callUnknownTool(
  name: string,
  { requestId, traceparent, operation }: RequestContext,
  log: Log,
): CallResult {
  const shownName = name.slice(0, 100).replace(/\p{C}/gu, '\uFFFD');
  const code = 'UNKNOWN_TOOL';
  operation?.setResult({ tool: unknownName, outcome: 'error', errorType: toolError, code });
  log('call', { tool: shownName, ms: 0, outcome: code, code, request: requestId, traceparent });
  const text = `Unknown tool: ${shownName}. tools/list names all tools.`;
  return { content: [{ type: 'text', text }], isError: true };
}

/** Returns a function that creates, for a tool, the reporter of members that the tool left out. */
function createMissingReporters(log: Log): (tool: string) => (path: string) => void {
  const logMissing = createThrottledLog(log, 'output-drift', 60_000);
  return (tool) => (path) => {
    const hint = 'Return null for this member, or remove it from required in the outputSchema.';
    logMissing(`${tool} ${path}`, { tool, path, hint });
    if (drifts.hasSubscribers) drifts.publish({ tool, path } satisfies AnswerDrift);
  };
}

/** A result as JSON. It contains the data twice, but serializes it once. */
function serializeResult({ content, structuredContent, isError }: CallResult, leadingMembers = ''): string {
  const [{ text }] = content;
  const data = structuredContent ? `,"structuredContent":${text}` : '';
  return `{${leadingMembers}"content":[{"type":"text","text":${JSON.stringify(text)}}]${data}${isError ? ',"isError":true' : ''}}`;
}
