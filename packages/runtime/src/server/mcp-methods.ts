// The methods of MCP except `tools/call`, and the supported versions with sessions.

import type { Tool } from './define-tool.ts';
import { ErrorCode, type McpMethod, RpcError } from './json-rpc.ts';
import type { Log } from './log.ts';
import type { RunningCalls } from './running-calls.ts';
import { type CompiledTool, compileTool, isObject } from './schema.ts';
import { type CallMethodOptions, createCallMethod, paidMethod } from './tools-call.ts';

/** Whether a value names a program, as `clientInfo` does. */
export function isImplementation(value: unknown): boolean {
  return isObject(value) && typeof value.name === 'string' && typeof value.version === 'string';
}

/** Supported versions of MCP, newest first. The oldest that platforms send is 2024-11-05 (C§9.1). */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** The identity in `initialize` and `/health` (C§2.3, C§2.4). */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

export interface MethodOptions extends ServerInfo, CallMethodOptions {}

/** The methods of C§4.1. @throws Error if two tools have the same name or a schema does not compile */
export function createMethods(
  options: MethodOptions,
  tools: readonly Tool[],
  log: Log,
  runningCalls: RunningCalls,
): ReadonlyMap<string, McpMethod> {
  const { name, version } = options;
  const byName = new Map<string, CompiledTool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`Two tools are named ${tool.name}.`);
    byName.set(tool.name, compileTool(tool));
  }
  const list = JSON.stringify({ tools: tools.map(listedDefinition) }).slice(1);
  const listTools: McpMethod = ({ cursor }, _context, leadingMembers = '') => {
    // All tools are on one page, so no cursor has been issued.
    if (typeof cursor === 'string') throw new RpcError(ErrorCode.InvalidParams, 'Unknown cursor');
    return `{${leadingMembers}${list}`;
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

  return new Map<string, McpMethod>([
    ['initialize', initialize],
    ['ping', () => '{}'],
    ['tools/list', listTools],
    ['resources/list', () => '{"resources":[]}'],
    ['prompts/list', () => '{"prompts":[]}'],
    [paidMethod, createCallMethod(options, byName, log, runningCalls)],
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
