import { type Document, parseDocument } from 'yaml';
import type { Json, JsonObject } from '../contract/model.ts';
import { isObject } from '../contract/schema.ts';
import { fault, pass, refuse, together } from './fault.ts';
import type { Fault, Result, SpecEntry } from './model.ts';
import { toolSpecOf } from './tool-spec.ts';

/** Limits that real tool lists stay far below and that keep hostile ones from hurting. */
const limits = { characters: 5_000_000, depth: 64, values: 500_000, aliases: 100, tools: 500 };

/**
 * Reads a spec file, JSON or YAML: a ToolSpec or a plain MCP tool definition, one, a list, `{tools: […]}`, or a whole
 * JSON-RPC answer to `tools/list`. A ToolSpec is checked in full; a definition is left to `mend`.
 *
 * @param file name of the file, for the faults
 * @returns the tools in their order, or every fault at once with its path
 */
export function readSpec(text: string, file = '--spec'): Result<readonly SpecEntry[]> {
  const document = readDocument(text, file);
  if (!document.ok) return document;
  const entries = entriesOf(document.value, file);
  if (!entries.ok) return entries;
  return together(entries.value.map(({ value, path }) => readEntry(value, path)));
}

/** Whether an entry is a plain MCP tool definition. */
export function isDefinition(entry: SpecEntry): entry is JsonObject {
  return 'inputSchema' in entry || 'outputSchema' in entry;
}

interface Entry {
  readonly value: Json;
  readonly path: string;
}

function readDocument(text: string, file: string): Result<Json> {
  if (text.length > limits.characters) {
    return refuse(
      fault(
        file,
        undefined,
        `${text.length} characters, ${limits.characters} at most`,
        'Split it into several.',
      ),
    );
  }
  if (deeperThan(text, limits.depth * 2)) return refuse(tooDeep(file));
  const document: Document = parseDocument(text, { uniqueKeys: true, prettyErrors: true });
  const flaws = [...document.errors, ...document.warnings];
  if (flaws.length > 0) {
    return refuse(
      ...flaws.map(({ message, linePos }) => {
        const [said = ''] = message.split('\n');
        const at = linePos ? `${file}:${linePos[0].line}:${linePos[0].col}` : file;
        return fault(
          at,
          undefined,
          said.replace(/ at line \d+.*$/, ''),
          'Write valid JSON or YAML, each key once.',
        );
      }),
    );
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: limits.aliases });
  } catch (error) {
    return refuse(fault(file, undefined, String(error), 'Write out what the aliases stand for.'));
  }
  const faults: Fault[] = [];
  const json = toJson(value, { path: file, depth: 0, faults, count: { values: 0 } });
  return faults.length > 0 ? refuse(...faults) : pass(json);
}

/** Whether brackets or compact block collections nest deeper than a limit; the parser itself recurses. */
function deeperThan(text: string, limit: number): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1));
    if (depth > limit * 8) return true;
  }
  return new RegExp(`(?:[-?:][ \\t]+){${limit}}`).test(text);
}

function tooDeep(where: string): Fault {
  return fault(where, undefined, `nests deeper than ${limits.depth} levels`, 'Write it flatter.');
}

interface Walk {
  readonly path: string;
  readonly depth: number;
  readonly faults: Fault[];
  readonly count: { values: number };
}

/** A copy that is JSON and nothing else: a tree, bounded, with finite numbers and whole characters. */
function toJson(value: unknown, walk: Walk): Json {
  const { path, depth, faults, count } = walk;
  const stop = (problem: Fault): Json => {
    if (faults.length < 100) faults.push(problem);
    return null;
  };
  count.values += 1;
  if (count.values > limits.values) {
    return faults.length > 0
      ? null
      : stop(fault(path, undefined, `holds over ${limits.values} values`, 'Split it.'));
  }
  if (depth > limits.depth) return stop(tooDeep(path));
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? value
      : stop(fault(path, String(value), 'is no JSON number', 'Write digits.'));
  }
  if (typeof value === 'string') {
    return /\p{Cs}/u.test(value)
      ? stop(fault(path, value, 'holds half a character', 'Write it whole.'))
      : value;
  }
  if (Array.isArray(value)) {
    return value.map((item, i) => toJson(item, { ...walk, path: `${path}[${i}]`, depth: depth + 1 }));
  }
  if (!isPlain(value))
    return stop(fault(path, String(value), 'is no JSON value', 'Write plain JSON or YAML.'));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const at = `${path}.${key}`;
      if (key === '__proto__') stop(fault(at, key, 'no object can hold this key', 'Name it otherwise.'));
      return [key, toJson(member, { ...walk, path: at, depth: depth + 1 })];
    }),
  );
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

/** Finds the list of tools in any of the shapes it comes in. */
function entriesOf(document: Json, file: string): Result<readonly Entry[]> {
  if (isObject(document) && isObject(document.result)) return entriesOf(document.result, `${file}.result`);
  if (isObject(document) && isObject(document.error) && 'jsonrpc' in document) {
    return refuse(
      fault(file, document.error, "is a server's error, not its tools", 'Ask it again for tools/list.'),
    );
  }
  const path = isObject(document) && 'tools' in document ? `${file}.tools` : file;
  const list = isObject(document) && 'tools' in document ? document.tools : document;
  const more = isObject(document) && typeof document.nextCursor === 'string' && path !== file;
  if (more) {
    return refuse(
      fault(
        `${file}.nextCursor`,
        document.nextCursor,
        'the list goes on at this cursor',
        'Put all pages into one list.',
      ),
    );
  }
  if (!Array.isArray(list)) return pass([{ value: list as Json, path }]);
  if (list.length === 0) return refuse(fault(path, list, 'holds no tool', 'Write at least one.'));
  if (list.length > limits.tools) {
    return refuse(fault(path, undefined, `${list.length} tools, ${limits.tools} at most`, 'Split it.'));
  }
  return pass((list as readonly Json[]).map((value, i) => ({ value, path: `${path}[${i}]` })));
}

function readEntry(value: Json, path: string): Result<SpecEntry> {
  if (!isObject(value)) {
    return refuse(
      fault(path, value, 'is no tool', 'Write an object with name, description, input and output.'),
    );
  }
  const isTheirs = isDefinition(value);
  if (isTheirs && ('input' in value || 'output' in value)) {
    const hint = 'Keep input and output (our ToolSpec), or inputSchema and outputSchema (an MCP definition).';
    return refuse(fault(path, value.name, 'is half a ToolSpec and half an MCP definition', hint));
  }
  return isTheirs ? pass(value) : toolSpecOf(value, path);
}
