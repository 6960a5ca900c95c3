import { type InputError, inputError } from 'market-mcp-contract/command';
import {
  isObject,
  type Json,
  type JsonObject,
  listed,
  named,
  shorten,
  single,
} from 'market-mcp-contract/json';
import type { DefinitionChange } from '../model/model.ts';

/** Records the changes to one tool, and the errors that cannot be fixed. */
export class Fixes {
  readonly changes: DefinitionChange[] = [];
  readonly errors: InputError[] = [];
  readonly #tool: string;
  readonly #where: string;

  /** @param where path of the definition, for the errors: `tools[0]` */
  constructor(tool: string, where: string) {
    this.#tool = tool;
    this.#where = where;
  }

  change(path: string, what: string, why: string): void {
    this.changes.push({ tool: this.#tool, path, what, why });
  }

  /** Records that a part was left out, if it exists. */
  leaveOut(path: string, value: Json | undefined, why: string): void {
    if (value !== undefined) this.change(path, `${shorten(value)} was left out`, why);
  }

  error(path: string, value: unknown, message: string, hint: string): void {
    this.errors.push(inputError(`${this.#where}.${path}`, value, message, hint));
  }

  /** Whether an error was found at a path or below it. */
  hasErrorIn(path: string): boolean {
    const root = `${this.#where}.${path}`;
    return this.errors.some(({ where }) => where === root || where.startsWith(`${root}.`));
  }

  /** Removes a keyword and records it. */
  without(schema: JsonObject, keyword: string, path: string, why: string): JsonObject {
    if (schema[keyword] === undefined) return schema;
    const { [keyword]: value, ...rest } = schema;
    this.change(`${path}.${keyword}`, `${shorten(value)} was removed`, why);
    return rest;
  }

  /** Sets a keyword and records it; the order of the others stays. */
  set(schema: JsonObject, keyword: string, value: Json, path: string, why: string): JsonObject {
    const before = schema[keyword];
    const what =
      before === undefined ? `${shorten(value)} was added` : `${shorten(before)} became ${shorten(value)}`;
    this.change(`${path}.${keyword}`, what, why);
    return { ...schema, [keyword]: value };
  }
}

/** A path in the form of our messages: `outputSchema.anyOf[0]`. */
function dotted(path: string, key: string | number): string {
  return typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
}

/** Rewrites a schema and then all schemas inside it. `below` makes the path of a member. */
export function rewrite(
  schema: JsonObject,
  path: string,
  change: (schema: JsonObject, path: string) => JsonObject,
  below: typeof dotted = dotted,
): JsonObject {
  const inside = (value: Json, at: string) => (isObject(value) ? rewrite(value, at, change, below) : value);
  const changed = Object.entries(change(schema, path)).map(([keyword, value]): [string, Json] => {
    const at = below(path, keyword);
    if (Array.isArray(value) && listed.includes(keyword)) {
      return [keyword, (value as readonly Json[]).map((member, i) => inside(member, below(at, i)))];
    }
    if (isObject(value) && named.includes(keyword)) {
      const members = Object.entries(value).map(([name, member]) => [name, inside(member, below(at, name))]);
      return [keyword, Object.fromEntries(members)];
    }
    return [keyword, single.includes(keyword) ? inside(value, at) : value];
  });
  return Object.fromEntries(changed);
}
