import { CORE_SCHEMA, defineScalarTag, intCoreTag, load, Schema, YAMLException } from 'js-yaml';
import { isObject } from '../contract/json.ts';
import type { Json } from '../contract/model.ts';
import { inputError, pass, refuse } from '../model/input-error.ts';
import { limits } from '../model/limits.ts';
import type { InputError, Result, SpecEntry } from '../model/model.ts';
import { integerFlaw, readJson } from './read-json.ts';

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
 */
export function readDocument(
  text: string,
  file: string,
  { exact = false }: { readonly exact?: boolean } = {},
): Result<Json> {
  if (text.length > limits.characters) {
    return refuse(
      inputError(
        file,
        undefined,
        `the file has ${text.length} characters; at most ${limits.characters} are allowed`,
        'Split it into several files.',
      ),
    );
  }
  const json = readJson(text, { exact });
  if (json.ok) return jsonValue(json.value, file);
  if (json.kind !== 'syntax') {
    const hint = json.kind === 'key' ? 'Write each key only once.' : roundedHint;
    return refuse(inputError(`${file}:${json.at}`, undefined, json.flaw, hint));
  }
  if (file.endsWith('.json')) return refuse(inputError(file, undefined, json.flaw, 'Write valid JSON.'));
  return readYaml(text, file, exact);
}

const roundedHint = 'Write a number within ±9007199254740991, or a string.';

function readYaml(text: string, file: string, exact: boolean): Result<Json> {
  if (text.length > limits.yamlCharacters) {
    const message = `the file has ${text.length} characters; at most ${limits.yamlCharacters} are allowed in YAML`;
    return refuse(inputError(file, undefined, message, 'Split it into several files, or write JSON.'));
  }
  try {
    const { aliases: maxAliases, depth: maxDepth } = limits;
    return jsonValue(load(text, { schema: exact ? exactSchema : CORE_SCHEMA, maxAliases, maxDepth }), file);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    const at = mark ? `${file}:${mark.line + 1}:${mark.column + 1}` : file;
    return refuse(inputError(at, undefined, reason, 'Write valid JSON or YAML, each key once.'));
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

function jsonValue(value: unknown, file: string): Result<Json> {
  const errors: InputError[] = [];
  const json = toJson(value, { path: file, depth: 0, errors, count: { values: 0 } });
  return errors.length > 0 ? refuse(...errors) : pass(json);
}

function tooDeep(where: string): InputError {
  return inputError(where, undefined, `is nested deeper than ${limits.depth} levels`, 'Reduce the nesting.');
}

interface Walk {
  readonly path: string;
  readonly depth: number;
  readonly errors: InputError[];
  readonly count: { values: number };
}

/** A copy that is plain JSON: a tree within the limits, with finite numbers and no lone surrogates. */
function toJson(value: unknown, walk: Walk): Json {
  const { path, depth, errors, count } = walk;
  const stop = (problem: InputError): Json => {
    if (errors.length < 100) errors.push(problem);
    return null;
  };
  count.values += 1;
  if (count.values > limits.values) {
    return errors.length > 0
      ? null
      : stop(
          inputError(
            path,
            undefined,
            `contains more than ${limits.values} values`,
            'Split it into several files.',
          ),
        );
  }
  if (depth > limits.depth) return stop(tooDeep(path));
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') {
    const flaw = integerFlaw(String(value));
    return flaw === undefined ? Number(value) : stop(inputError(path, undefined, flaw, roundedHint));
  }
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? value
      : stop(inputError(path, String(value), 'is not a JSON number', 'Write digits.'));
  }
  if (typeof value === 'string') {
    return /\p{Cs}/u.test(value)
      ? stop(
          inputError(
            path,
            value,
            'contains an incomplete character (a lone surrogate)',
            'Remove it, or write the whole character.',
          ),
        )
      : value;
  }
  if (Array.isArray(value)) {
    return value.map((item, i) => toJson(item, { ...walk, path: `${path}[${i}]`, depth: depth + 1 }));
  }
  if (!isPlain(value))
    return stop(inputError(path, String(value), 'is not a JSON value', 'Write plain JSON or YAML.'));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const at = `${path}.${key}`;
      if (key === '__proto__')
        stop(inputError(at, key, '__proto__ cannot be a key of an object', 'Use another name.'));
      return [key, toJson(member, { ...walk, path: at, depth: depth + 1 })];
    }),
  );
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

/** Finds the list of tools in any of the supported shapes. */
function entriesOf(document: Json, file: string): Result<readonly SpecEntry[]> {
  if (isObject(document) && isObject(document.result)) return entriesOf(document.result, `${file}.result`);
  if (isObject(document) && isObject(document.error) && 'jsonrpc' in document) {
    return refuse(
      inputError(
        file,
        document.error,
        'is an error of the server, not a list of tools',
        'Request tools/list again.',
      ),
    );
  }
  const path = isObject(document) && 'tools' in document ? `${file}.tools` : file;
  const list = isObject(document) && 'tools' in document ? document.tools : document;
  const more = isObject(document) && typeof document.nextCursor === 'string' && path !== file;
  if (more) {
    return refuse(
      inputError(
        `${file}.nextCursor`,
        document.nextCursor,
        'the list has more pages',
        'Request the pages with this cursor, and put all tools into one list.',
      ),
    );
  }
  const tools = (Array.isArray(list) ? list : [list]) as readonly Json[];
  if (tools.length === 0)
    return refuse(inputError(path, list, 'contains no tool', 'Write at least one tool.'));
  if (tools.length > limits.tools) {
    return refuse(
      inputError(
        path,
        undefined,
        `has ${tools.length} tools; at most ${limits.tools} are allowed`,
        'Split it into several files.',
      ),
    );
  }
  const errors = tools.flatMap((tool, i) =>
    isObject(tool)
      ? []
      : [
          inputError(
            Array.isArray(list) ? `${path}[${i}]` : path,
            tool,
            'is not a tool',
            'Write an object with name, description, input and output.',
          ),
        ],
  );
  return errors.length > 0 ? refuse(...errors) : pass(tools.filter(isObject));
}
