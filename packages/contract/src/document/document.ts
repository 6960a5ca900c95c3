import { CORE_SCHEMA, defineScalarTag, intCoreTag, load, Schema, YAMLException } from 'js-yaml';
import { reject } from '../command/input-error.ts';
import type { Result } from '../command/input-result.ts';
import { type DocumentLimits, limits } from '../json/limits.ts';
import { readJson } from '../json/read-json.ts';
import type { Json } from '../json/value.ts';
import { jsonValue, roundedHint } from './json-value.ts';

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
 * @param exact as for `readDocument`; `text`: such an integer becomes a text of its digits
 */
export function readYaml(
  text: string,
  file: string,
  limits: DocumentLimits,
  exact: boolean | 'text' = false,
): Result<Json> {
  if (text.length > limits.yamlCharacters) {
    const message = `the file has ${text.length} characters; at most ${limits.yamlCharacters} are allowed in YAML`;
    return reject(file, undefined, message, 'Split it into several files, or write JSON.');
  }
  try {
    const { aliases: maxAliases, depth: maxDepth } = limits;
    const value = load(text, { schema: exact ? exactSchema : CORE_SCHEMA, maxAliases, maxDepth });
    return jsonValue(value, file, limits, exact === 'text');
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
  resolve(source, ...rest) {
    const value = intCoreTag.resolve(source, ...rest);
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    return BigInt(source.replace(/^\+/, ''));
  },
});
const exactSchema = new Schema(CORE_SCHEMA.tags.map((tag) => (tag === intCoreTag ? exactInteger : tag)));
