import { isObject, type JsonObject, membersOf, propertiesOf, requiredOf } from 'market-mcp-contract/json';
import type { BodyKind, QueryStyle } from '../model.ts';
import { DocumentRefusal, type Lost, type Place } from './document.ts';
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
export function describedBody(body: Place, lost: Lost): DescribedBody | null {
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
    return { kind, schema, isRequired, mediaType: type };
  }
  const schema = schemaOf(described, 'input', lost, kind === 'multipart');
  const encodings = media.at('encoding').entries();
  const objects = new Set(
    propertiesOf(schema).flatMap(([name, one]) => {
      const part = isObject(one.items) ? one.items : one;
      return isScalar(part) || holdsFile(part) ? [] : name;
    }),
  );
  const partTypes = new Map(
    encodings.flatMap(([name, { members: encoding, from }]) => {
      const { contentType: said, style, explode } = encoding;
      if (kind !== 'multipart') return [];
      if (style !== undefined || explode !== undefined)
        lost(from, 'has a style, which parts do not have: each value is a part');
      if (typeof said !== 'string' || !mediaType.test(said)) return [];
      if (!objects.has(name) || isJsonType(said)) return [[name, said] as const];
      lost(from, `is ${said}, which tools cannot write: it is sent as JSON`);
      return [];
    }),
  );
  const declared = new Map(
    encodings.map(([name, { members, from }]) => [
      name,
      isJsonText(members)
        ? 'json'
        : withReserved(members, styleOf(members) ?? 'form', (what) => lost(from, what)),
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
function isEmptyObject(schema: JsonObject): boolean {
  return schema.additionalProperties === false && Object.keys(membersOf(schema)).length === 0;
}
/** One media type, with parameters such as a character set. */
const mediaType = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w.-]+)*$/;

/** The first type that has a schema in the content of a body or a response, else the first. */
export function preferred(types: readonly string[], content: Place): string | undefined {
  return types.find((type) => hasSchema(content, type)) ?? types[0];
}

function hasSchema(content: Place, type: string): boolean {
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
  bodies: readonly Place[],
  schemaOfParameter: (parameter: Place) => JsonObject,
  lost: Lost,
): DescribedBody {
  const [whole] = bodies;
  if (whole?.members.in === 'body') {
    const schema = schemaOf(whole.at('schema'), 'input', lost);
    return { kind: 'json', schema, isRequired: whole.members.required === true };
  }
  const properties = bodies.map((parameter) => {
    const { members } = parameter;
    return [String(members.name), isFile(members) ? fileSchema(members) : schemaOfParameter(parameter)];
  });
  const all = bodies.map(({ members }) => members);
  const required = all.filter((one) => one.required === true).map(({ name }) => String(name));
  const lists = all.filter(({ type }) => type === 'array');
  const styles = new Map(lists.map((one) => [String(one.name), oldStyleOf(one) ?? 'form']));
  return {
    kind: all.some(isFile) ? 'multipart' : 'form',
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
