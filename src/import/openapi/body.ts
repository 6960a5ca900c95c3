import {
  below,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  propertiesOf,
  requiredOf,
} from 'market-mcp-contract/json';
import type { BodyKind, QueryStyle } from '../model.ts';
import { DocumentRefusal, type Lost, type OpenApiDocument, type Resolved } from './document.ts';
import { fileSchema, holdsFile, isBinaryType, isFile } from './file.ts';
import { schemaOf } from './schema.ts';
import { isScalar, oldStyleOf, styleOf, withReserved } from './style.ts';

/** The body of a request as its document describes it. */
export interface DescribedBody {
  readonly kind: BodyKind;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Of a binary body; of the parts of a multipart body, by name. */
  readonly mediaType?: string;
  readonly partTypes?: ReadonlyMap<string, string>;
  /** How a form writes its lists and objects, by member. */
  readonly styles?: ReadonlyMap<string, QueryStyle>;
}

/**
 * The `requestBody` of an operation: of several media types the first of JSON, form, multipart and binary. Null if it declares
 * nothing, if it is optional and may have no members, or if it is optional and of another type.
 *
 * @throws Refusal if a required body has another type
 */
export function describedBody(
  document: OpenApiDocument,
  given: Json,
  pointer: string,
  lost: Lost,
): DescribedBody | null {
  const body = document.object(given, pointer);
  const content = body && isObject(body.value.content) ? body.value.content : {};
  const types = Object.keys(content);
  const isRequired = body?.value.required === true;
  const hasSchema = (type: string) => isObject(content[type]) && content[type].schema !== undefined;
  const chosen = kinds
    .map(
      ([kind, accepts]) =>
        [
          kind,
          preferred(
            types.filter((type) => accepts(type, hasSchema(type))),
            hasSchema,
          ),
        ] as const,
    )
    .find((pair): pair is [BodyKind, string] => pair[1] !== undefined);
  if (!body || chosen === undefined) {
    if (types.length === 0 || !isRequired) return null;
    const listed = types.join(', ');
    throw new DocumentRefusal(
      `it takes a body of ${listed}; only JSON, forms and files are supported`,
      pointer,
    );
  }
  const [kind, type] = chosen;
  const media = isObject(content[type]) ? content[type] : {};
  const at = below(body.pointer, 'content', type, 'schema');
  if (!isRequired && isEmptyObject(document.follow(media.schema, at).value)) return null;
  if (kind === 'binary') {
    const { value } = document.follow(media.schema, at);
    const schema = fileSchema({ description: body.value.description ?? '', ...(isObject(value) && value) });
    return { kind, schema, isRequired, mediaType: type };
  }
  const schema = schemaOf(document, media.schema, at, 'input', lost, kind === 'multipart');
  const encodings = Object.entries(isObject(media.encoding) ? media.encoding : {}).filter(
    (pair): pair is [string, JsonObject] => isObject(pair[1]),
  );
  const noteOf = (name: string) => (what: string) =>
    lost(below(body.pointer, 'content', type, 'encoding', name), what);
  const objects = new Set(
    propertiesOf(schema).flatMap(([name, one]) => {
      const part = isObject(one.items) ? one.items : one;
      return isScalar(part) || holdsFile(part) ? [] : name;
    }),
  );
  const partTypes = new Map(
    encodings.flatMap(([name, { contentType: said, style, explode }]) => {
      if (kind !== 'multipart') return [];
      if (style !== undefined || explode !== undefined)
        noteOf(name)('has a style, which parts do not have: each value is a part');
      if (typeof said !== 'string' || !mediaType.test(said)) return [];
      if (!objects.has(name) || isJsonType(said)) return [[name, said] as const];
      noteOf(name)(`is ${said}, which tools cannot write: it is sent as JSON`);
      return [];
    }),
  );
  const declared = new Map(
    encodings.map(([name, encoding]) => [
      name,
      isJsonText(encoding) ? 'json' : withReserved(encoding, styleOf(encoding) ?? 'form', noteOf(name)),
    ]),
  );
  const styles = new Map(
    propertiesOf(schema).flatMap(([name, member]) => {
      const style = declared.get(name) ?? 'form';
      return isScalar(member) && style !== 'reserved' ? [] : [[name, style] as const];
    }),
  );
  return {
    kind,
    schema,
    // Many documents do not say that a body is required whose members are.
    isRequired: isRequired || requiredOf(schema).length > 0,
    partTypes,
    ...(kind === 'form' && { styles }),
  };
}

/** Whether a member of a form is JSON: its type counts if no style is given (OpenAPI 3.1, "Encoding Object"). */
function isJsonText({ contentType, style, explode, allowReserved }: JsonObject): boolean {
  const isStyled = [style, explode, allowReserved].some((one) => one !== undefined);
  return !isStyled && typeof contentType === 'string' && isJsonType(contentType);
}

/** Whether only `{}` matches: Stripe declares such a body for each operation without one. */
function isEmptyObject(schema: Json): boolean {
  return (
    isObject(schema) && schema.additionalProperties === false && Object.keys(membersOf(schema)).length === 0
  );
}
/** One media type, with parameters such as a character set. */
const mediaType = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w.-]+)*$/;

/** The first type whose description has a schema, else the first. */
export function preferred(
  types: readonly string[],
  hasSchema: (type: string) => boolean,
): string | undefined {
  return types.find(hasSchema) ?? types[0];
}

const kinds: readonly (readonly [BodyKind, (type: string, hasSchema: boolean) => boolean])[] = [
  ['json', isJsonType],
  ['form', (type) => type.startsWith('application/x-www-form-urlencoded')],
  ['multipart', (type) => type.startsWith('multipart/form-data')],
  ['json', (type, hasSchema) => (type === '*/*' || type === '') && hasSchema],
  ['binary', isBinaryType],
];

/**
 * `in: body` and `in: formData` of Swagger 2.0.
 *
 * @param schemaOfParameter the converted schema of a parameter
 */
export function describedParameters(
  document: OpenApiDocument,
  bodies: readonly Resolved<JsonObject>[],
  schemaOfParameter: (parameter: Resolved<JsonObject>) => JsonObject,
  lost: Lost,
): DescribedBody {
  const [whole] = bodies;
  if (whole?.value.in === 'body') {
    const at = below(whole.pointer, 'schema');
    const schema = schemaOf(document, whole.value.schema, at, 'input', lost);
    return { kind: 'json', schema, isRequired: whole.value.required === true };
  }
  const properties = bodies.map((parameter) => {
    const { value } = parameter;
    return [String(value.name), isFile(value) ? fileSchema(value) : schemaOfParameter(parameter)];
  });
  const required = bodies
    .filter(({ value }) => value.required === true)
    .map(({ value }) => String(value.name));
  const lists = bodies.filter(({ value }) => value.type === 'array');
  const styles = new Map(lists.map(({ value }) => [String(value.name), oldStyleOf(value) ?? 'form']));
  return {
    kind: bodies.some(({ value }) => isFile(value)) ? 'multipart' : 'form',
    schema: { type: 'object', properties: Object.fromEntries(properties), required },
    isRequired: true,
    styles,
  };
}

export function mayBeJson(type: string): boolean {
  return type === '*/*' || isJsonType(type);
}

export function isJsonType(type: string): boolean {
  return /^(?:application|text)\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type);
}
