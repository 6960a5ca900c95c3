import { isUtf8 } from 'node:buffer';
import { isObject, messageOf, objectOr, parseJsonText, shorten, visibleJson } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { isDenied } from './access.ts';
import { isEventStream } from './events.ts';
import type { HttpAnswer } from './http.ts';
import type { OwnSecrets } from './own-secrets.ts';

/** What every answer of a server must be, whatever was asked. */
export type Property =
  | 'utf8'
  | 'framing'
  | 'coding'
  | 'accepted'
  | 'type'
  | 'envelope'
  | 'numbers'
  | 'surrogates'
  | 'secrets'
  | 'credentials'
  | 'environment'
  | 'insides'
  | 'log messages';

/** What is read of an answer. */
export type RecordedAnswer = HttpAnswer & Required<Pick<HttpAnswer, 'bytes' | 'request'>>;

type AnswerCheck = (
  answer: RecordedAnswer,
  ownSecrets: OwnSecrets,
) => Pick<Problem, 'expected' | 'actual' | 'tool'> | undefined;

/** The check of each property. */
export const answerChecks: readonly (readonly [Property, AnswerCheck])[] = [
  ['utf8', encodingProblem],
  ['framing', framingProblem],
  ['coding', codingProblem],
  ['accepted', acceptProblem],
  ['type', typeProblem],
  ['envelope', envelopeProblem],
  ['numbers', numberProblem],
  ['surrogates', surrogateProblem],
  ['secrets', secretProblem],
  ['credentials', credentialProblem],
  ['environment', environmentProblem],
  ['insides', insideProblem],
  ['log messages', logMessageProblem],
];

/** JSON between systems is UTF-8 without a byte order mark (RFC 8259 §8.1). */
function encodingProblem({ bytes, headers, body }: RecordedAnswer): ReturnType<AnswerCheck> {
  if (!isJsonOrEventStream(headers['content-type'])) return undefined;
  const expected = 'UTF-8 without a byte order mark';
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { expected, actual: 'a byte order mark at byte 0' };
  if (isUtf8(bytes)) return undefined;
  // Bytes that are no character were replaced when they were read.
  const read = Buffer.from(body);
  return { expected, actual: `not UTF-8 at byte ${bytes.findIndex((byte, at) => byte !== read[at])}` };
}

/** The declared length is the length of the body (RFC 9110 §8.6), and each line of an event is a field (HTML, server-sent events). */
function framingProblem({ headers, body, surplus = 0 }: RecordedAnswer): ReturnType<AnswerCheck> {
  const type = headers['content-type'];
  const declaredLength = headers['content-length'];
  if (surplus > 0 && isJsonOrEventStream(type) && parseJsonText(body).length === 0) {
    const expected = 'a Content-Length of all bytes';
    return {
      expected,
      actual: `Content-Length ${declaredLength}, body needs ${Number(declaredLength) + surplus}`,
    };
  }
  if (!isEventStream(type)) return undefined;
  const lines = body.split(/\r\n|\n|\r/);
  const at = lines.findIndex((line) => /^\s*(["[\]{}]|\d|true|false|null)/.test(line));
  if (at < 0) return undefined;
  const line = at - lines.slice(0, at).lastIndexOf('');
  return { expected: 'data: before each line of an event', actual: `line ${line} of the event has no data:` };
}

function parseError(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return messageOf(error);
  }
  return '';
}

/** A request that accepts `identity` only gets no compressed answer (RFC 9110 §12.5.3). */
function codingProblem({ headers }: RecordedAnswer): ReturnType<AnswerCheck> {
  const coding = headers['content-encoding'];
  if (coding === undefined || coding === 'identity') return undefined;
  return { expected: 'no Content-Encoding, which the request excludes', actual: coding };
}

/** A request that accepts JSON only gets no events (RFC 9110 §12.5.1). */
function acceptProblem({ headers, request }: RecordedAnswer): ReturnType<AnswerCheck> {
  if (request.headers.accept !== 'application/json' || !isEventStream(headers['content-type']))
    return undefined;
  return {
    expected: 'JSON, the only type that the request accepts',
    actual: shorten(headers['content-type']),
  };
}

/** A JSON-RPC message comes as JSON or as an event (MCP, Streamable HTTP). */
function typeProblem({ status, headers, body, bytes, surplus = 0 }: RecordedAnswer): ReturnType<AnswerCheck> {
  const type = headers['content-type'];
  if (status !== 200 || surplus > 0) return undefined;
  if (/^application\/json\b/i.test(type ?? '')) {
    const text = body.replace(/^\ufeff/, '');
    if (text === '' || !isUtf8(bytes) || parseJsonText(text).length > 0) return undefined;
    return { expected: 'JSON, as Content-Type says', actual: `not JSON: ${parseError(text)}` };
  }
  if (isJsonOrEventStream(type) || !/^\s*\{\s*"jsonrpc"\s*:/.test(body)) return undefined;
  return { expected: 'Content-Type: application/json or text/event-stream', actual: shorten(type) };
}

/** A response is JSON-RPC 2.0 with the id of its request, of the same type (JSON-RPC 2.0 §5). */
function envelopeProblem(answer: RecordedAnswer): ReturnType<AnswerCheck> {
  const { status, values, request } = answer;
  if (status !== 200 || typeof request.body !== 'string') return undefined;
  const [message] = parseJsonText(request.body);
  if (!isObject(message) || message.jsonrpc !== '2.0' || typeof message.method !== 'string') return undefined;
  const { id } = message;
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  const wrongResponse = values
    .filter(isObject)
    .find((value) => isResponse(value) && !answersRequest(value, id));
  if (!wrongResponse) return undefined;
  // The form of a refusal is the finding of gate.no-token.
  if (!('jsonrpc' in wrongResponse) && isDenied(answer)) return undefined;
  const expected = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},…}`;
  return {
    expected,
    actual: shorten({
      jsonrpc: wrongResponse.jsonrpc ?? null,
      id: wrongResponse.id ?? null,
      ...wrongResponse,
    }),
  };
}

function isResponse(value: JsonObject): boolean {
  return !('method' in value) && ('result' in value || 'error' in value);
}

/** An error may have no id, or null: its sender had not read the request. */
function answersRequest({ jsonrpc, id, result }: JsonObject, requestId: string | number): boolean {
  return jsonrpc === '2.0' && (id === requestId || (result === undefined && (id ?? null) === null));
}

/** A number beyond the doubles becomes infinite or null in most readers (RFC 8259 §6). */
function numberProblem({ body, values }: RecordedAnswer): ReturnType<AnswerCheck> {
  if (!/[eE]\+?\d{3}|\d{309}/.test(body)) return undefined;
  const beyond = leafIn(values, (leaf) => typeof leaf === 'number' && !Number.isFinite(leaf));
  if (beyond === undefined) return undefined;
  return { expected: 'numbers that a double holds', actual: `a number that is read as ${beyond}` };
}

/** Half of a surrogate pair is no character: each reader treats it differently (RFC 8259 §8.2). */
function surrogateProblem({ body, values }: RecordedAnswer): ReturnType<AnswerCheck> {
  if (!/\\u[dD][89a-fA-F]/.test(body)) return undefined;
  const cut = leafIn(values, (leaf) => typeof leaf === 'string' && /\p{Cs}/u.test(leaf));
  if (cut === undefined) return undefined;
  return { expected: 'whole characters', actual: visibleJson(shorten(cut)) };
}

/** A value inside of others that is neither an object nor a list. */
function leafIn(values: readonly Json[], isWanted: (leaf: Json) => boolean): Json | undefined {
  for (const [, leaf] of leavesIn(values)) if (isWanted(leaf)) return leaf;
  return undefined;
}

/** Forms of keys that no caller should see; in addresses only where a call failed, since data may contain signed links. */
const secrets =
  /-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_\w{36}\b|\bAIza[\w-]{35}\b|\bxox[bp]-[\w-]{20,}|\bsk[-_](?:live|proj|ant)[-_][\w-]{20,}/;
const secretsInAddress = /[?&](?:api_?key|apikey|appid|access_token|secret|password)=[^&\s"\\]{8,}/i;

function secretProblem(answer: RecordedAnswer, ownSecrets: OwnSecrets): ReturnType<AnswerCheck> {
  const { body } = answer;
  if (ownSecrets.foundIn(answer)) return undefined; // see credentialProblem
  const found = secrets.exec(body) ?? (isFailedResponse(answer) ? secretsInAddress.exec(body) : null);
  if (!found) return undefined;
  return { expected: 'no keys', actual: `${found[0].slice(0, 12)}… at character ${found.index}` };
}

/** No answer needs the secrets by which its caller was admitted, or those of the server. */
function credentialProblem(answer: RecordedAnswer, ownSecrets: OwnSecrets): ReturnType<AnswerCheck> {
  const found = ownSecrets.foundIn(answer);
  return found && { expected: 'no secrets', actual: `${found.name} at character ${found.at}` };
}

/** How the variables of a process begin or look that every process has, by their names. */
const processVariables: Readonly<Record<string, RegExp>> = {
  PATH: /[/\\].*[:;]/,
  HOME: /^(?:\/|[A-Z]:\\)/,
  PWD: /^(?:\/|[A-Z]:\\)/,
  OLDPWD: /^(?:\/|[A-Z]:\\)/,
  SHELL: /^\/.*sh$/,
  NODE_ENV: /^(?:production|development|test|staging)$/,
  LANG: /^(?:C|POSIX|[a-z]{2}_[A-Z]{2})(?:\.|$)/,
  USER: /^[\w.-]+$/,
  LOGNAME: /^[\w.-]+$/,
  HOSTNAME: /^[\w.-]+$/,
  TERM: /^[\w.-]+$/,
  SHLVL: /^\d+$/,
};
const fewestVariables = 3;

/** An object with the variables of a process, also in a text of JSON. */
function environmentProblem({ body, values, request }: RecordedAnswer): ReturnType<AnswerCheck> {
  const names = Object.keys(processVariables).filter((name) => body.includes(name));
  if (names.length < fewestVariables) return undefined;
  const found = environmentIn(values) ?? environmentIn(jsonTextsIn(values));
  if (!found) return undefined;
  const [message] = typeof request.body === 'string' ? parseJsonText(request.body) : [];
  const { name: tool } = objectOr(objectOr(message).params);
  return {
    ...(typeof tool === 'string' && { tool }),
    expected: 'no variables of a process',
    actual: `an object with ${found.join(', ')}`,
  };
}

/** The names of the variables of a process that one object has. */
function environmentIn(values: readonly Json[]): readonly string[] | undefined {
  const byObject = new Map<string, string[]>();
  for (const [path, leaf] of leavesIn(values)) {
    const end = path.lastIndexOf('.');
    const [parent, name] = [path.slice(0, end), path.slice(end + 1)];
    const form = Object.hasOwn(processVariables, name) ? processVariables[name] : undefined;
    if (typeof leaf === 'string' && form?.test(leaf))
      byObject.set(parent, [...(byObject.get(parent) ?? []), name]);
  }
  return [...byObject.values()].find((names) => names.length >= fewestVariables);
}

function jsonTextsIn(values: readonly Json[]): readonly Json[] {
  const texts = [...leavesIn(values)].flatMap(([, leaf]) => (typeof leaf === 'string' ? leaf : []));
  return texts.filter((text) => /^\s*[[{]/.test(text)).flatMap(parseJsonText);
}

/** A line of a stack trace, or a file of the server's code. */
const insides =
  /\bat [^\n"]{0,150}(?:\(|[\w.]+@)?(?:file:\/\/|node:|[/\\])[^\n"]{1,150}:\d+:\d+|\bFile \\?"[^\n"]{1,150}\\?", line \d+|\bat [\w$.]+\([\w$]+\.java:\d+\)|node:internal|node_modules|(?:\/(?:home|root|srv|usr|opt|app|var|Users)|[A-Z]:)[/\\][^\s"']{1,150}\.(?:[cm]?[jt]s|py|rb|go|php|java)\b/;

/** A failure may contain its cause, not the location of the server's code. Data may hold anything. */
function insideProblem(answer: RecordedAnswer): ReturnType<AnswerCheck> {
  if (!isFailedResponse(answer)) return undefined;
  const found = insides.exec(answer.body.slice(0, 100_000))?.[0];
  if (found === undefined || String(answer.request.body ?? '').includes(found)) return undefined;
  return {
    expected: 'no stack trace and no file names',
    actual: `HTTP ${answer.status} with ${shorten(found)}`,
  };
}

/** Only a server that declares the capability logging sends them. */
function logMessageProblem({ values }: RecordedAnswer): ReturnType<AnswerCheck> {
  const message = values.find((value) => isObject(value) && value.method === 'notifications/message');
  if (message === undefined) return undefined;
  return { expected: 'no log messages without the capability logging', actual: shorten(message) };
}

function isFailedResponse({ status, values }: RecordedAnswer): boolean {
  return status >= 400 || values.some(tellsFailure);
}

function tellsFailure(message: Json): boolean {
  return isObject(message) && (isObject(message.error) || objectOr(message.result).isError === true);
}

function isJsonOrEventStream(type: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type ?? '') || isEventStream(type);
}
