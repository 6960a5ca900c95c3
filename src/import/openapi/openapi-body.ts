import {
  isObject,
  type JsonObject,
  membersOf,
  propertiesOf,
  requiredOf,
  textOr,
} from 'market-mcp-contract/json';
import type { BodyKind, QueryStyle } from '../imported-tool.ts';
import {
  isBinaryType,
  isFormType,
  isJsonType,
  isMultipartType,
  parseMediaType,
  preferredJsonTypes,
} from '../media-type.ts';
import { fileSchema, holdsFile, isFile } from './file.ts';
import { type DocumentPlace, DocumentRefusal, type Lost } from './openapi-document.ts';
import { documentTypes } from './openapi-keywords.ts';
import { schemaOf } from './openapi-schema.ts';
import { hasScalarType, oldStyleOf, styleOf, withReserved } from './style.ts';

/** The body of a request as its document describes it. */
export interface DescribedBody {
  readonly kind: BodyKind;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Absent if it is the usual one of the kind. */
  readonly mediaType?: string | undefined;
  /** The declarations of the members of a form. */
  readonly parts: ReadonlyMap<string, BodyPart>;
}

/** How a member of a form is sent: its style, or its media type in a multipart body. */
interface BodyPart {
  readonly style?: QueryStyle;
  readonly mediaType?: string;
}

/**
 * The `requestBody` of an operation: of several media types the first of JSON, form, multipart and binary. Null if it declares
 * nothing, if it is optional and may have no members, or if it is optional and of another type, which is reported.
 *
 * @throws Refusal if a required body has another type
 */
export function describedBody(body: DocumentPlace, lost: Lost): DescribedBody | null {
  const content = body.at('content');
  const types = Object.keys(content.members);
  if (types.length === 0) return null;
  const isRequired = body.members.required === true;
  const isList = (type: string) => documentTypes(content.at(type, 'schema').members).includes('array');
  const chosenType = chooseType(types, content, isList);
  if (chosenType === undefined) {
    reportUnsupported(types, isRequired, body, lost);
    return null;
  }
  const { kind, type } = chosenType;
  const media = content.at(type);
  const described = media.at('schema');
  if (!isRequired && isEmptyObject(described.members)) return null;
  if (kind === 'binary') {
    const schema = fileSchema({ description: body.members.description ?? '', ...described.members });
    return { kind, schema, isRequired, mediaType: type, parts: new Map() };
  }
  const mediaType = mediaTypeOf(kind, type);
  const schema = schemaOf(described, 'input', lost, kind === 'multipart');
  const encodings = media.at('encoding').entries();
  const parts = encodings.map(([name, encoding]) => {
    const [, member] = propertiesOf(schema).find(([memberName]) => memberName === name) ?? [];
    return [name, encodedPart(encoding, member, kind, lost)] as const;
  });
  // Many documents do not say that a body is required whose members are.
  return {
    kind,
    schema,
    isRequired: isRequired || requiredOf(schema).length > 0,
    mediaType,
    parts: new Map(parts),
  };
}

interface ChosenType {
  readonly kind: BodyKind;
  readonly type: string;
}

/** Chooses the media type to send among those of a body: the first of JSON, form, multipart and binary. */
function chooseType(
  types: readonly string[],
  content: DocumentPlace,
  isList: (type: string) => boolean,
): ChosenType | undefined {
  const candidates: readonly (readonly [BodyKind, readonly string[]])[] = [
    ['json', preferredJsonTypes(types, isList)],
    ['form', types.filter(isFormType)],
    ['multipart', types.filter(isMultipartType)],
    ['json', types.filter((type) => isAnyType(type) && hasSchema(content, type))],
    ['binary', types.filter(isBinaryType)],
  ];
  for (const [kind, accepted] of candidates) {
    const type = preferred(accepted, content);
    if (type !== undefined) return { kind, type };
  }
  return undefined;
}

/** Whether a body may have any type, so that the usual one of JSON is one of them. */
function isAnyType(type: string): boolean {
  return (
    type === '' || parseMediaType(type)?.name === '*/*' || parseMediaType(type)?.name === 'application/*'
  );
}

/** The declared type of a body; undefined if it is the usual one of its kind. A multipart body writes its own. */
function mediaTypeOf(kind: BodyKind, type: string): string | undefined {
  const isUsual = type === 'application/json' || type === 'application/x-www-form-urlencoded';
  if (kind === 'multipart' || isUsual || isAnyType(type)) return undefined;
  return type.trim();
}

/**
 * Reports an optional body of a type that tools cannot send.
 *
 * @throws Refusal if the body is required
 */
function reportUnsupported(
  types: readonly string[],
  isRequired: boolean,
  { from }: DocumentPlace,
  lost: Lost,
): void {
  const supported = 'only JSON, forms and files are supported';
  const listed = types.join(', ');
  if (isRequired) throw new DocumentRefusal(`it takes a body of ${listed}; ${supported}`, from);
  lost(from, `is an optional body of ${listed}, which is not sent: ${supported}`);
}

/** @param schema of the member that an encoding is for, if there is one */
function encodedPart(
  { members: encoding, from }: DocumentPlace,
  schema: JsonObject | undefined,
  kind: BodyKind,
  lost: Lost,
): BodyPart {
  const { contentType, style: declaredStyle, explode } = encoding;
  const note = (loss: string) => lost(from, loss);
  const style = isJsonText(encoding) ? 'json' : withReserved(encoding, styleOf(encoding) ?? 'form', note);
  if (kind !== 'multipart') return { style };
  if (declaredStyle !== undefined || explode !== undefined)
    note('has a style, which parts do not have: each value is a part');
  if (typeof contentType !== 'string' || parseMediaType(contentType) === null) return {};
  const part = isObject(schema?.items) ? schema.items : schema;
  if (!part || hasScalarType(part) || holdsFile(part) || isJsonType(contentType))
    return { mediaType: contentType };
  note(`is ${contentType}, which tools cannot write: it is sent as JSON`);
  return {};
}

/** Whether a member of a form is JSON: its type counts if no style is given (OpenAPI 3.1, "Encoding Object"). */
function isJsonText({ contentType, style, explode, allowReserved }: JsonObject): boolean {
  const isStyled = [style, explode, allowReserved].some((setting) => setting !== undefined);
  return !isStyled && typeof contentType === 'string' && isJsonType(contentType);
}

/** Whether only `{}` matches: Stripe declares such a body for each operation without one. */
function isEmptyObject(schema: JsonObject): boolean {
  return schema.additionalProperties === false && Object.keys(membersOf(schema)).length === 0;
}

/** The first type that has a schema in the content of a body or a response, else the first. */
export function preferred(types: readonly string[], content: DocumentPlace): string | undefined {
  return types.find((type) => hasSchema(content, type)) ?? types[0];
}

function hasSchema(content: DocumentPlace, type: string): boolean {
  return content.at(type, 'schema').given !== undefined;
}

/**
 * `in: body` and `in: formData` of Swagger 2.0.
 *
 * @param consumes the media types of the operation
 * @param schemaOfParameter the converted schema of a parameter
 */
export function describedParameters(
  bodies: readonly DocumentPlace[],
  consumes: readonly string[],
  schemaOfParameter: (parameter: DocumentPlace) => JsonObject,
  lost: Lost,
): DescribedBody | null {
  const [wholeBody] = bodies;
  if (wholeBody?.members.in === 'body') return describedWhole(wholeBody, consumes, lost);
  const properties = bodies.map((parameter) => {
    const { members } = parameter;
    return [textOr(members.name), isFile(members) ? fileSchema(members) : schemaOfParameter(parameter)];
  });
  const parameters = bodies.map(({ members }) => members);
  const required = parameters
    .filter((parameter) => parameter.required === true)
    .map(({ name }) => textOr(name));
  const parts = parameters.map(
    (parameter) => [textOr(parameter.name), { style: oldStyleOf(parameter) ?? 'form' }] as const,
  );
  const isMultipart =
    parameters.some(isFile) || (consumes.some(isMultipartType) && !consumes.some(isFormType));
  if (isMultipart) reportJoinedLists(bodies, lost);
  return {
    kind: isMultipart ? 'multipart' : 'form',
    schema: { type: 'object', properties: Object.fromEntries(properties), required },
    isRequired: true,
    parts: new Map(parts),
  };
}

/** Reports lists that Swagger 2.0 joins with a separator: a multipart body has a part for each value. */
function reportJoinedLists(parameters: readonly DocumentPlace[], lost: Lost): void {
  for (const { members, pointer } of parameters) {
    if (oldStyleOf(members) !== undefined)
      lost(pointer, 'has a style, which parts do not have: each value is a part');
  }
}

/** `in: body` of Swagger 2.0, whose media types the operation states. */
function describedWhole(
  parameter: DocumentPlace,
  consumes: readonly string[],
  lost: Lost,
): DescribedBody | null {
  const isRequired = parameter.members.required === true;
  const described = parameter.at('schema');
  const isList = () => documentTypes(described.members).includes('array');
  const types = consumes.length > 0 ? consumes : ['application/json'];
  const [type = types.find(isAnyType)] = preferredJsonTypes(types, isList);
  if (type !== undefined) {
    const schema = schemaOf(described, 'input', lost);
    return { kind: 'json', schema, isRequired, mediaType: mediaTypeOf('json', type), parts: new Map() };
  }
  const binaryType = types.find(isBinaryType);
  if (binaryType === undefined) {
    reportUnsupported(types, isRequired, parameter, lost);
    return null;
  }
  const schema = fileSchema({ description: parameter.members.description ?? '', ...described.members });
  return { kind: 'binary', schema, isRequired, mediaType: binaryType, parts: new Map() };
}
