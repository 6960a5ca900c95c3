import {
  isObject,
  type Json,
  type JsonObject,
  matchesWithin,
  membersOf,
  objectOr,
  propertiesOf,
  requiredOf,
  textOr,
} from 'market-mcp-contract/json';
import { inputDescription } from '../describe.ts';
import { digitsPattern, integerPath } from '../digit-texts.ts';
import type { ApiBody, Binding, FilePart } from '../imported-tool.ts';
import { isJsonType } from '../media-type.ts';
import { plainText } from './document-text.ts';
import { holdsFile } from './file.ts';
import { type DescribedBody, describedBody, describedParameters } from './openapi-body.ts';
import { type DocumentPlace, DocumentRefusal, type Lost } from './openapi-document.ts';
import { nullNote, schemaOf } from './openapi-schema.ts';
import { type ApiOperation, oldTypes, unlessBroken } from './operations.ts';
import { type IsScheme, type KeyParameter, keyParameter, operationParameters } from './schemes.ts';
import {
  hasScalarType,
  oldStyleOf,
  simpleStyleOf,
  styleOf,
  unsupportedLists,
  withReserved,
} from './style.ts';

/** Headers that a document describes elsewhere (OpenAPI 3, "Parameter Object"). */
const ignoredHeaders = new Set(['accept', 'content-type']);
const nameLength = 64;

/**
 * The arguments of an operation: its parameters and the members of its body, each with a unique name.
 *
 * @throws Refusal if the operation needs something that no tool call can provide
 */
export function inputsOf(operation: ApiOperation, isScheme: IsScheme, lost: Lost): Inputs {
  const inputs = new Inputs(operation.path, isScheme, lost);
  const bodies: DocumentPlace[] = [];
  for (const parameter of operationParameters(operation)) {
    // In Swagger 2.0, bodies are parameters.
    const { in: place } = parameter.members;
    if (place === 'body' || place === 'formData') bodies.push(parameter);
    else inputs.addParameter(parameter);
  }
  for (const [, name = ''] of operation.path.matchAll(/\{([^{}]+)\}/g)) inputs.addUndeclared(name);
  const body = operation.found.at('requestBody');
  // OpenAPI 3.0 ignores such bodies (Operation Object), and Node's fetch cannot send one.
  if (operation.method === 'get' && (bodies.length > 0 || body.given !== undefined))
    lost(bodies[0]?.pointer ?? body.from, 'is the body of a GET request, which is not sent');
  else if (bodies.length > 0) inputs.addOldBody(bodies, oldTypes(operation.found, 'consumes'));
  else if (body.given !== undefined) inputs.addBody(describedBody(body, lost));
  return inputs;
}

/** The arguments of callers, and their places in the request. */
class Inputs {
  readonly properties: { [name: string]: JsonObject } = {};
  readonly required: string[] = [];
  readonly params: Binding[] = [];
  readonly query: Binding[] = [];
  readonly headers: Binding[] = [];
  readonly keys: KeyParameter[] = [];
  body: ApiBody | null = null;
  readonly #isScheme: IsScheme;
  readonly #lost: Lost;
  readonly #path: string;

  constructor(path: string, isScheme: IsScheme, lost: Lost) {
    this.#path = path;
    this.#isScheme = isScheme;
    this.#lost = lost;
  }

  addParameter(parameter: DocumentPlace): void {
    const { members: value } = parameter;
    const name = textOr(value.name);
    const place = value.in;
    const isRequired = place === 'path' || value.required === true;
    if (place !== 'path' && place !== 'query' && place !== 'header' && place !== 'cookie') return;
    if (place === 'path' && !this.#path.includes(`{${name}}`)) return;
    const key = keyParameter(value, this.#isScheme);
    if (key) this.keys.push(key);
    if (key || (place === 'header' && ignoredHeaders.has(name.toLowerCase()))) return;
    if (this.#isUnsupported(parameter, isRequired) || place === 'cookie') return;
    const { schema: declaredSchema, isJson } = this.#schemaOf(parameter);
    const schema = place === 'path' ? withoutEmptyText(declaredSchema) : declaredSchema;
    const input = this.#add(name, place, schema, isRequired);
    const style = isJson ? 'json' : this.#styleOf(parameter, schema);
    const bindings = { path: this.params, query: this.query, header: this.headers }[place];
    bindings.push({ name, input, ...(style && { style }) });
  }

  /**
   * Whether a parameter cannot be sent. This is reported if the parameter is optional.
   *
   * @throws DocumentRefusal if it is required
   */
  #isUnsupported({ members, pointer }: DocumentPlace, isRequired: boolean): boolean {
    const unsupported = unsupportedParameter(members);
    if (!unsupported) return false;
    if (isRequired) throw new DocumentRefusal(unsupported.refusal, pointer);
    this.#lost(pointer, unsupported.what);
    return true;
  }

  /** A name in braces without a declared parameter becomes a string. */
  addUndeclared(name: string): void {
    if (this.params.some((binding) => binding.name === name)) return;
    this.params.push({ name, input: this.#add(name, 'path', { type: 'string' }, true) });
  }

  /** `in: body` and `in: formData` of Swagger 2.0. */
  addOldBody(bodies: readonly DocumentPlace[], consumes: readonly string[]): void {
    const schema = (parameter: DocumentPlace) => {
      const reason = unsupportedLists(parameter.members);
      if (reason !== undefined) throw new DocumentRefusal(reason, parameter.pointer);
      return this.#schemaOf(parameter).schema;
    };
    this.addBody(describedParameters(bodies, consumes, schema, this.#lost));
  }

  #styleOf({ document, members, pointer }: DocumentPlace, schema: JsonObject): Binding['style'] {
    if (members.in !== 'query') return simpleStyleOf(members, schema);
    if (document.version === '2.0') return oldStyleOf(members);
    return withReserved(members, styleOf(members), (loss) => this.#lost(pointer, loss));
  }

  addBody(described: DescribedBody | null): void {
    if (!described) return;
    const { kind, schema, isRequired, mediaType, parts } = described;
    const members = Object.entries(membersOf(schema));
    const integers = kind === 'json' ? integersIn(schema) : [];
    const shared = {
      kind,
      ...(integers.length > 0 && { integers }),
      ...(mediaType !== undefined && { mediaType }),
    };
    if (kind === 'binary' || members.length === 0) {
      const schemaOfBody = {
        ...schema,
        ...((kind === 'form' || kind === 'multipart') && { type: 'object' }),
      };
      const input = this.#add('body', 'body', schemaOfBody, isRequired);
      this.body = { ...shared, content: { input } };
      return;
    }
    const required = requiredOf(schema);
    const bindings = members.map(([name, declaredMember]): Binding => {
      const member = objectOr(declaredMember);
      const { style = 'form' } = parts.get(name) ?? {};
      const isStyled = kind === 'form' && (style === 'reserved' || !hasScalarType(member));
      const input = this.#add(name, 'body', member, isRequired && required.includes(name));
      return { name, input, ...(isStyled && { style }) };
    });
    const isFile = (name: string) => kind === 'multipart' && holdsFile(objectOr(membersOf(schema)[name]));
    const files = bindings
      .filter(({ name }) => isFile(name))
      .map(({ name }): FilePart => {
        const { mediaType: type } = parts.get(name) ?? {};
        return { name, fileName: this.#addFileName(name), ...(type !== undefined && { mediaType: type }) };
      });
    const partTypes = [...parts].flatMap(([name, { mediaType: type }]) =>
      type !== undefined && bindings.some((binding) => binding.name === name) && !isFile(name)
        ? [[name, type]]
        : [],
    );
    this.body = {
      ...shared,
      content: { members: bindings },
      ...(files.length > 0 && { files }),
      ...(partTypes.length > 0 && { partTypes: Object.fromEntries(partTypes) }),
    };
  }

  /** APIs determine the type of a file from its extension. */
  #addFileName(part: string): string {
    const description = `File name of ${part}, with its ending.`;
    const schema = { type: 'string', description, minLength: 1, maxLength: 200, default: 'file' };
    return this.#add(`${part}_name`, 'body', schema, false);
  }

  /** The schema of a parameter: its own, the schema of its only content, or, in 2.0, the parameter itself. */
  #schemaOf(parameter: DocumentPlace): { readonly schema: JsonObject; readonly isJson: boolean } {
    const { members: value } = parameter;
    const [[type, media] = []] = parameter.at('content').entries();
    const schemaPlace = media?.at('schema') ?? parameter.at('schema');
    const described =
      media || schemaPlace.given !== undefined ? schemaPlace : schemaPlace.with(withoutPlace(value));
    const lost: Lost = (path, loss) => {
      // Callers omit an optional parameter that would be null.
      if (loss !== nullNote || value.required === true) this.#lost(path, loss);
    };
    const schema = schemaOf(described, 'input', lost);
    const description = plainText(value.description, 400);
    const statedExample = parameterExample(parameter);
    const example =
      schema.pattern === digitsPattern && Number.isInteger(statedExample)
        ? String(statedExample)
        : statedExample;
    return {
      schema: {
        ...schema,
        ...(description !== '' && { description }),
        ...(example !== undefined &&
          schema.examples === undefined &&
          matchesWithin(schema, schema, example) && { examples: [example] }),
      },
      isJson: type !== undefined && isJsonType(type),
    };
  }

  /** Adds an argument under a unique name that every client accepts. */
  #add(name: string, place: string, schema: JsonObject, isRequired: boolean): string {
    const freeName = freeInputName(name, place, (inputName) => Object.hasOwn(this.properties, inputName));
    const description = schema.description ?? inputDescription(name, schema, this.#path);
    this.properties[freeName] = { ...schema, description };
    if (isRequired) this.required.push(freeName);
    return freeName;
  }
}

/** The name of an argument that every client accepts and no other argument has. */
export function freeInputName(name: string, place: string, isTaken: (name: string) => boolean): string {
  const safe =
    name
      .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, nameLength) || place;
  const plainName = safe === '__proto__' ? 'proto' : safe;
  for (let count = 0; ; count += 1) {
    const numberedName =
      count === 1 ? `${place}_${plainName}`.slice(0, nameLength) : `${plainName.slice(0, 60)}_${count}`;
    const candidate = count === 0 ? plainName : numberedName;
    if (!isTaken(candidate)) return candidate;
  }
}

/** Why a parameter cannot be sent: the refusal of a required one, and the note about an optional one. */
function unsupportedParameter(
  parameter: JsonObject,
): { readonly refusal: string; readonly what: string } | undefined {
  const { in: place, name } = parameter;
  if (place === 'cookie')
    return {
      refusal: 'it requires a cookie, which a tool cannot send',
      what: 'is a cookie, which is not sent',
    };
  if (place === 'header' && !/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(textOr(name)))
    return {
      refusal: 'its name is not a valid header name',
      what: 'has a name that no header can have: it is not sent',
    };
  const refusal = unsupportedLists(parameter);
  if (refusal === undefined) return undefined;
  return { refusal, what: `is not sent: ${refusal}` };
}

/** Paths of the texts that a body has as integers. */
function integersIn(schema: JsonObject, path = ''): readonly string[] {
  if (schema.pattern === digitsPattern) return [path];
  const { items } = schema;
  return [
    ...propertiesOf(schema).flatMap(([name, member]) => integersIn(member, integerPath(path, name))),
    ...(isObject(items) ? integersIn(items, `${path}[]`) : []),
  ];
}

/** A segment of a path cannot be empty. */
function withoutEmptyText({ enum: values, ...schema }: JsonObject): JsonObject {
  const allowedValues = Array.isArray(values)
    ? (values as readonly Json[]).filter((value) => value !== '')
    : [];
  return { ...schema, ...(allowedValues.length > 0 && { enum: allowedValues }) };
}

/** A parameter of Swagger 2.0 is its own schema. */
function withoutPlace(parameter: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(parameter).filter(([name]) => !placeKeys.has(name)));
}

const placeKeys = new Set(['name', 'in', 'required', 'description']);

function parameterExample(parameter: DocumentPlace): Json | undefined {
  const { example } = parameter.members;
  if (example !== undefined) return example;
  return unlessBroken(() => parameter.at('examples').entries()[0]?.[1].members.value);
}
