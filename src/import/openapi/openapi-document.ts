import { pass, type Result, reject, uriDecoded } from 'market-mcp-contract/command';
import {
  childPointer,
  grouped,
  isObject,
  type Json,
  type JsonObject,
  memoize,
  objectOr,
  openApiLimits,
  pointerSegments,
  shorten,
  textOr,
  valueAt,
  withLargeIntegersAsText,
} from 'market-mcp-contract/json';
import { type Beside, nothingBeside, type Others, othersOf, splitReference } from './document-references.ts';
import { countText, countValues } from './value-count.ts';

const maxHops = 30;

/** The reason why a part of a document cannot be imported, and its place. */
export class DocumentRefusal extends Error {
  /** JSON pointer into the document. */
  readonly pointer: string;

  constructor(message: string, pointer: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** The document does not say what an operation answers in JSON. */
export class UnknownAnswer extends DocumentRefusal {}

/** The document, or one operation of it, has too many values to be read. */
export class TooManyValues extends DocumentRefusal {}

/** A value and its place. */
export interface LocatedValue {
  readonly value: Json;
  /** JSON pointer, `#/paths/~1gas/get`; in another document after its name: `gas.yaml#/get`. */
  readonly pointer: string;
}

/**
 * A place in a document. Its value is that after references were resolved, when it is asked for.
 *
 * @throws DocumentRefusal if a reference leads to a document that is not read, to nothing, or in a circle, or at the limit of `within`
 */
export class DocumentPlace implements LocatedValue {
  readonly document: OpenApiDocument;
  /** What is written there, which may be a reference; undefined if nothing is there. */
  readonly given: Json | undefined;
  /** The JSON pointer before references were resolved. */
  readonly from: string;
  #found: LocatedValue | undefined;

  constructor(document: OpenApiDocument, value: Json | undefined, from: string) {
    this.document = document;
    this.given = value;
    this.from = from;
  }

  get value(): Json {
    return this.#resolved().value;
  }

  get pointer(): string {
    return this.#resolved().pointer;
  }

  /** Its members by name; none if it is not an object. */
  get members(): JsonObject {
    return objectOr(this.value);
  }

  /** The place below it. */
  at(...[step, ...followingSteps]: readonly (string | number)[]): DocumentPlace {
    if (step === undefined) return this;
    return this.#below(step).at(...followingSteps);
  }

  /** The places of its members; none if it is not an object. */
  entries(): readonly (readonly [name: string, DocumentPlace])[] {
    return Object.keys(this.members).map((name) => [name, this.#below(name)]);
  }

  /** The places of its items; none if it is not a list. */
  items(): readonly DocumentPlace[] {
    const list: readonly Json[] = Array.isArray(this.value) ? this.value : [];
    return list.map((_, i) => this.#below(i));
  }

  /** Where its reference leads, which may be another one; undefined if it is none. */
  get next(): DocumentPlace | undefined {
    const found = this.document.next(this.given, this.from);
    return found && new DocumentPlace(this.document, found.value, found.pointer);
  }

  /** The same place with another value. */
  with(value: Json): DocumentPlace {
    return new DocumentPlace(this.document, value, this.from);
  }

  #below(step: string | number): DocumentPlace {
    const { value, pointer } = this;
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
    const member = isThere ? (value as JsonObject)[step] : undefined;
    return new DocumentPlace(this.document, member, childPointer(pointer, step));
  }

  #resolved(): LocatedValue {
    this.#found ??= this.document.resolved(this.given, this.from);
    return this.#found;
  }
}

/** Receives the location of a part that cannot be imported, and the loss. */
export type Lost = (pointer: string, loss: string) => void;

type Version = '2.0' | '3.0' | '3.1';

/** An OpenAPI document whose references are resolved on demand. */
export class OpenApiDocument {
  readonly root: DocumentPlace;
  readonly version: Version;
  readonly #others: Others;
  readonly #targets = memoize((pointer) => this.#valueAt(pointer));
  #maxValues = Number.POSITIVE_INFINITY;
  #values = 0;

  /** @param otherDocuments the documents that its references lead to */
  constructor(root: JsonObject, version: Version, otherDocuments: Others) {
    this.root = new DocumentPlace(this, root, '#');
    this.version = version;
    this.#others = otherDocuments;
  }

  /**
   * Does work that reads at most `maxValues` values of the document. A value counts again whenever a reference leads to it, so the
   * limit holds for the work, not only for the size of the document.
   *
   * @throws TooManyValues
   */
  within<T>(maxValues: number, work: () => T): T {
    this.#maxValues = maxValues;
    this.#values = 0;
    try {
      return work();
    } finally {
      this.#maxValues = Number.POSITIVE_INFINITY;
    }
  }

  /** @throws TooManyValues */
  #count({ value, pointer }: LocatedValue): void {
    this.#values += countValues(value) + countText(pointer);
    if (this.#values <= this.#maxValues) return;
    const limit = grouped(this.#maxValues);
    throw new TooManyValues(`it has more than ${limit} values, counted at each reference`, pointer);
  }

  /** A value, or what it refers to. */
  resolved(value: Json | undefined, pointer: string): LocatedValue {
    let found: LocatedValue = { value: value ?? null, pointer };
    for (let hops = 0; ; hops += 1) {
      this.#count(found);
      const next = this.next(found.value, found.pointer);
      if (!next) return found;
      if (hops >= maxHops) throw new DocumentRefusal('this reference is circular', pointer);
      found = next;
    }
  }

  /** What a reference leads to, which may be another one; undefined for any other value. */
  next(value: Json | undefined, pointer: string): LocatedValue | undefined {
    if (isObject(value) && typeof value.$ref === 'string') return this.#target(value.$ref, pointer);
    return undefined;
  }

  #target(reference: string, from: string): LocatedValue {
    const refusal = (reason: string) =>
      new DocumentRefusal(`the reference ${shorten(reference)} ${reason}`, from);
    const base = from.slice(0, from.indexOf('#'));
    const { file, fragment } = splitReference(reference);
    const target = file === '' ? { name: base } : this.#others.named(file, base);
    if ('why' in target) throw refusal(`points outside the document: ${target.why}`);
    const read = this.#read(target.name);
    if (!read || 'why' in read) throw refusal(`cannot be followed: ${read?.why ?? 'it was not read'}`);
    if (!/^(?:\/|$)/.test(fragment)) throw refusal('is not a JSON pointer');
    const pointer = `${target.name}#${fragment}`;
    const value = this.#targets(pointer) as Json | undefined;
    if (value === undefined) throw refusal('points to nothing');
    return { value, pointer };
  }

  #read(name: string) {
    if (name === '') return { value: this.root.given };
    return this.#others.read.get(name);
  }

  /** @param pointer `schemas/gas.json#/Gas`, of a document that was read */
  #valueAt(pointer: string): unknown {
    const at = pointer.indexOf('#');
    const read = this.#read(pointer.slice(0, at));
    if (read && 'value' in read)
      return valueAt(read.value, pointerSegments(pointer.slice(at + 1)).map(uriDecoded));
    return undefined;
  }
}

/**
 * Reads an OpenAPI document, 3.0 or 3.1 or Swagger 2.0, in JSON or YAML. Validates only its overall form; errors of
 * an operation are reported when the operation is chosen.
 *
 * @param source name of the file or URL, for the errors
 * @param filesBeside what may be read beside it; by default nothing
 */
export async function readOpenApi(
  text: string,
  source: string,
  filesBeside: Beside = nothingBeside,
): Promise<Result<OpenApiDocument>> {
  const parsed = await parseDocument(text, source);
  if (!parsed.ok) return parsed;
  const root = parsed.value;
  const hint = 'Give an OpenAPI document: it has a member such as openapi: 3.1.0.';
  if (!isObject(root)) return reject(source, undefined, 'is not an OpenAPI document', hint);
  const statedVersion = textOr(root.openapi ?? root.swagger);
  const version = (['3.0', '3.1', '2.0'] as const).find(
    (supportedVersion) =>
      statedVersion === supportedVersion || statedVersion.startsWith(`${supportedVersion}.`),
  );
  if (version === undefined) {
    const message =
      statedVersion === ''
        ? 'is not an OpenAPI document'
        : `is OpenAPI ${shorten(statedVersion)}; versions 3.1, 3.0 and 2.0 are supported`;
    return reject(source, undefined, message, hint);
  }
  if (!isObject(root.paths)) return reject(`${source}#/paths`, root.paths, 'has no operations', hint);
  const document = new OpenApiDocument(
    root,
    version,
    await othersOf(root, text.length, filesBeside, parseDocument),
  );
  try {
    document.root.at('paths').entries();
    return pass(document);
  } catch (error) {
    if (error instanceof DocumentRefusal) return reject(`${source}#/paths`, undefined, error.message, hint);
    throw error;
  }
}

async function parseDocument(content: string, source: string): Promise<Result<unknown>> {
  const text = content.replace(/^\ufeff/, '');
  const { characters, values } = openApiLimits;
  if (text.length > characters) {
    const message = `the document has ${text.length} characters; at most ${characters} are allowed`;
    return reject(source, undefined, message, 'Give a smaller document.');
  }
  try {
    JSON.parse(text);
    return pass(JSON.parse(withLargeIntegersAsText(text).text) as unknown);
  } catch (error) {
    if (/^\s*[{[]/.test(text) && !/^\s*[{[]\s*[\w$'#]/.test(text)) {
      const message = `is not JSON: ${(error as Error).message}`;
      return reject(source, undefined, message, 'Give valid JSON or YAML.');
    }
  }
  const { readYaml } = await import('market-mcp-contract/document');
  // Without aliases, a document has fewer values than characters.
  return readYaml(text, source, { ...openApiLimits, values: Math.max(values, text.length) }, 'text');
}
