import { isObject, type JsonObject, membersOf, propertiesOf, requiredOf } from 'market-mcp-contract/json';
import type { BodyKind, QueryStyle } from '../model.ts';
import { type DocumentPlace, DocumentRefusal, type Lost } from './document.ts';
import { fileSchema, holdsFile, isBinaryType, isFile } from './file.ts';
import { schemaOf } from './schema.ts';
import { isScalar, oldStyleOf, styleOf, withReserved } from './style.ts';

/** The body of a request as its document describes it. */
export interface DescribedBody {
  readonly kind: BodyKind;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Of a binary body. */
  readonly mediaType?: string;
  /** What is said of members of a form. */
  readonly parts: ReadonlyMap<string, BodyPart>;
}

/** How a member of a form is sent: its style, or its media type in a multipart body. */
interface BodyPart {
  readonly style?: QueryStyle;
  readonly mediaType?: string;
}

/**
 * The `requestBody` of an operation: of several media types the first of JSON, form, multipart and binary. Null if it declares
 * nothing, if it is optional and may have no members, or if it is optional and of another type.
 *
 * @throws Refusal if a required body has another type
 */
export function describedBody(body: DocumentPlace, lost: Lost): DescribedBody | null {
  const content = body.at('content');
  const types = Object.keys(content.members);
  const isRequired = body.members.required === true;
  const [chosen] = kinds.flatMap(([kind, accepts]) => {
    const accepted = types.filter((type) => accepts(type, hasSchema(content, type)));
    const type = preferred(accepted, content);
    return type === undefined ? [] : [{ kind, type }];
  });
  if (chosen === undefined) {
    if (types.length === 0 || !isRequired) return null;
    const listed = types.join(', ');
    throw new DocumentRefusal(
      `it takes a body of ${listed}; only JSON, forms and files are supported`,
      body.from,
    );
  }
  const { kind, type } = chosen;
  const media = content.at(type);
  const described = media.at('schema');
  if (!isRequired && isEmptyObject(described.members)) return null;
  if (kind === 'binary') {
    const schema = fileSchema({ description: body.members.description ?? '', ...described.members });
    return { kind, schema, isRequired, mediaType: type, parts: new Map() };
  }
  const schema = schemaOf(described, 'input', lost, kind === 'multipart');
  const encodings = media.at('encoding').entries();
  const parts = encodings.map(([name, encoding]) => {
    const [, member] = propertiesOf(schema).find(([own]) => own === name) ?? [];
    return [name, partOf(encoding, member, kind, lost)] as const;
  });
  // Many documents do not say that a body is required whose members are.
  return { kind, schema, isRequired: isRequired || requiredOf(schema).length > 0, parts: new Map(parts) };
}

/** @param schema of the member that an encoding is for, if there is one */
function partOf(
  { members: encoding, from }: DocumentPlace,
  schema: JsonObject | undefined,
  kind: BodyKind,
  lost: Lost,
): BodyPart {
  const { contentType, style: said, explode } = encoding;
  const note = (what: string) => lost(from, what);
  const style = isJsonText(encoding) ? 'json' : withReserved(encoding, styleOf(encoding) ?? 'form', note);
  if (kind !== 'multipart') return { style };
  if (said !== undefined || explode !== undefined)
    note('has a style, which parts do not have: each value is a part');
  if (typeof contentType !== 'string' || !mediaType.test(contentType)) return {};
  const part = isObject(schema?.items) ? schema.items : schema;
  if (!part || isScalar(part) || holdsFile(part) || isJsonType(contentType))
    return { mediaType: contentType };
  note(`is ${contentType}, which tools cannot write: it is sent as JSON`);
  return {};
}

/** Whether a member of a form is JSON: its type counts if no style is given (OpenAPI 3.1, "Encoding Object"). */
function isJsonText({ contentType, style, explode, allowReserved }: JsonObject): boolean {
  const isStyled = [style, explode, allowReserved].some((one) => one !== undefined);
  return !isStyled && typeof contentType === 'string' && isJsonType(contentType);
}

/** Whether only `{}` matches: Stripe declares such a body for each operation without one. */
function isEmptyObject(schema: JsonObject): boolean {
  return schema.additionalProperties === false && Object.keys(membersOf(schema)).length === 0;
}
/** One media type, with parameters such as a character set. */
const mediaType = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w.-]+)*$/;

/** The first type that has a schema in the content of a body or a response, else the first. */
export function preferred(types: readonly string[], content: DocumentPlace): string | undefined {
  return types.find((type) => hasSchema(content, type)) ?? types[0];
}

function hasSchema(content: DocumentPlace, type: string): boolean {
  return content.at(type, 'schema').given !== undefined;
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
  bodies: readonly DocumentPlace[],
  schemaOfParameter: (parameter: DocumentPlace) => JsonObject,
  lost: Lost,
): DescribedBody {
  const [whole] = bodies;
  if (whole?.members.in === 'body') {
    const schema = schemaOf(whole.at('schema'), 'input', lost);
    return { kind: 'json', schema, isRequired: whole.members.required === true, parts: new Map() };
  }
  const properties = bodies.map((parameter) => {
    const { members } = parameter;
    return [String(members.name), isFile(members) ? fileSchema(members) : schemaOfParameter(parameter)];
  });
  const all = bodies.map(({ members }) => members);
  const required = all.filter((one) => one.required === true).map(({ name }) => String(name));
  const parts = all.map((one) => [String(one.name), { style: oldStyleOf(one) ?? 'form' }] as const);
  return {
    kind: all.some(isFile) ? 'multipart' : 'form',
    schema: { type: 'object', properties: Object.fromEntries(properties), required },
    isRequired: true,
    parts: new Map(parts),
  };
}

export function mayBeJson(type: string): boolean {
  return type === '*/*' || isJsonType(type);
}

export function isJsonType(type: string): boolean {
  return /^(?:application|text)\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type);
}
