import type { Message } from './traffic.ts';

export const redacted = '[redacted]';

const secretName =
  /token|key|secret|passw|passphrase|pwd|credential|session|cookie|authorization|signature|^(?:x-)?auth$|^sig$/i;

/**
 * They match, but hold no secret, and authors need to see them: by the first two they follow a session and a repeated request. A
 * session of MCP admits no call (C§5.1): every call carries a token.
 */
const openNames = new Set(['mcp-session-id', 'idempotency-key', 'access-control-allow-credentials']);

function isSecret(name: string): boolean {
  return secretName.test(name) && !openNames.has(name.toLowerCase());
}

/** A message without secrets: the values of headers and query parameters with a secret's name, and every JWT. */
export function redact(message: Message, tokenHeader: string): Message {
  const headers = Object.entries(message.headers).map(([name, value]) => {
    const isToken = [tokenHeader, 'authorization', 'proxy-authorization'].includes(name.toLowerCase());
    if (!isToken && !isSecret(name)) return [name, redactUrl(value)];
    const scheme = isToken ? (/^[A-Za-z]+ (?=.)/.exec(value)?.[0] ?? '') : '';
    return [name, `${scheme}${redacted}`];
  });
  return { ...message, headers: Object.fromEntries(headers), body: redactTokens(message.body) };
}

/** A URL, or a text with URLs, without the secrets of their users and queries. */
export function redactUrl(text: string): string {
  return redactTokens(text)
    .replaceAll(/\/\/[^/?#@\s]*@/g, `//${redacted}@`)
    .replaceAll(/([?&;#])([^?&;#=\s]*)=([^?&;#\s<>"]*)/g, (all, before, name) =>
      isSecret(name) ? `${before}${name}=${redacted}` : all,
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
