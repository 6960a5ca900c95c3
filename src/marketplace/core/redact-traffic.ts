import { isKeyName, maskUrl } from 'market-mcp-contract/command';
import {
  isObject,
  isWalkable,
  type Json,
  literallyIn,
  objectOr,
  parseJsonText,
  writeLiterally,
} from 'market-mcp-contract/json';
import { isSecretParameter } from 'market-mcp-contract/report';
import { type Message, sentBody } from './traffic.ts';

export const redacted = '[redacted]';

const secretName =
  /token|key|secret|passw|passphrase|pwd|credential|session|cookie|authorization|signature|^(?:x-)?auth$|^sig$/i;

/**
 * They match, but hold no secret, and authors need to see them: by the first two they follow a session and a repeated request. A
 * session of MCP admits no call (C§5.1): every call carries a token.
 */
const openNames = new Set(['mcp-session-id', 'idempotency-key', 'access-control-allow-credentials']);

function isSecret(name: string): boolean {
  return (secretName.test(name) || isKeyName(name)) && !openNames.has(name.toLowerCase());
}

/** Of members of JSON, `key` and `token` alone are no secrets: they name entries of a map, and assets. */
const secretMember = /^(?:secret|authorization|credentials?|(?:api|auth|bearer|session)[-_]?token)$/i;

/** A message without secrets: the values of headers, query parameters and members of JSON with a secret's name, and every JWT. */
export function redact(message: Message, tokenHeader: string): Message {
  const headers = Object.entries(message.headers).map(([name, value]) => {
    const isToken = [tokenHeader, 'authorization', 'proxy-authorization'].includes(name.toLowerCase());
    if (!isToken && !isSecret(name)) return [name, redactUrl(value)];
    const scheme = isToken ? (/^[A-Za-z]+ (?=.)/.exec(value)?.[0] ?? '') : '';
    return [name, `${scheme}${redacted}`];
  });
  const body = redactText(message.body);
  return {
    ...message,
    headers: Object.fromEntries(headers),
    body,
    ...(body !== message.body && { [sentBody]: message.body }),
  };
}

/** Strings, whether or not they end, numbers and marks of JSON. */
const jsonTokens = /"[^"\\]*(?:\\[\s\S]?[^"\\]*)*"?|-?\d[\w.+-]*|[:{}[\],]/g;

/**
 * A text without JWTs, and, where it contains JSON, without the values of members with a secret's name: also if it is cut off, and
 * in strings that contain JSON. Takes linear time.
 */
export function redactText(text: string): string {
  let name: string | undefined;
  let before = '';
  return redactTokens(text).replaceAll(jsonTokens, (token) => {
    const isSecretValue = name !== undefined && (isSecretParameter(name) || secretMember.test(name));
    name = token === ':' && before.startsWith('"') ? stringIn(before) : undefined;
    before = token;
    if (/^[:{}[\],]/.test(token)) return token;
    if (isSecretValue) return `"${redacted}"`;
    if (!token.includes('\\"')) return token;
    const inner = stringIn(token);
    const redactedText = redactText(inner);
    if (redactedText === inner) return token;
    return JSON.stringify(redactedText);
  });
}

/** A value without the values of members with a secret's name. */
export function redactValue<Value extends Json>(value: Value): Value {
  return JSON.parse(redactText(JSON.stringify(value)));
}

/**
 * Restores the secrets of the original body in a redacted body, which a user may have edited.
 *
 * @param original undefined if nothing in it was redacted
 */
export function withSecrets(body: string, original: string | undefined): string {
  const [shownValue] = original === undefined ? [] : literallyIn(body);
  if (original === undefined || shownValue === undefined || !isWalkable(shownValue)) return body;
  const [originalValue] = literallyIn(original).filter((value) => isWalkable(value));
  return writeLiterally(unredacted(shownValue, originalValue));
}

function unredacted(shownValue: Json, original: Json | undefined): Json {
  if (shownValue === redacted) return original ?? shownValue;
  if (typeof shownValue === 'string') {
    if (typeof original === 'string' && redactText(original) === shownValue) return original;
    return shownValue;
  }
  if (Array.isArray(shownValue)) {
    return shownValue.map((item, at) => unredacted(item, Array.isArray(original) ? original[at] : undefined));
  }
  if (!isObject(shownValue)) return shownValue;
  const originalMembers = new Map(Object.entries(objectOr(original)));
  return Object.fromEntries(
    Object.entries(shownValue).map(([name, member]) => [name, unredacted(member, originalMembers.get(name))]),
  );
}

/** Returns the text that a string of JSON denotes, also if its end is missing or an escape is invalid. */
function stringIn(token: string): string {
  const isWhole = token.length > 1 && token.endsWith('"');
  const closedToken = `${token.replace(/\\(?:u[\da-f]{0,3})?$/i, '')}"`;
  // Each level of strings in strings loses its backslashes. Otherwise, a hostile text could have any number of levels.
  const unescaped = (escaped: string) => escaped.replaceAll(/\\([\s\S])/g, '$1');
  const [text] = isWhole
    ? [...parseJsonText(token), ...parseJsonText(closedToken)]
    : parseJsonText(closedToken);
  return String(text ?? unescaped(token.slice(1, isWhole ? -1 : undefined)));
}

/** A URL, or a text with URLs, without the secrets of their users, paths and queries. */
export function redactUrl(text: string): string {
  return redactTokens(text)
    .replaceAll(/https?:\/\/[^\s<>"']+/gi, (url) => maskUrl(url).replaceAll(/\$URL_KEY\d*/g, redacted))
    .replaceAll(/\/\/[^/?#@\s]*@/g, `//${redacted}@`)
    .replaceAll(/([?&;#])([^?&;#=\s]*)=([^?&;#\s<>"]*)/g, (wholeMatch, before, name) =>
      isSecret(name) ? `${before}${name}=${redacted}` : wholeMatch,
    );
}

/** What the base64url of a JOSE header begins with: `{"`, `{ `, `{` and a line break. */
const joseHeader = /(?:ey[JA]|ew[0o])[\w-]{13}/;

/** A text without JWTs, in linear time: the text may come from a hostile server. */
export function redactTokens(text: string): string {
  if (!joseHeader.test(text)) return text;
  return text.replaceAll(/[\w.-]+/g, (run) => {
    const parts = run.split('.');
    const first = parts.slice(0, -2).findIndex((part) => joseHeader.test(part));
    if (first === -1) return run;
    const before = parts[first]?.slice(0, parts[first]?.search(joseHeader)) ?? '';
    return [...parts.slice(0, first), `${before}${redacted}`].join('.');
  });
}
