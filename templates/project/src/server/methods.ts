import type { ToolDefinition } from '../../contract/model.ts';
import { isObject } from '../../contract/schema.ts';
import { type Incident, runCall } from './call.ts';
import { type CompiledTool, compileTool } from './compile.ts';
import type { Tool } from './define-tool.ts';
import type { Gate } from './gate.ts';
import type { Log } from './log.ts';
import { ErrorCode, protocolVersions } from './protocol.ts';
import type { CallResult } from './result.ts';
import { type Method, RpcError } from './rpc.ts';

/** The method whose requests are paid for (C§5.3). */
export const paidMethod = 'tools/call';

/** Name and version, as `initialize` and `/health` tell them (C§2.3, C§2.4). */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** What the methods work with. */
export interface Service {
  readonly info: ServerInfo;
  readonly tools: readonly Tool[];
  readonly gate: Gate;
  /** Deadline of a call, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/** Whether `MCP-Protocol-Version` names a version that this server speaks. */
export function isSupportedVersion(version: string): boolean {
  return protocolVersions.some((supported) => supported === version);
}

/**
 * The methods of C§4.1. The calling method asks the gate itself, whoever asked it before.
 *
 * @throws Error where two tools have one name or a schema does not compile.
 */
export function createMethods({ info, tools, gate, timeoutMs, log }: Service): ReadonlyMap<string, Method> {
  const byName = new Map<string, CompiledTool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`Two tools are named ${tool.name}.`);
    byName.set(tool.name, compileTool(tool));
  }
  const list = JSON.stringify({ tools: tools.map(definitionOf) });
  const limits = { timeoutMs, report: (incident: Incident) => log('incident', { ...incident }) };

  const initialize: Method = ({ protocolVersion: version, capabilities, clientInfo }) => {
    const client = isObject(clientInfo) ? clientInfo : {};
    const complete = typeof client.name === 'string' && typeof client.version === 'string';
    if (typeof version !== 'string' || !isObject(capabilities) || !complete) {
      throw new RpcError(ErrorCode.InvalidParams, 'Invalid params of initialize');
    }
    const protocolVersion = isSupportedVersion(version) ? version : protocolVersions[0];
    return JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: info });
  };

  const call: Method = async ({ name, arguments: args = {} }, caller) => {
    if (!(await gate(caller.headers))) throw new RpcError(ErrorCode.Unauthorized, 'Unauthorized');
    if (typeof name !== 'string') {
      throw new RpcError(ErrorCode.InvalidParams, 'params.name: expected the name of a tool');
    }
    const compiled = byName.get(name);
    if (!compiled) {
      log('call', { tool: printable(name), ms: 0, outcome: 'unknown-tool' });
      return JSON.stringify(unknownTool(name));
    }
    const started = performance.now();
    const { result, ending } = await runCall(compiled, args, caller, limits);
    const ms = Math.round((performance.now() - started) * 10) / 10;
    log('call', { tool: name, ms, outcome: ending });
    return JSON.stringify(result);
  };

  return new Map<string, Method>([
    ['initialize', initialize],
    ['ping', () => '{}'],
    ['tools/list', () => list],
    ['resources/list', () => '{"resources":[]}'],
    ['prompts/list', () => '{"prompts":[]}'],
    [paidMethod, call],
  ]);
}

function definitionOf({ name, description, inputSchema, outputSchema, _meta }: Tool): ToolDefinition {
  return { name, description, inputSchema, outputSchema, ...(_meta && { _meta }) };
}

function unknownTool(name: string): CallResult {
  const text = `Unknown tool: ${printable(name)}. tools/list names the tools there are.`;
  return { content: [{ type: 'text', text }], isError: true };
}

/** A name from outside, safe to show: 100 characters at most, none of them a control character. */
function printable(name: string): string {
  return name.slice(0, 100).replace(/\p{C}/gu, '\uFFFD');
}
