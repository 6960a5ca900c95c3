import { isObject } from '../../contract/json.ts';
import type { JsonObject } from '../../contract/model.ts';
import { below } from '../../contract/schema/schema.ts';
import { closest, inputError, pass, refuse } from '../../model/input-error.ts';
import type { Result } from '../../model/model.ts';
import { type Found, type OpenApiDocument, Refusal } from './document.ts';
import { plainText } from './text.ts';

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];

/** One operation of a document, not yet validated. */
export interface Operation {
  /** Null if the document gives none. */
  readonly id: string | null;
  readonly method: Method;
  /** As in the document: `/repos/{owner}`. */
  readonly path: string;
  readonly summary: string;
  readonly found: Found<JsonObject>;
  /** The members of the path that all its operations share: parameters and servers. */
  readonly shared: Found<JsonObject>;
}

/** Every operation of a document, in order, except unreadable ones. */
export function operationsOf(document: OpenApiDocument): readonly Operation[] {
  const paths = isObject(document.root.paths) ? document.root.paths : {};
  return Object.entries(paths).flatMap(([path, given]): Operation[] => {
    const shared = readable(() => document.object(given, below('#/paths', path)));
    if (!shared || !path.startsWith('/')) return [];
    return methods.flatMap((method): Operation[] => {
      const value = shared.value[method];
      if (!isObject(value)) return [];
      const { operationId, summary: short, description } = value;
      const id = (typeof operationId === 'string' && operationId.trim()) || null;
      const summary = plainText(short ?? description, 80);
      return [
        { id, method, path, summary, found: { value, pointer: below(shared.pointer, method) }, shared },
      ];
    });
  });
}

/** The name that selects an operation. */
export function nameOf({ id, method, path }: Operation): string {
  return id ?? `${method.toUpperCase()} ${path}`;
}

/** The operations whose method, path, id or summary contains each word of a text, case-insensitive. */
export function matching(operations: readonly Operation[], text: string): readonly Operation[] {
  return operations.filter(({ id, method, path, summary }) =>
    hasWords(`${method} ${path} ${id ?? ''} ${summary}`, text),
  );
}

/** Whether a text contains each of the words, in any order, case-insensitive. */
export function hasWords(text: string, words: string): boolean {
  const lower = text.toLowerCase();
  const wanted = words.toLowerCase().split(/\s+/);
  return wanted.every((word) => lower.includes(word));
}

/** The operations that an author names, each by its id or as `GET /path`; or an error for each unknown name. */
export function chosen(
  operations: readonly Operation[],
  names: readonly string[],
): Result<readonly Operation[]> {
  const known = new Map<string, Operation>();
  for (const operation of operations) {
    known.set(`${operation.method.toUpperCase()} ${operation.path}`, operation);
    if (operation.id !== null && !known.has(operation.id)) known.set(operation.id, operation);
  }
  const errors = names.flatMap((name) => {
    if (known.has(normal(name))) return [];
    const near = closest(normal(name), [...known.keys()]);
    const hint = near ? `Did you mean ${near}?` : 'Run the command without --operation to list all of them.';
    return [inputError('--operation', name, 'is not an operation of the document', hint)];
  });
  if (errors.length > 0) return refuse(...errors);
  const found = names.map((name) => known.get(normal(name))).filter((one) => one !== undefined);
  return pass([...new Set(found)]);
}

/** Normalizes `get  /gas` for comparison. */
function normal(name: string): string {
  const [, method, path] = /^([a-z]+)\s+(\/.*)$/i.exec(name.trim()) ?? [];
  return method === undefined ? name.trim() : `${method.toUpperCase()} ${path}`;
}

/** What `read` returns; undefined if a reference cannot be resolved. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
