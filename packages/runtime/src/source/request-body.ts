// The body of a request: JSON, form, multipart, text or a file.

import { asInteger, writeLiterally } from '../server/exact-numbers.ts';
import { isObject } from '../server/schema.ts';
import { ownMember, type Parameter, pairsOf, parameterText, type QueryStyle } from './request-parameters.ts';
import { SourceError } from './source-errors.ts';

type Values = { readonly [name: string]: Parameter };

/** What a request carries; one of the kinds at most. */
export interface BodyParts {
  readonly json?: unknown;
  /**
   * Paths in `json` of texts of digits that are sent as integers of any size: `id`, `items[].id`, `params[0]`,
   * `filter["user.id"]`.
   */
  readonly integers?: readonly string[];
  /** Members as `a=1&b[c]=2`, the only body that some APIs accept. */
  readonly form?: Values;
  /** How lists and objects of the form are written, by member; `deepObject` by default. */
  readonly formStyles?: { readonly [name: string]: QueryStyle };
  /** Parts of a multipart form; lists are several parts of the same name. */
  readonly multipart?: Values;
  /** The media types of other parts; an object is `application/json` by default. */
  readonly partTypes?: { readonly [part: string]: string };
  /** The parts that are files, in base64. */
  readonly files?: { readonly [part: string]: { readonly name?: unknown; readonly type?: string } };
  /** A text that is the whole body, sent unchanged. */
  readonly text?: unknown;
  /** A file in base64 that is the whole body. */
  readonly binary?: unknown;
  /** The media type of the body, unless it is the usual one of its kind. A multipart body ignores it. */
  readonly contentType?: string;
}

/** The body of a request; it can be sent more than once. */
export interface Body {
  readonly type: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

/** A request whose form or JSON object also has these members. */
export function withBodyMembers<T extends BodyParts>(
  parts: T,
  extraMembers: readonly (readonly [string, string])[],
): T {
  const kind = (['json', 'form', 'multipart'] as const).find((kindName) => isObject(parts[kindName]));
  if (kind === undefined || extraMembers.length === 0) return parts;
  return { ...parts, [kind]: { ...(parts[kind] as object), ...Object.fromEntries(extraMembers) } };
}

/** @throws SourceError `INVALID_ARGUMENTS` if a file is not in base64 */
export function requestBody({
  json,
  integers = [],
  form,
  formStyles = {},
  multipart,
  partTypes = {},
  files = {},
  text,
  binary,
  contentType,
}: BodyParts): Body | null {
  if (multipart !== undefined) return multipartBody(multipart, files, partTypes);
  if (binary !== undefined && binary !== null) {
    return { type: contentType ?? 'application/octet-stream', content: decodeBase64('body', binary) };
  }
  if (text !== undefined && text !== null) {
    return { type: contentType ?? 'text/plain', content: parameterText(text) };
  }
  if (form !== undefined) {
    const pairs = Object.entries(form).flatMap(([name, value]) =>
      pairsOf(name, value, ownMember(formStyles, name) ?? 'deepObject'),
    );
    return { type: contentType ?? 'application/x-www-form-urlencoded', content: pairs.join('&') };
  }
  if (json === undefined) return null;
  const value = integers.map(pathSteps).reduce(withInteger, json);
  return {
    type: contentType ?? 'application/json',
    content: integers.length > 0 ? writeLiterally(value) : JSON.stringify(json),
  };
}

/** A step of a path: the name of a member, the index of an item, or each item. */
type Step = string | number | typeof eachItem;

const eachItem = Symbol('each item');

function pathSteps(path: string): readonly Step[] {
  const steps = path.matchAll(/\[(\d*)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g);
  return [...steps].map(([, index, quotedName, name]): Step => {
    if (index === '') return eachItem;
    if (index !== undefined) return Number(index);
    if (quotedName === undefined) return name ?? '';
    return JSON.parse(quotedName);
  });
}

/** A value whose text at this place is written as an integer. */
function withInteger(value: unknown, [step, ...laterSteps]: readonly Step[]): unknown {
  if (step === undefined) return asInteger(value);
  if (typeof step === 'string') {
    if (!isObject(value) || !Object.hasOwn(value, step)) return value;
    return { ...value, [step]: withInteger(value[step], laterSteps) };
  }
  if (!Array.isArray(value)) return value;
  return value.map((item, index) =>
    step === eachItem || step === index ? withInteger(item, laterSteps) : item,
  );
}

function fileNameParameter(name: unknown): string {
  return `; filename="${quotePartName(String(name ?? 'file'))}"`;
}

type PartContent = readonly [type: string | undefined, content: string | Uint8Array];

function fileContent(name: string, item: unknown, type = 'application/octet-stream'): PartContent {
  return [type, decodeBase64(name, item)];
}

function partContent(item: unknown, type: string | undefined): PartContent {
  if (typeof item === 'object') return [type ?? 'application/json', JSON.stringify(item)];
  return [type, parameterText(item).replaceAll(/\r\n?|\n/g, '\r\n')];
}

/** A form of parts (RFC 7578). `FormData` would name JSON parts as files. */
function multipartBody(
  parts: Values,
  files: BodyParts['files'] & object,
  types: BodyParts['partTypes'] & object,
): Body {
  const boundary = `form-${crypto.randomUUID()}`;
  const chunks: (string | Uint8Array)[] = [];
  for (const [name, value] of Object.entries(parts)) {
    const file = ownMember(files, name);
    const fileName = file ? fileNameParameter(file.name) : '';
    for (const item of [value].flat()) {
      if (item === undefined || item === null) continue;
      const [type, content] = file
        ? fileContent(name, item, file.type)
        : partContent(item, ownMember(types, name));
      const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`;
      const head = `Content-Disposition: form-data; name="${quotePartName(name)}"${fileName}\r\n${typed}`;
      chunks.push(`--${boundary}\r\n${head}\r\n`, content, '\r\n');
    }
  }
  chunks.push(`--${boundary}--\r\n`);
  const content = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
  return { type: `multipart/form-data; boundary=${boundary}`, content };
}

/** A name in a header of a part, as browsers write it. */
function quotePartName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

/** The bytes of a file. `Buffer.from` would skip characters that are not base64. */
function decodeBase64(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  const text = String(value);
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text))
    return new Uint8Array(Buffer.from(text, 'base64'));
  throw new SourceError('INVALID_ARGUMENTS', `arguments: ${name} must be the content of a file in base64`);
}
