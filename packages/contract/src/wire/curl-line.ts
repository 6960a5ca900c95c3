import { posixLine, quotedParts, shortenRuns } from '../command/shell.ts';
import { targetParts } from '../command/url-secrets.ts';
import { shorten } from '../json/json.ts';
import type { SentRequest } from './http.ts';

/** The maximum number of characters of a printed body. Longer requests are described. */
const maxShownLength = 100_000;

/** Session ids and a token that the rules invent: no server has issued them. They are printed. */
export const invented = {
  unknown: '00000000-0000-4000-8000-000000000000',
  /** Names that every plain object has: a server that stores ids in one finds them. */
  members: ['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
  token: 'garbage',
} as const;
const inventedValues: readonly string[] = [invented.unknown, ...invented.members, invented.token];

function isInvented(value: string): boolean {
  return inventedValues.includes(value) || /^(.)\1{99,}$/.test(value);
}

/**
 * The curl command that sends a request again. A token, a secret of the URL and the id of a session are variables of the shell: a report
 * must not contain secrets, and the session has ended.
 */
export function curlLine(request: SentRequest): string {
  const { method, url, target, headers, repeatedHeader, body, chunked, httpVersion } = request;
  if (body !== undefined && body.length > maxShownLength)
    return `# a ${method} of ${body.length} characters, which is too long to print: ${shorten(bodyText(body).slice(0, 45))}`;
  const words = ['curl', '-sS', '-i'];
  if (method !== 'POST' || body === undefined) words.push('-X', method);
  if (httpVersion === '1.0') words.push('--http1.0');
  words.push(posixLine([url.href]));
  if (target !== undefined) words.push('--path-as-is --request-target', quotedParts(targetParts(target)));
  const sentHeaders = Object.entries(headers);
  if (chunked) sentHeaders.push(['transfer-encoding', 'chunked']);
  if (repeatedHeader) sentHeaders.push([...repeatedHeader]);
  words.push(...sentHeaders.map(([name, value]) => headerOption(name, value)));
  const hasAccept = Object.keys(headers).some((name) => name.toLowerCase() === 'accept');
  if (method === 'POST' && !hasAccept) words.push("-H 'accept:'"); // else curl sends its own
  if (body !== undefined) words.push(shortenRuns(posixLine(['--data-binary', bodyText(body)])));
  return words.join(' ').replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '$TOKEN');
}

/** The headers whose values are printed as variables of the shell. */
const shellVariables = new Map([
  ['authorization', 'Bearer $TOKEN'],
  ['mcp-session-id', '$SESSION'],
  ['cookie', '$COOKIE'],
]);

function headerOption(name: string, value: string): string {
  const variable = shellVariables.get(name.toLowerCase());
  const isSecret = variable !== undefined && value !== '' && !isInvented(value.replace(/^\S+ /, ''));
  if (isSecret) return `-H "${name}: ${variable}"`;
  return shortenRuns(posixLine(['-H', value === '' ? `${name};` : `${name}: ${value}`]));
}

function bodyText(body: string | Uint8Array): string {
  if (typeof body === 'string') return body;
  return Buffer.from(body).toString('latin1');
}
