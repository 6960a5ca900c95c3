import { pass, reject } from '../command/input-error.ts';
import type { Result } from '../command/input-result.ts';
import { isObject, objectOr } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { isReadable } from '../json/walk.ts';
import { readDocument } from './document.ts';

/**
 * The tools of a recorded tool list: an array of tools, `{"tools": […]}`, or a whole JSON-RPC answer to tools/list.
 *
 * @param file names the text in errors
 */
export function readToolList(text: string, file: string): Result<readonly Json[]> {
  const document = readDocument(text, file);
  if (!document.ok) return document;
  const { tools, result } = objectOr(document.value);
  const list = [document.value, tools, objectOr(result).tools].find(Array.isArray);
  if (list) return pass(list);
  return reject(
    file,
    undefined,
    'contains no list of tools',
    'Correct or remove the file, then save the list again with --save-listing.',
  );
}

/** The readable tools of a list, by name. */
export function readableToolsByName(tools: readonly Json[]): ReadonlyMap<string, JsonObject> {
  const readableTools = new Map<string, JsonObject>();
  for (const tool of tools) {
    if (isObject(tool) && isReadable(tool) && typeof tool.name === 'string')
      readableTools.set(tool.name, tool);
  }
  return readableTools;
}
