import { posixLine, quotedParts, shortenRuns } from '../command/shell.ts';
import { targetParts } from '../command/url-secrets.ts';
import { shorten } from '../json/json.ts';
import type { SentRequest } from './http.ts';

/** The maximum number of characters of a printed body. Longer requests are described. */
const maxShownLength = 100_000;

/** Ids of sessions, and a token, that the rules invent: no server has issued them. */
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
 * The command that sends a request again. A token, a secret of the URL and the id of a session are variables of the shell, since they
 * must not appear in a report, or have ended.
 */
export function curlLine(request: SentRequest): string {
  const { method, url, target, headers, repeatedHeader, body, chunked, httpVersion } = request;
  const shellVariables = new Map([
    ['authorization', 'Bearer $TOKEN'],
    ['mcp-session-id', '$SESSION'],
    ['cookie', '$COOKIE'],
  ]);
  const sentHeaders = Object.entries({ ...headers, ...(chunked && { 'transfer-encoding': 'chunked' }) });
  if (repeatedHeader) sentHeaders.push([...repeatedHeader]);
  const lines = sentHeaders.map(([name, value]) =>
    shellVariables.has(name.toLowerCase()) && value !== '' && !isInvented(value.replace(/^\S+ /, ''))
      ? `-H "${name}: ${shellVariables.get(name.toLowerCase())}"`
      : shortenRuns(posixLine(['-H', value === '' ? `${name};` : `${name}: ${value}`])),
  );
  const hasAccept = Object.keys(headers).some((name) => name.toLowerCase() === 'accept');
  if (method === 'POST' && !hasAccept) lines.push("-H 'accept:'"); // else curl sends its own
  if (body !== undefined && body.length > maxShownLength)
    return `# a ${method} of ${body.length} characters, which is too long to print: ${shorten(bodyText(body).slice(0, 45))}`;
  const data = body === undefined ? [] : [shortenRuns(posixLine(['--data-binary', bodyText(body)]))];
  const words = ['curl', '-sS', '-i', ...(method === 'POST' && body !== undefined ? [] : ['-X', method])];
  const requestTarget =
    target === undefined ? [] : ['--path-as-is --request-target', quotedParts(targetParts(target))];
  if (httpVersion === '1.0') words.push('--http1.0');
  return [...words, posixLine([url.href]), ...requestTarget, ...lines, ...data]
    .join(' ')
    .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '$TOKEN');
}

function bodyText(body: string | Uint8Array): string {
  if (typeof body === 'string') return body;
  return Buffer.from(body).toString('latin1');
}
