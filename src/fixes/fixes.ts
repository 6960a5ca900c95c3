import { type InputError, inputError, spellingHint } from 'market-mcp-contract/command';
import {
  isObject,
  type Json,
  type JsonObject,
  listed,
  mapsOfSchemas,
  membersOf,
  shorten,
  single,
} from 'market-mcp-contract/json';
import type { DefinitionChange } from '../model/tool-model.ts';

/** Records the changes to one tool, and the errors that cannot be fixed. */
export class Fixes {
  readonly changes: DefinitionChange[] = [];
  readonly errors: InputError[] = [];
  readonly #tool: string;
  readonly #location: string;

  /** @param location path of the definition, for the errors: `tools[0]` */
  constructor(tool: string, location: string) {
    this.#tool = tool;
    this.#location = location;
  }

  change(path: string, changeText: string, reason: string): void {
    this.changes.push({ tool: this.#tool, path, what: changeText, why: reason });
  }

  /** Records that a member was dropped, if it exists. */
  drop(path: string, value: Json | undefined, reason: string): void {
    if (value !== undefined) this.change(path, `${shorten(value)} was dropped`, reason);
  }

  error(path: string, value: unknown, message: string, hint: string): void {
    this.errors.push(inputError(`${this.#location}.${path}`, value, message, hint));
  }

  /** Whether an error was found at a path or below it. */
  hasErrorIn(path: string): boolean {
    const root = `${this.#location}.${path}`;
    return this.errors.some(({ where: location }) => location === root || location.startsWith(`${root}.`));
  }

  /** Removes a keyword and records it. */
  without(schema: JsonObject, keyword: string, path: string, reason: string): JsonObject {
    if (schema[keyword] === undefined) return schema;
    const { [keyword]: value, ...rest } = schema;
    this.change(`${path}.${keyword}`, `${shorten(value)} was removed`, reason);
    return rest;
  }

  /** Sets a keyword and records it; the order of the others stays. */
  set(schema: JsonObject, keyword: string, value: Json, path: string, reason: string): JsonObject {
    const before = schema[keyword];
    const change =
      before === undefined ? `${shorten(value)} was added` : `${shorten(before)} became ${shorten(value)}`;
    this.change(`${path}.${keyword}`, change, reason);
    return { ...schema, [keyword]: value };
  }
}

/** A path in the form of our messages: `outputSchema.anyOf[0]`. */
function dotted(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return `${path}.${key}`;
}

/** Rewrites a schema and then all schemas inside it. `below` makes the path of a member. */
export function rewrite(
  schema: JsonObject,
  path: string,
  change: (schema: JsonObject, path: string) => JsonObject,
  childPath: typeof dotted = dotted,
): JsonObject {
  const rewriteChild = (value: Json, at: string) =>
    isObject(value) ? rewrite(value, at, change, childPath) : value;
  const changed = Object.entries(change(schema, path)).map(([keyword, value]): [string, Json] => {
    const at = childPath(path, keyword);
    if (Array.isArray(value) && listed.includes(keyword)) {
      return [keyword, (value as readonly Json[]).map((member, i) => rewriteChild(member, childPath(at, i)))];
    }
    if (isObject(value) && mapsOfSchemas.includes(keyword)) {
      const members = Object.entries(value).map(([name, member]) => [
        name,
        rewriteChild(member, childPath(at, name)),
      ]);
      return [keyword, Object.fromEntries(members)];
    }
    return [keyword, single.includes(keyword) ? rewriteChild(value, at) : value];
  });
  return Object.fromEntries(changed);
}

/** Gives the root of either schema type object, `properties`, and a `required` that names only those (C§2.1). */
export function fixRoot(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const steps = [withObjectType, withProperties, withRequired];
  const fixed = steps.reduce((root, step) => step(root, path, fixes), schema);
  const names = Object.keys(membersOf(fixed));
  if (names.includes('__proto__')) {
    const message = '__proto__ cannot be a key of an object';
    fixes.error(`${path}.properties.__proto__`, undefined, message, 'Rename it.');
  }
  for (const name of Array.isArray(fixed.required) ? (fixed.required as readonly unknown[]) : []) {
    if (typeof name === 'string' && names.includes(name)) continue;
    const hint = spellingHint(String(name), names, 'Declare it in properties, or remove it from required.');
    fixes.error(`${path}.required`, name, 'is not declared in properties', hint);
  }
  return fixed;
}

const mustBeObject = 'the root must be exactly "object" (C§2.1)';

function withObjectType(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  if (schema.type === 'object') return schema;
  const types = [schema.type ?? 'object'].flat();
  if (types.includes('object')) {
    return fixes.set(schema, 'type', 'object', path, mustBeObject);
  }
  const hint =
    schema.type === 'array'
      ? 'Put the list into a property: { "type": "object", "properties": { "items": … } }.'
      : 'Put the value into a property of an object.';
  fixes.error(`${path}.type`, schema.type, mustBeObject, hint);
  return schema;
}

function withProperties(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  if (isObject(schema.properties)) return schema;
  if (schema.properties === undefined)
    return fixes.set(schema, 'properties', {}, path, 'it is required (C§2.1)');
  fixes.error(`${path}.properties`, schema.properties, 'is not an object', 'Write {} if there are none.');
  return schema;
}

function withRequired(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const reason = 'it must be a list of names, empty if there are none (C§2.1)';
  if (schema.required === undefined || typeof schema.required === 'boolean') {
    return fixes.set(schema, 'required', [], path, reason);
  }
  if (!Array.isArray(schema.required)) {
    const hint = 'Write [] if nothing is required.';
    fixes.error(`${path}.required`, schema.required, 'is not a list of names', hint);
    return schema;
  }
  const distinctNames = [...new Set(schema.required)];
  if (distinctNames.length === schema.required.length) return schema;
  return fixes.set(schema, 'required', distinctNames, path, reason);
}
