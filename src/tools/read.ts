import { CORE_SCHEMA, defineScalarTag, intCoreTag, load, Schema, YAMLException } from 'js-yaml';
import { isObject } from '../contract/json.ts';
import type { Json } from '../contract/model.ts';
import { inputError, pass, refuse, reject } from '../model/input-error.ts';
import { type Limits, limits } from '../model/limits.ts';
import type { Result, SpecEntry } from '../model/model.ts';
import { jsonValue, roundedHint } from './json-value.ts';
import { readJson } from './read-json.ts';

/**
 * Parses a spec file, JSON or YAML: a ToolSpec or a plain MCP tool definition, one, a list, `{tools: […]}`, or a whole
 * JSON-RPC answer to `tools/list`. `prepare` judges the tools themselves, all at once.
 *
 * @param file name of the file, for the errors
 * @returns the tools in order, or every error of the document
 */
export function readSpec(text: string, file = '--spec'): Result<readonly SpecEntry[]> {
  const document = readDocument(text, file, { exact: true });
  if (!document.ok) return document;
  return entriesOf(document.value, file);
}

/**
 * Any JSON value from JSON or YAML text, without repeated keys, within the limits; or every error with its place.
 *
 * @param exact an integer that a JavaScript number cannot represent is an error; otherwise it is rounded, as `JSON.parse`
 *   does
 * @param notJson the result for a text that is not JSON, instead of reading it as YAML
 */
export function readDocument(
  text: string,
  file: string,
  {
    exact = false,
    notJson,
  }: { readonly exact?: boolean; readonly notJson?: (flaw: string) => Result<Json> } = {},
): Result<Json> {
  if (text.length > limits.characters) {
    const message = `the file has ${text.length} characters; at most ${limits.characters} are allowed`;
    return reject(file, undefined, message, 'Split it into several files.');
  }
  const json = readJson(text, { exact });
  if (json.ok) return jsonValue(json.value, file, limits);
  if (json.kind !== 'syntax') {
    const hint = json.kind === 'key' ? 'Write each key only once.' : roundedHint;
    return reject(`${file}:${json.at}`, undefined, json.flaw, hint);
  }
  if (notJson) return notJson(json.flaw);
  if (file.endsWith('.json')) return reject(file, undefined, json.flaw, 'Write valid JSON.');
  return readYaml(text, file, limits, exact);
}

/**
 * Any JSON value from YAML text, within the limits also after its aliases are replaced; or every error with its place.
 *
 * @param exact as for `readDocument`
 */
export function readYaml(text: string, file: string, most: Limits, exact = false): Result<Json> {
  if (text.length > most.yamlCharacters) {
    const message = `the file has ${text.length} characters; at most ${most.yamlCharacters} are allowed in YAML`;
    return reject(file, undefined, message, 'Split it into several files, or write JSON.');
  }
  try {
    const { aliases: maxAliases, depth: maxDepth } = most;
    const value = load(text, { schema: exact ? exactSchema : CORE_SCHEMA, maxAliases, maxDepth });
    return jsonValue(value, file, most);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    const at = mark ? `${file}:${mark.line + 1}:${mark.column + 1}` : file;
    return reject(at, undefined, reason, 'Write valid JSON or YAML, each key once.');
  }
}

/** Integers that a JavaScript number cannot represent become a `bigint`, so they are not rounded silently. */
const exactInteger = defineScalarTag<number | bigint>(intCoreTag.tagName, {
  ...intCoreTag,
  resolve(source, ...more) {
    const value = intCoreTag.resolve(source, ...more);
    return typeof value !== 'number' || Number.isSafeInteger(value)
      ? value
      : BigInt(source.replace(/^\+/, ''));
  },
});
const exactSchema = new Schema(CORE_SCHEMA.tags.map((tag) => (tag === intCoreTag ? exactInteger : tag)));

/** Finds the list of tools in any of the supported shapes. */
function entriesOf(document: Json, file: string): Result<readonly SpecEntry[]> {
  if (isObject(document) && isObject(document.result)) return entriesOf(document.result, `${file}.result`);
  if (isObject(document) && isObject(document.error) && 'jsonrpc' in document) {
    const hint = 'Request tools/list again.';
    return reject(file, document.error, 'is an error of the server, not a list of tools', hint);
  }
  const path = isObject(document) && 'tools' in document ? `${file}.tools` : file;
  const list = isObject(document) && 'tools' in document ? document.tools : document;
  const more = isObject(document) && typeof document.nextCursor === 'string' && path !== file;
  if (more) {
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
    return isObject(tool) ? [] : [inputError(at, tool, 'is not a tool', hint)];
  });
  return errors.length > 0 ? refuse(...errors) : pass(tools.filter(isObject));
}
