import {
  below,
  fits,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  propertiesOf,
  requiredOf,
} from 'market-mcp-contract/json';
import type { ApiBody, Binding, FilePart } from '../model.ts';
import { type DescribedBody, describedBody, describedParameters, isJsonType } from './body.ts';
import { inputDescription } from './describe.ts';
import { DocumentRefusal, type Lost, type OpenApiDocument, type Resolved } from './document.ts';
import { holdsFile } from './file.ts';
import { digitsPattern } from './keywords.ts';
import type { ApiOperation } from './operations.ts';
import { schemaOf } from './schema.ts';
import { type IsScheme, type KeyParameter, keyParameter, parametersOf } from './schemes.ts';
import { oldStyleOf, simpleStyleOf, styleOf, unsupportedLists, withReserved } from './style.ts';
import { plainText } from './text.ts';

/** The arguments of callers, and their places in the request. */
export interface Inputs {
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly params: readonly Binding[];
  readonly query: readonly Binding[];
  readonly headers: readonly Binding[];
  readonly body: ApiBody | null;
  readonly keys: readonly KeyParameter[];
}

/** Headers that a document describes elsewhere (OpenAPI 3, "Parameter Object"). */
const ignoredHeaders = new Set(['accept', 'content-type']);
const nameLength = 64;

/**
 * The arguments of an operation: its parameters and the members of its body, each with a unique name.
 *
 * @throws Refusal if the operation needs something that no tool call can provide
 */
export function inputsOf(
  document: OpenApiDocument,
  operation: ApiOperation,
  isScheme: IsScheme,
  lost: Lost,
): Inputs {
  const inputs = new InputCollector(document, operation.path, isScheme, lost);
  const bodies: Resolved<JsonObject>[] = [];
  for (const parameter of parametersOf(document, operation)) {
    // In Swagger 2.0, bodies are parameters.
    if (parameter.value.in === 'body' || parameter.value.in === 'formData') bodies.push(parameter);
    else inputs.parameter(parameter, operation.path);
  }
  for (const [, name = ''] of operation.path.matchAll(/\{([^{}]+)\}/g)) inputs.undeclaredPathName(name);
  const { value, pointer } = operation.found;
  const body = below(pointer, 'requestBody');
  // OpenAPI 3.0 ignores such bodies (Operation Object), and Node's fetch cannot send one.
  if (operation.method === 'get' && (bodies.length > 0 || value.requestBody !== undefined))
    lost(bodies[0]?.pointer ?? body, 'is the body of a GET request: it was left out');
  else if (bodies.length > 0) inputs.oldBody(bodies);
  else if (value.requestBody !== undefined) inputs.body(value.requestBody, body);
  return inputs.finished();
}

class InputCollector {
  readonly #document: OpenApiDocument;
  readonly #isScheme: IsScheme;
  readonly #lost: Lost;
  readonly #properties = new Map<string, JsonObject>();
  readonly #required: string[] = [];
  readonly #bindings = { path: [] as Binding[], query: [] as Binding[], header: [] as Binding[] };
  readonly #keys: KeyParameter[] = [];
  readonly #path: string;
  #body: Inputs['body'] = null;

  constructor(document: OpenApiDocument, path: string, isScheme: IsScheme, lost: Lost) {
    this.#document = document;
    this.#path = path;
    this.#isScheme = isScheme;
    this.#lost = lost;
  }

  parameter({ value, pointer }: Resolved<JsonObject>, path: string): void {
    const name = String(value.name);
    const place = value.in;
    const isRequired = place === 'path' || value.required === true;
    if (place !== 'path' && place !== 'query' && place !== 'header' && place !== 'cookie') return;
    if (place === 'path' && !path.includes(`{${name}}`)) return;
    const key = keyParameter(value, this.#isScheme);
    if (key) this.#keys.push(key);
    if (key || (place === 'header' && ignoredHeaders.has(name.toLowerCase()))) return;
    const left = whyLeftOut(value);
    if (left && isRequired) throw new DocumentRefusal(left.refusal, pointer);
    if (left) this.#lost(pointer, left.what);
    if (left || place === 'cookie') return;
    const { schema: said, isJson } = this.#schemaOf(value, pointer);
    const schema = place === 'path' ? withoutEmptyText(said) : said;
    const input = this.#add(name, place, schema, isRequired);
    const style = isJson ? 'json' : this.#styleOf(value, schema, pointer);
    this.#bindings[place].push({ name, input, ...(style && { style }) });
  }

  /** A name in braces without a declared parameter becomes a string. */
  undeclaredPathName(name: string): void {
    if (this.#bindings.path.some((binding) => binding.name === name)) return;
    const schema = { type: 'string' };
    this.#bindings.path.push({ name, input: this.#add(name, 'path', schema, true) });
  }

  body(given: Json, pointer: string): void {
    const body = describedBody(this.#document, given, pointer, this.#lost);
    if (body) this.#setBody(body);
  }

  /** `in: body` and `in: formData` of Swagger 2.0. */
  oldBody(bodies: readonly Resolved<JsonObject>[]): void {
    const schema = ({ value, pointer }: Resolved<JsonObject>) => {
      const why = unsupportedLists(value);
      if (why !== undefined) throw new DocumentRefusal(why, pointer);
      return this.#schemaOf(value, pointer).schema;
    };
    this.#setBody(describedParameters(this.#document, bodies, schema, this.#lost));
  }

  finished(): Inputs {
    return {
      properties: Object.fromEntries(this.#properties),
      required: this.#required,
      params: this.#bindings.path,
      query: this.#bindings.query,
      headers: this.#bindings.header,
      body: this.#body,
      keys: this.#keys,
    };
  }

  #styleOf(parameter: JsonObject, schema: JsonObject, pointer: string): Binding['style'] {
    if (parameter.in !== 'query') return simpleStyleOf(parameter, schema);
    if (this.#document.version === '2.0') return oldStyleOf(parameter);
    return withReserved(parameter, styleOf(parameter), (what) => this.#lost(pointer, what));
  }

  #setBody({ kind, schema, isRequired, mediaType, partTypes, styles }: DescribedBody): void {
    const members = Object.entries(membersOf(schema));
    const integers = kind === 'json' ? integersIn(schema) : [];
    const common = { kind, ...(integers.length > 0 && { integers }) };
    if (kind === 'binary' || members.length === 0) {
      const whole = { ...schema, ...((kind === 'form' || kind === 'multipart') && { type: 'object' }) };
      const input = this.#add('body', 'body', whole, isRequired);
      this.#body = { ...common, members: input, ...(mediaType !== undefined && { mediaType }) };
      return;
    }
    const required = requiredOf(schema);
    const bindings = members.map(([name, member]): Binding => {
      const style = kind === 'form' ? styles?.get(name) : undefined;
      const isNeeded = isRequired && required.includes(name);
      const input = this.#add(name, 'body', isObject(member) ? member : {}, isNeeded);
      return { name, input, ...(style && { style }) };
    });
    const files = members
      .filter(([, member]) => kind === 'multipart' && isObject(member) && holdsFile(member))
      .map(([name]): FilePart => {
        const type = partTypes?.get(name);
        return { name, fileName: this.#addFileName(name), ...(type !== undefined && { mediaType: type }) };
      });
    const isOf = (parts: readonly { readonly name: string }[], name: string) =>
      parts.some((one) => one.name === name);
    const others = [...(partTypes ?? [])].filter(
      ([name]) => kind === 'multipart' && isOf(bindings, name) && !isOf(files, name),
    );
    this.#body = {
      ...common,
      members: bindings,
      ...(files.length > 0 && { files }),
      ...(others.length > 0 && { partTypes: Object.fromEntries(others) }),
    };
  }

  /** APIs determine the type of a file from its extension. */
  #addFileName(part: string): string {
    const description = `File name of ${part}, with its ending.`;
    const schema = { type: 'string', description, minLength: 1, maxLength: 200, default: 'file' };
    return this.#add(`${part}_name`, 'body', schema, false);
  }

  /** The schema of a parameter: its own, that of its only content, or, in 2.0, the parameter itself. */
  #schemaOf(value: JsonObject, pointer: string): { readonly schema: JsonObject; readonly isJson: boolean } {
    const [type, media] = Object.entries(isObject(value.content) ? value.content : {})[0] ?? [];
    const given =
      type !== undefined && isObject(media) ? media.schema : (value.schema ?? withoutPlace(value));
    const at = type === undefined ? below(pointer, 'schema') : below(pointer, 'content', type, 'schema');
    const schema = schemaOf(this.#document, given, at, 'input', this.#lost);
    const description = plainText(value.description, 400);
    const said = exampleOf(value);
    const example = schema.pattern === digitsPattern && Number.isInteger(said) ? String(said) : said;
    return {
      schema: {
        ...schema,
        ...(description !== '' && { description }),
        ...(example !== undefined &&
          schema.examples === undefined &&
          fits(schema, schema, example) && { examples: [example] }),
      },
      isJson: type !== undefined && isJsonType(type),
    };
  }

  /** Adds an argument under a unique name that every client accepts. */
  #add(name: string, place: string, schema: JsonObject, isRequired: boolean): string {
    const free = freeInputName(name, place, (one) => this.#properties.has(one));
    const description = schema.description ?? inputDescription(name, schema, this.#path);
    this.#properties.set(free, { ...schema, description });
    if (isRequired) this.#required.push(free);
    return free;
  }
}

/** The name of an argument that every client accepts and no other argument has. */
export function freeInputName(name: string, place: string, isTaken: (name: string) => boolean): string {
  const safe =
    name
      .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, nameLength) || place;
  const plain = safe === '__proto__' ? 'proto' : safe;
  for (let count = 0; ; count += 1) {
    const other = count === 1 ? `${place}_${plain}`.slice(0, nameLength) : `${plain.slice(0, 60)}_${count}`;
    const free = count === 0 ? plain : other;
    if (!isTaken(free)) return free;
  }
}

/** Why a parameter cannot be sent: as the refusal of one that is required, and as the note about any other. */
function whyLeftOut(parameter: JsonObject): { readonly refusal: string; readonly what: string } | undefined {
  const { in: place, name } = parameter;
  if (place === 'cookie')
    return {
      refusal: 'it requires a cookie, which a tool cannot send',
      what: 'is a cookie, so it was left out',
    };
  if (place === 'header' && !/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(String(name)))
    return {
      refusal: 'its name is not a valid header name',
      what: 'has a name that no header can have: it was left out',
    };
  const refusal = unsupportedLists(parameter);
  return refusal === undefined ? undefined : { refusal, what: `was left out: ${refusal}` };
}

/** Paths of the texts that a body has as integers. */
function integersIn(schema: JsonObject, path = ''): readonly string[] {
  if (schema.pattern === digitsPattern) return [path];
  const { items } = schema;
  return [
    ...propertiesOf(schema).flatMap(([name, member]) =>
      /[.[\]]/.test(name) ? [] : integersIn(member, path === '' ? name : `${path}.${name}`),
    ),
    ...(isObject(items) ? integersIn(items, `${path}[]`) : []),
  ];
}

/** A segment of a path cannot be empty. */
function withoutEmptyText({ enum: values, ...schema }: JsonObject): JsonObject {
  const allowed = Array.isArray(values) ? (values as readonly Json[]).filter((value) => value !== '') : [];
  return { ...schema, ...(allowed.length > 0 && { enum: allowed }) };
}

/** A parameter of Swagger 2.0 is its own schema. */
function withoutPlace(parameter: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(parameter).filter(([name]) => !placeKeys.has(name)));
}

const placeKeys = new Set(['name', 'in', 'required', 'description']);

function exampleOf({ example, examples }: JsonObject): Json | undefined {
  if (example !== undefined) return example;
  const [first] = isObject(examples) ? Object.values(examples) : [];
  return isObject(first) ? first.value : undefined;
}
