import { pass, type Result } from 'market-mcp-contract/command';
import { isObject, type Json, type JsonObject, objectOr, textOr } from 'market-mcp-contract/json';
import { mayBeJson } from '../media-type.ts';
import type { AuthorRequest, Method, NameValue } from './author-request.ts';
import { filePartRefusal, withMultipartParts } from './request-body.ts';
import { catchRefusal, RequestRefusal } from './request-refusal.ts';

/** Parses the text of a HAR file into its requests that were answered with JSON. */
export function parseHar(text: string): Result<readonly AuthorRequest[]> {
  return catchRefusal(() => pass(harRequests(parseHarJson(text.replace(/^\ufeff/, '')))));
}

/** Parses the JSON of a HAR file; null for a text that is no JSON object. */
function parseHarJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/^\s*\{/.test(text)) return null;
    // The rest of the message quotes the file, which contains keys.
    const [position = ''] = / at position \d+/.exec((error as Error).message) ?? [];
    throw new RequestRefusal(`is no valid JSON${position}`, 'Save the HAR file again, as a whole.');
  }
}

/**
 * Returns the recorded requests that were answered with JSON (HAR 1.2 §log.entries), in the order of the file.
 *
 * @throws RequestRefusal if there are none
 */
export function harRequests(value: Json): readonly AuthorRequest[] {
  const entries = objectOr(objectOr(value).log).entries;
  if (!Array.isArray(entries))
    throw new RequestRefusal(
      'is neither a curl command nor a HAR file',
      'Give a text that begins with curl, or a HAR file.',
    );
  const requests: AuthorRequest[] = [];
  for (const [index, entry] of (entries as readonly Json[]).entries()) {
    const { request, response } = objectOr(entry);
    const sendableRequest = isAnsweredWithJson(response) ? harRequest(objectOr(request)) : null;
    if (sendableRequest !== null) requests.push({ ...sendableRequest, number: index + 1 });
  }
  if (requests.length === 0)
    throw new RequestRefusal(
      'contains no request that was answered with JSON',
      'Record the traffic while the page loads its data.',
    );
  return requests;
}

/** Whether an entry has a response whose content or media type is JSON. A blocked request has the status 0. */
function isAnsweredWithJson(response: Json | undefined): boolean {
  if (!isObject(response) || response.status === 0) return false;
  const { mimeType, text, encoding } = objectOr(objectOr(response).content);
  const type = textOr(mimeType, 'application/json');
  if (mayBeJson(type) || /json/.test(type)) return true;
  if (typeof text !== 'string') return false;
  const content = encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text;
  return /^\s*[[{]/.test(content);
}

/** The request of an entry; null if no tool can send one of its kind. If its body cannot be sent, it has the refusal. */
function harRequest({ method, url, headers, postData }: JsonObject): AuthorRequest | null {
  const name = textOr(method).toLowerCase();
  const address = textOr(url);
  const isSendable = /^(?:get|post|put|patch|delete)$/.test(name) && /^https?:/.test(address);
  if (!isSendable || !URL.canParse(address)) return null;
  const request: AuthorRequest = {
    method: name as Method,
    url: address.replace(/#.*$/s, ''),
    headers: pairsIn(headers).map(([header, text]) => [header.toLowerCase(), text] as const),
    body: null,
    shellVariables: null,
  };
  try {
    return withHarBody(request, objectOr(postData));
  } catch (error) {
    if (error instanceof RequestRefusal) return { ...request, refusal: error };
    throw error;
  }
}

/** @throws RequestRefusal if a tool cannot send the body */
function withHarBody(request: AuthorRequest, postData: JsonObject): AuthorRequest {
  const body = bodyIn(postData);
  if (body === null || body === '') return request;
  if (request.method === 'get')
    throw new RequestRefusal('sends a body with GET, which fetch cannot', 'Choose another request.');
  const { headers } = request;
  if (typeof body !== 'string') {
    const otherHeaders = headers.filter(([name]) => name !== 'content-type');
    return { ...request, headers: otherHeaders, body };
  }
  const isTyped = headers.some(([name]) => name === 'content-type');
  const type = textOr(postData.mimeType);
  const typed: readonly NameValue[] = isTyped || type === '' ? headers : [...headers, ['content-type', type]];
  return withMultipartParts({ ...request, headers: typed, body });
}

function bodyIn({ text, params, mimeType, encoding }: JsonObject): AuthorRequest['body'] {
  const pairs = pairsIn(params);
  if (/^multipart\//i.test(textOr(mimeType)) && pairs.length > 0) {
    const file = (params as readonly Json[]).find((part) => isObject(part) && part.fileName !== undefined);
    if (file !== undefined) throw filePartRefusal(textOr(objectOr(file).name));
    return pairs;
  }
  if (typeof text === 'string' && text !== '') return encoding === 'base64' ? decodedText(text) : text;
  if (pairs.length === 0) return null;
  return new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString();
}

function decodedText(text: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'base64'));
  } catch {
    throw new RequestRefusal(
      'has a body of bytes that are no text',
      'Choose another request, or write the tool by hand.',
    );
  }
}

function pairsIn(list: Json | undefined): readonly NameValue[] {
  const entries: readonly Json[] = Array.isArray(list) ? list : [];
  return entries.filter(isObject).map(({ name, value }) => [textOr(name), textOr(value)]);
}
