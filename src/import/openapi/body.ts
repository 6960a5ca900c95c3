import { isObject } from '../../contract/json.ts';
import type { Json, JsonObject } from '../../contract/model.ts';
import { below } from '../../contract/schema/schema.ts';
import type { BodyKind } from '../model.ts';
import { type Found, type OpenApiDocument, Refusal } from './document.ts';
import { fileSchema, isBinaryType, isFile } from './file.ts';
import { schemaOf } from './schema.ts';

type Lost = (pointer: string, what: string) => void;

/** The body of a request as its document describes it. */
export interface DescribedBody {
  readonly kind: BodyKind;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Of a binary body; of the parts of a multipart body, by name. */
  readonly mediaType?: string;
  readonly partTypes?: ReadonlyMap<string, string>;
}

/**
 * The `requestBody` of an operation: of several media types the first of JSON, form, multipart and binary. Null if it declares
 * nothing, or if it is optional and of another type.
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
  const chosen = kinds
    .map(([kind, accepts]) => [kind, types.find(accepts)] as const)
    .find((pair): pair is [BodyKind, string] => pair[1] !== undefined);
  if (!body || chosen === undefined) {
    if (types.length === 0 || !isRequired) return null;
    const listed = types.join(', ');
    throw new Refusal(`it takes a body of ${listed}; only JSON, forms and files are supported`, pointer);
  }
  const [kind, type] = chosen;
  const media = isObject(content[type]) ? content[type] : {};
  const at = below(body.pointer, 'content', type, 'schema');
  if (kind === 'binary') {
    const { value } = document.follow(media.schema, at);
    const schema = fileSchema({ description: body.value.description ?? '', ...(isObject(value) && value) });
    return { kind, schema, isRequired, mediaType: type };
  }
  const schema = schemaOf(document, media.schema, at, 'input', lost, kind === 'multipart');
  const partTypes = new Map(
    Object.entries(isObject(media.encoding) ? media.encoding : {}).flatMap(([name, encoding]) => {
      const said = isObject(encoding) && encoding.contentType;
      return typeof said === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(said) ? [[name, said] as const] : [];
    }),
  );
  return { kind, schema, isRequired, partTypes };
}

const kinds: readonly (readonly [BodyKind, (type: string) => boolean])[] = [
  ['json', isJsonType],
  ['form', (type) => type.startsWith('application/x-www-form-urlencoded')],
  ['multipart', (type) => type.startsWith('multipart/form-data')],
  ['binary', isBinaryType],
];

/**
 * `in: body` and `in: formData` of Swagger 2.0.
 *
 * @param schemaOfParameter the converted schema of a parameter
 */
export function describedParameters(
  document: OpenApiDocument,
  bodies: readonly Found<JsonObject>[],
  schemaOfParameter: (parameter: Found<JsonObject>) => JsonObject,
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
  return {
    kind: bodies.some(({ value }) => isFile(value)) ? 'multipart' : 'form',
    schema: { type: 'object', properties: Object.fromEntries(properties), required },
    isRequired: true,
  };
}

export function isJsonType(type: string): boolean {
  return /^(?:application|text)\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type);
}
