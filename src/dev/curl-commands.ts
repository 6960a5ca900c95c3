import { posixCommands, posixLine } from 'market-mcp-contract/command';
import type { JsonObject } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';

/** A tool call to print as shell commands. */
export interface CurlCall {
  /** Endpoint URL. */
  readonly url: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly token: string;
}

/** Shell commands that open a session and call a tool in it, for any POSIX shell. */
export function curlCommands(
  { url, tool, arguments: args, token }: CurlCall,
  { header, scheme }: Pick<PlatformProfile['token'], 'header' | 'scheme'>,
): string {
  const post = posixLine(['curl', '-sS', url, '-H', 'content-type: application/json']);
  const initialize = message('initialize', {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'curl', version: '1' },
  });
  const call = message('tools/call', { name: tool, arguments: args });
  return posixCommands([
    `TOKEN=${posixLine([token])}`,
    `SESSION=$(${post} -o /dev/null -D - ${posixLine(['-d', initialize])} | tr -d '\\r' | awk 'tolower($1) == "mcp-session-id:" { print $2 }')`,
    `${post} -H "mcp-session-id: $SESSION" ${posixLine(['-H', `${header}: ${scheme} `])}"$TOKEN" ${posixLine(['-d', call])}`,
  ]);
}

function message(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}
