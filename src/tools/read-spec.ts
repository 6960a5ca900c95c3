import { inputError, pass, type Result, refuse, reject } from 'market-mcp-contract/command';
import { readDocument } from 'market-mcp-contract/document';
import { isObject, type Json, limits } from 'market-mcp-contract/json';
import type { SpecEntry } from '../model/tool-model.ts';

/**
 * Parses a spec file, JSON or YAML: a ToolSpec or a plain MCP tool definition, one, a list, `{tools: […]}`, or a whole
 * JSON-RPC answer to `tools/list`. `prepare` checks the tools themselves, all at once.
 *
 * @param file name of the file, for the errors
 * @returns the tools in order, or every error of the document
 */
export function readSpec(text: string, file = '--spec'): Result<readonly SpecEntry[]> {
  const document = readDocument(text, file, { exact: true });
  if (!document.ok) return document;
  return readEntries(document.value, file);
}

/** Finds the list of tools in any of the supported shapes. */
function readEntries(document: Json, file: string): Result<readonly SpecEntry[]> {
  if (isObject(document) && isObject(document.result)) return readEntries(document.result, `${file}.result`);
  if (isObject(document) && isObject(document.error) && 'jsonrpc' in document) {
    const hint = 'Request tools/list again.';
    return reject(file, document.error, 'is an error of the server, not a list of tools', hint);
  }
  const path = isObject(document) && 'tools' in document ? `${file}.tools` : file;
  const list = isObject(document) && 'tools' in document ? document.tools : document;
  const hasMorePages = isObject(document) && typeof document.nextCursor === 'string' && path !== file;
  if (hasMorePages) {
    const hint = 'Request the pages with this cursor, and put all tools into one list.';
    return reject(`${file}.nextCursor`, document.nextCursor, 'the list has more pages', hint);
  }
  const tools = (Array.isArray(list) ? list : [list]) as readonly Json[];
  if (tools.length === 0) return reject(path, list, 'contains no tool', 'Write at least one tool.');
  if (tools.length > limits.tools) {
    const message = `has ${tools.length} tools; at most ${limits.tools} are allowed`;
    return reject(path, undefined, message, 'Split it into several files.');
  }
  const hint = 'Write an object with name, description, input and output.';
  const errors = tools.flatMap((tool, i) => {
    const at = Array.isArray(list) ? `${path}[${i}]` : path;
    if (isObject(tool)) return [];
    return [inputError(at, tool, 'is not a tool', hint)];
  });
  if (errors.length > 0) return refuse(...errors);
  return pass(tools.filter(isObject));
}
