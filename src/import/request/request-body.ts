import { isReadable } from 'market-mcp-contract/json';
import { isFormType, isJsonType, isMultipartType, parseMediaType } from '../media-type.ts';
import type { AuthorRequest, NameValue } from './author-request.ts';
import { type ExactJson, type ExactObject, exactJson } from './exact-body.ts';
import { RequestRefusal } from './request-refusal.ts';

/** The body of a request, by its content: its media type says nothing about JSON that many APIs accept as `text/plain`. */
export type RequestBody =
  | { readonly kind: 'json'; readonly value: ExactObject | readonly ExactJson[] }
  | { readonly kind: 'form'; readonly text: string }
  | { readonly kind: 'multipart'; readonly parts: readonly NameValue[] }
  | { readonly kind: 'text'; readonly text: string };

export function contentTypeOf({ headers }: Pick<AuthorRequest, 'headers'>): string {
  return headers.find(([name]) => name === 'content-type')?.[1] ?? '';
}

/** @throws RequestRefusal if a tool cannot send the body unchanged */
export function requestBody(request: AuthorRequest): RequestBody | null {
  const { body } = request;
  if (body === null || body === '') return null;
  if (typeof body !== 'string') return { kind: 'multipart', parts: body };
  const type = contentTypeOf(request);
  const value = parseBodyJson(body, type);
  if (typeof value === 'object' && value !== null) return { kind: 'json', value };
  if (isFormType(type) && isPairList(body)) return { kind: 'form', text: body };
  if (type === '')
    throw new RequestRefusal('has a body without a media type', "Add -H 'content-type: …' with its type.");
  return { kind: 'text', text: body };
}

/** @throws RequestRefusal if a body says that it is JSON and is not, or has too many values */
function parseBodyJson(text: string, type: string): ExactJson | undefined {
  if (!isJsonType(type) && !/^\s*[[{]/.test(text)) return undefined;
  let value: ExactJson;
  try {
    value = exactJson(text);
  } catch (error) {
    if (error instanceof RequestRefusal) throw error;
    if (!isJsonType(type)) return undefined;
    throw new RequestRefusal('has a body that is no valid JSON', 'Correct the data of the command.');
  }
  if (isReadable(value)) return value;
  throw new RequestRefusal(
    'has a body with too many values or levels',
    'Send less, or write the tool by hand.',
  );
}

/** Whether a text is `name=value` pairs, so that writing them again changes nothing. `SELECT 1` is not. */
function isPairList(text: string): boolean {
  return text.split('&').every((pair) => pair === '' || /^[^\s=<>{}"'(),;]+=/.test(pair));
}

/** A request whose multipart text, as browsers copy and record it, is its parts. */
export function withMultipartParts(request: AuthorRequest): AuthorRequest {
  const { body, headers } = request;
  const type = contentTypeOf(request);
  if (typeof body !== 'string' || body === '' || !isMultipartType(type)) return request;
  const boundary = parseMediaType(type)?.parameters.get('boundary') ?? '';
  const otherHeaders = headers.filter(([name]) => name !== 'content-type');
  return { ...request, headers: otherHeaders, body: multipartParts(body, boundary) };
}

/** The parts of a multipart text (RFC 7578). */
function multipartParts(text: string, boundary: string): readonly NameValue[] {
  const lines = `\r\n${text.replaceAll(/\r?\n/g, '\r\n')}`;
  const [, ...pieces] = lines.split(`\r\n--${boundary}`);
  const end = pieces.pop();
  if (boundary === '' || pieces.length === 0 || !end?.startsWith('--'))
    throw new RequestRefusal(
      'has a multipart body whose parts cannot be read',
      'Paste the whole command, or write -F name=value for each part.',
    );
  return pieces.map((piece) => {
    const [, head = '', content = ''] = /^\r\n(.*?)\r\n\r\n(.*)$/s.exec(piece) ?? [];
    const [, name = ''] = /^content-disposition:.*?;\s*name="([^"]*)"/im.exec(head) ?? [];
    if (/^content-disposition:.*?;\s*filename\*?=/im.test(head)) throw filePartRefusal(name);
    if (/^content-type:(?!\s*text\/plain\b)/im.test(head))
      throw new RequestRefusal(
        `has a part ${name} with a media type of its own`,
        'Remove the part, or write the tool by hand with partTypes.',
      );
    return [name, content];
  });
}

/** The refusal of a part that is a file. */
export function filePartRefusal(name: string): RequestRefusal {
  return new RequestRefusal(
    `has a file as its part ${name}, and a tool has no file`,
    'Remove the part, or write the tool by hand with the request option files.',
  );
}
