import type { AuthorRequest, NameValue } from './author-request.ts';
import { RequestRefusal } from './request-refusal.ts';

/** A header that browsers or curl add, which has no meaning for the request. */
const added =
  /^(?:sec-.*|:.*|cookie|referer|priority|origin|dnt|te|pragma|cache-control|connection|keep-alive|proxy-connection|host|content-length|accept-encoding|upgrade-insecure-requests|if-none-match|if-modified-since)$/;

/** The names of the headers that a tool does not send, because a program added them. */
export function droppedHeaders(headers: readonly NameValue[]): ReadonlySet<string> {
  const isOfBrowser = headers.some((header) => header[0].startsWith('sec-') || isAgentOfBrowser(header));
  const dropped = headers.filter(
    (header) =>
      added.test(header[0]) || isAgentOfBrowser(header) || (isOfBrowser && header[0] === 'accept-language'),
  );
  return new Set(dropped.map(([name]) => name));
}

function isAgentOfBrowser([name, value]: NameValue): boolean {
  return name === 'user-agent' && /^mozilla/i.test(value);
}

function isHostOf(url: string, host: string): boolean {
  const { protocol, host: ownHost } = new URL(url);
  const address = `${protocol}//${host}`;
  return URL.canParse(address) && new URL(address).host === ownHost;
}

/** @throws RequestRefusal for a header that a tool can neither send nor leave out */
export function requireSendableHeaders({ url, headers }: Pick<AuthorRequest, 'url' | 'headers'>): void {
  const dropped = droppedHeaders(headers);
  for (const [name, value] of headers) {
    if (name === 'host' && !isHostOf(url, value))
      throw new RequestRefusal(
        `has the header Host: ${value}, which is not the host of its URL`,
        'Write this host in the URL, or remove the header.',
      );
    if (name === 'transfer-encoding')
      throw new RequestRefusal(
        'has the header Transfer-Encoding, which fetch does not send',
        'Remove it: the length of the body is sent instead.',
      );
    if (!/^[\t\x20-\x7e]*$/.test(value) && !dropped.has(name))
      throw new RequestRefusal(
        `has the header ${name} with a value that is not ASCII`,
        'Encode the value as the API documents it, or remove the header.',
      );
  }
}
