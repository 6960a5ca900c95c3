// Requests to an MCP server without sessions (2026-07-28).

import { metaKey, mirroredArguments, modernVersion } from '../server/modern.ts';

/** A request of MCP 2026-07-28, and the headers that repeat parts of it. */
export interface StatelessCall {
  readonly params: object;
  readonly headers: { readonly [name: string]: string };
}

/**
 * A `tools/call` for a server that has no sessions.
 *
 * @param inputSchema names the arguments that headers repeat (`x-mcp-header`)
 */
export function statelessCall(tool: string, args: object, inputSchema: object | undefined): StatelessCall {
  const repeated = mirroredArguments(inputSchema, args).flatMap(({ header, value }) => {
    if (value === undefined || value === null) return [];
    return [[header, encodeHeaderText(String(value))] as const];
  });
  const _meta = {
    [metaKey('protocolVersion')]: modernVersion,
    [metaKey('clientInfo')]: { name: 'mcp-source', version: '1' },
    [metaKey('clientCapabilities')]: {},
  };
  return {
    params: { name: tool, arguments: args, _meta },
    headers: {
      'mcp-protocol-version': modernVersion,
      'mcp-method': 'tools/call',
      'mcp-name': encodeHeaderText(tool),
      ...Object.fromEntries(repeated),
    },
  };
}

/** A text as the value of a header: in base64 if it is not a valid value, or could be read as base64. */
function encodeHeaderText(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  if (isPlain) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
