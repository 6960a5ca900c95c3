import { SourceError } from './errors.ts';
import { type Parameter, pairsOf, type QueryStyle, textOf } from './request.ts';

type Values = { readonly [name: string]: Parameter };

/** What a request carries; one of the kinds at most. */
export interface BodyParts {
  readonly json?: unknown;
  /** Members as `a=1&b[c]=2`, the only body that some APIs accept. */
  readonly form?: Values;
  /** How lists and objects of the form are written, by member; `deepObject` by default. */
  readonly formStyles?: { readonly [name: string]: QueryStyle };
  /** Parts of a multipart form; lists are several parts of the same name. */
  readonly multipart?: Values;
  /** The parts that are files, in base64. */
  readonly files?: { readonly [part: string]: { readonly name?: unknown; readonly type?: string } };
  /** A file in base64 that is the whole body. */
  readonly binary?: unknown;
  /** The media type of `binary`. */
  readonly contentType?: string;
}

/** The body of a request; it can be sent more than once. */
export interface Body {
  readonly type: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

/** @throws SourceError `INVALID_ARGUMENTS` if a file is not in base64 */
export async function bodyOf({
  json,
  form,
  formStyles = {},
  multipart,
  files = {},
  binary,
  contentType = 'application/octet-stream',
}: BodyParts): Promise<Body | null> {
  if (multipart !== undefined) return multipartBody(multipart, files);
  if (binary !== undefined && binary !== null) {
    return { type: contentType, content: bytesOf('body', binary) };
  }
  if (form !== undefined) {
    const pairs = Object.entries(form).flatMap(([name, value]) =>
      pairsOf(name, value, formStyles[name] ?? 'deepObject'),
    );
    return { type: 'application/x-www-form-urlencoded', content: pairs.join('&') };
  }
  return json === undefined ? null : { type: 'application/json', content: JSON.stringify(json) };
}

async function multipartBody(parts: Values, files: BodyParts['files'] & object): Promise<Body> {
  const data = new FormData();
  for (const [name, value] of Object.entries(parts)) {
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    for (const one of [value].flat()) {
      if (one === undefined || one === null) continue;
      if (!file) data.append(name, typeof one === 'object' ? jsonPart(one) : textOf(one));
      else {
        const blob = new Blob([bytesOf(name, one)], { type: file.type ?? 'application/octet-stream' });
        data.append(name, blob, String(file.name ?? 'file'));
      }
    }
  }
  const encoded = new Response(data);
  const type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { type, content: new Uint8Array(await encoded.arrayBuffer()) };
}

function jsonPart(value: object): Blob {
  return new Blob([JSON.stringify(value)], { type: 'application/json' });
}

/** The bytes of a file. `Buffer.from` alone would skip what is not base64. */
function bytesOf(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  const text = String(value);
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text))
    return new Uint8Array(Buffer.from(text, 'base64'));
  throw new SourceError('INVALID_ARGUMENTS', `arguments: ${name} must be the content of a file in base64`);
}
