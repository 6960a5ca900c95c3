import { closest, inputError, pass, type Result, refuse, reject } from 'market-mcp-contract/command';
import { cachedByObject, isObject, objectOr } from 'market-mcp-contract/json';
import { plainText } from './document-text.ts';
import {
  type DocumentPlace,
  DocumentRefusal,
  type OpenApiDocument,
  TooManyValues,
} from './openapi-document.ts';

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];

/** One operation of a document, not yet validated. */
export interface ApiOperation {
  /** Null if the document gives none. */
  readonly id: string | null;
  readonly method: Method;
  /** As in the document: `/repos/{owner}`. */
  readonly path: string;
  readonly summary: string;
  readonly found: DocumentPlace;
  /** The members of the path that all its operations share: parameters and servers. */
  readonly shared: DocumentPlace;
}

/** Maximum number of values to read for the list of operations. Microsoft Graph beta, with 22,000 operations, has 1,200,000. */
const maxListValues = 5_000_000;

/** Longer ones are unreadable. */
const maxPathLength = 2_000;

/** A path or an operation with a reference that cannot be followed. */
export interface BrokenOperation {
  /** `/gas` for all operations of a path, `GET /gas` for one. */
  readonly name: string;
  readonly refusal: DocumentRefusal;
}

interface Read {
  readonly operations: readonly ApiOperation[];
  readonly broken: readonly BrokenOperation[];
}

const readOnce = cachedByObject(readOperations);

/** Every operation of a document, in order, except unreadable ones. */
export function operationsOf(document: OpenApiDocument): readonly ApiOperation[] {
  return readOnce(document).operations;
}

/** What `operationsOf` leaves out because of its reference, in order. */
export function brokenOperationsOf(document: OpenApiDocument): readonly BrokenOperation[] {
  return readOnce(document).broken;
}

function readOperations(document: OpenApiDocument): Read {
  const broken: BrokenOperation[] = [];
  const paths = document.root.at('paths').entries();
  const operations = paths.flatMap(([path, shared]) => {
    if (!path.startsWith('/') || path.length > maxPathLength) return [];
    const readable = <T>(name: string, read: () => T) =>
      unlessBroken(read, (refusal) => broken.push({ name, refusal }));
    if (readable(path, () => shared.value) === undefined) return [];
    return methods.flatMap((method) => {
      const name = `${method.toUpperCase()} ${path}`;
      return readable(name, () => operationAt(path, method, shared)) ?? [];
    });
  });
  return { operations, broken };
}

function operationAt(path: string, method: Method, shared: DocumentPlace): ApiOperation | undefined {
  const found = shared.at(method);
  if (!isObject(found.value)) return undefined;
  const { operationId, summary, description } = found.members;
  const id = (typeof operationId === 'string' && operationId.trim()) || null;
  return { id, method, path, summary: plainText(summary ?? description, 80), found, shared };
}

/**
 * A document whose operations can be listed.
 *
 * @param source name of the document, for the errors
 */
export function checkedDocument(document: OpenApiDocument, source: string): Result<OpenApiDocument> {
  try {
    document.within(maxListValues, () => operationsOf(document));
    return pass(document);
  } catch (error) {
    if (!(error instanceof TooManyValues)) throw error;
    const hint = 'Remove operations that you do not need from the document.';
    return reject(pointerLocation(error.pointer, source), undefined, error.message, hint);
  }
}

/** The media types of a response; none if it has no content. */
export function mediaTypes(operation: DocumentPlace, response: DocumentPlace): readonly string[] {
  const { content, schema } = response.members;
  if (operation.document.version !== '2.0') return Object.keys(objectOr(content));
  if (schema === undefined) return [];
  const types = oldTypes(operation, 'produces');
  return types.length > 0 ? types : ['*/*'];
}

/** The media types that an operation of Swagger 2.0 takes or returns, its own or those of the document. */
export function oldTypes(
  { document, members }: DocumentPlace,
  keyword: 'consumes' | 'produces',
): readonly string[] {
  const types = members[keyword] ?? document.root.members[keyword];
  if (Array.isArray(types)) return types.filter((type) => typeof type === 'string');
  return [];
}

/** The name that selects an operation. */
export function operationName({ id, method, path }: ApiOperation): string {
  return id ?? `${method.toUpperCase()} ${path}`;
}

/**
 * The operations of a document for an author to choose from.
 *
 * @param source name of the document, for the errors
 * @returns the error of the first reference that cannot be followed if there is no operation because of it
 */
export function listReadableOperations(
  document: OpenApiDocument,
  source: string,
): Result<readonly ApiOperation[]> {
  const [first] = brokenOperationsOf(document);
  const operations = operationsOf(document);
  if (!first || operations.length > 0) return pass(operations);
  const { message, pointer } = first.refusal;
  return reject(pointerLocation(pointer, source), first.name, message, 'Correct this reference.');
}

/** A pointer after the name of its document. */
export function pointerLocation(pointer: string, source: string): string {
  if (pointer.startsWith('#')) return `${source}${pointer}`;
  return pointer;
}

/** The operations whose method, path, id or summary contains each word of a text, case-insensitive. */
export function matching(operations: readonly ApiOperation[], text: string): readonly ApiOperation[] {
  return operations.filter(({ id, method, path, summary }) =>
    hasWords(`${method} ${path} ${id ?? ''} ${summary}`, text),
  );
}

/** Whether a text contains each of the words, in any order, case-insensitive. */
export function hasWords(text: string, words: string): boolean {
  const lower = text.toLowerCase();
  const searchWords = words.toLowerCase().split(/\s+/);
  return searchWords.every((word) => lower.includes(word));
}

/** The operations that an author names, each by its id or as `GET /path`; or an error for each unknown name. */
export function chosenOperations(
  operations: readonly ApiOperation[],
  names: readonly string[],
): Result<readonly ApiOperation[]> {
  const operationsByName = new Map<string, ApiOperation>();
  for (const operation of operations) {
    operationsByName.set(`${operation.method.toUpperCase()} ${operation.path}`, operation);
    if (operation.id !== null && !operationsByName.has(operation.id))
      operationsByName.set(operation.id, operation);
  }
  const errors = names.flatMap((name) => {
    if (operationsByName.has(normal(name))) return [];
    const near = closest(normal(name), [...operationsByName.keys()]);
    const hint = near ? `Did you mean ${near}?` : 'Run the command without --operation to list all of them.';
    return [inputError('--operation', name, 'is not an operation of the document', hint)];
  });
  if (errors.length > 0) return refuse(...errors);
  const found = names
    .map((name) => operationsByName.get(normal(name)))
    .filter((operation) => operation !== undefined);
  return pass([...new Set(found)]);
}

/** Why an operation that an author names by its path cannot be read; undefined if it can, or is unknown. */
export function brokenAt(document: OpenApiDocument, name: string): DocumentRefusal | undefined {
  const normalName = normal(name);
  const broken = brokenOperationsOf(document);
  return broken.find(
    (operation) => operation.name === normalName || operation.name === normalName.replace(/^[A-Z]+ /, ''),
  )?.refusal;
}

/** Normalizes `get  /gas` for comparison. */
function normal(name: string): string {
  const [, method, path] = /^([a-z]+)\s+(\/.*)$/i.exec(name.trim()) ?? [];
  if (method === undefined) return name.trim();
  return `${method.toUpperCase()} ${path}`;
}

/** What `read` returns; undefined if a reference cannot be resolved, which `told` receives. */
export function unlessBroken<T>(
  read: () => T,
  onRefusal?: (refusal: DocumentRefusal) => void,
): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DocumentRefusal) || error instanceof TooManyValues) throw error;
    onRefusal?.(error);
    return undefined;
  }
}
