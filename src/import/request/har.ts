import { isObject, type Json, objectOr } from 'market-mcp-contract/json';
import type { GivenRequest, Method, NameValue } from './curl.ts';
import { RequestRefusal } from './words.ts';

/** The requests that a browser recorded (HAR 1.2 §log.entries), those for data first in the order of their time. */
export function harRequests(value: Json): readonly GivenRequest[] {
  const entries = objectOr(objectOr(value).log).entries;
  if (!Array.isArray(entries))
    throw new RequestRefusal(
      'is neither a curl command nor a HAR file',
      'Give a text that begins with curl, or a HAR file.',
    );
  const found = (entries as readonly Json[]).flatMap((entry): readonly GivenRequest[] => {
    const { request, response } = objectOr(entry);
    const { method, url, headers, postData } = objectOr(request);
    const own = String(method).toLowerCase();
    const type = String(objectOr(objectOr(response).content).mimeType ?? 'json');
    if (
      !/^(?:get|post|put|patch|delete)$/.test(own) ||
      !/^https?:/.test(String(url)) ||
      !URL.canParse(String(url))
    )
      return [];
    if (!/json/.test(type)) return [];
    return [
      {
        method: own as Method,
        url: String(url).replace(/#.*$/s, ''),
        headers: pairsOf(headers).map(([name, text]) => [name.toLowerCase(), text] as const),
        body: own === 'get' ? null : bodyOf(objectOr(postData)),
        variables: null,
      },
    ];
  });
  if (found.length === 0)
    throw new RequestRefusal(
      'contains no request that was answered with JSON',
      'Record the traffic while the page loads its data.',
    );
  return found;
}

function bodyOf({ text, params, mimeType }: { readonly [name: string]: Json }): GivenRequest['body'] {
  const pairs = pairsOf(params);
  if (/^multipart\//.test(String(mimeType)) && pairs.length > 0) return pairs;
  if (typeof text === 'string' && text !== '') return text;
  return pairs.length > 0
    ? new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString()
    : null;
}

function pairsOf(list: Json | undefined): readonly NameValue[] {
  const all: readonly Json[] = Array.isArray(list) ? list : [];
  return all.filter(isObject).map(({ name, value }) => [String(name), String(value ?? '')]);
}
