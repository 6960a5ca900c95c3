import { type CallResult, createTurns, type Incident, runCall } from './call.ts';
import type { Tool } from './define-tool.ts';
import type { Log } from './log.ts';
import { ErrorCode, type Method, RpcError } from './rpc.ts';
import { type CompiledTool, compileTool, isObject } from './schema.ts';

/** The versions of MCP that the server speaks, newest first. The oldest that platforms send is 2024-11-05 (C§9.1). */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** The method whose requests are paid for (C§5.3). */
export const paidMethod = 'tools/call';

/** Name and version, as `initialize` and `/health` give them (C§2.3, C§2.4). */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

export interface MethodOptions extends ServerInfo {
  /** Deadline of a call, in milliseconds. */
  readonly callTimeoutMs: number;
}

/**
 * The methods of C§4.1. Whoever runs `paidMethod` has authenticated the request before.
 *
 * @throws Error where two tools have one name or a schema does not compile.
 */
export function createMethods(
  { name, version, callTimeoutMs: timeoutMs }: MethodOptions,
  tools: readonly Tool[],
  log: Log,
): ReadonlyMap<string, Method> {
  const byName = new Map<string, CompiledTool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`Two tools are named ${tool.name}.`);
    byName.set(tool.name, compileTool(tool));
  }
  const list = JSON.stringify({ tools: tools.map(({ run: _, examples: __, ...definition }) => definition) });
  const turns = createTurns();
  const report = (incident: Incident) => log('incident', incident);

  const initialize: Method = ({ protocolVersion: asked, capabilities, clientInfo }) => {
    const client = isObject(clientInfo) ? clientInfo : {};
    const complete = typeof client.name === 'string' && typeof client.version === 'string';
    if (typeof asked !== 'string' || !isObject(capabilities) || !complete) {
      throw new RpcError(ErrorCode.InvalidParams, 'Invalid params of initialize');
    }
    const protocolVersion = protocolVersions.includes(asked) ? asked : protocolVersions[0];
    return JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version } });
  };

  const call: Method = async ({ name, arguments: args = {} }, onGone) => {
    if (typeof name !== 'string') {
      throw new RpcError(ErrorCode.InvalidParams, 'params.name: expected the name of a tool');
    }
    const compiled = byName.get(name);
    if (!compiled) {
      const shown = name.slice(0, 100).replace(/\p{C}/gu, '\uFFFD');
      log('call', { tool: shown, ms: 0, outcome: 'unknown-tool' });
      const text = `Unknown tool: ${shown}. tools/list names the tools there are.`;
      return textOf({ content: [{ type: 'text', text }], isError: true });
    }
    const started = performance.now();
    const { result, ending } = await runCall(compiled, args, { onGone, timeoutMs, report, turns });
    const ms = Math.round((performance.now() - started) * 10) / 10;
    log('call', { tool: name, ms, outcome: ending });
    return textOf(result);
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

/** A result as JSON. Its data is in it twice, and is serialized once. */
function textOf({ content, structuredContent, isError }: CallResult): string {
  const [{ text }] = content;
  const data = structuredContent ? `,"structuredContent":${text}` : '';
  return `{"content":${JSON.stringify(content)}${data}${isError ? ',"isError":true' : ''}}`;
}
