import { posixLine, uriDecoded } from 'market-mcp-contract/command';
import { literallyIn, objectOr, writeLiterally } from 'market-mcp-contract/json';
import type { ApiCall, ApiKey } from '../imported-tool.ts';
import type { AuthorRequest } from './author-request.ts';
import { droppedHeaders } from './headers.ts';

/** A request as one line without its keys. A variable that is an input stays outside of single quotes, which would make it a text. */
export function keylessLine(request: AuthorRequest, call: Pick<ApiCall, 'acceptedKeys'>): string {
  const variables = [...(request.shellVariables ?? [])];
  const words = keylessCurl(request, call).map((word) =>
    variables.some((name) => word.includes(name)) ? doubleQuoted(word, variables) : posixLine([word]),
  );
  return words.join(' ');
}

function doubleQuoted(word: string, variables: readonly string[]): string {
  const escaped = word.replaceAll(/[\\"`]|\$\{?(\w*)/g, (piece, name: string | undefined) =>
    name !== undefined && variables.includes(name) ? piece : `\\${piece}`,
  );
  return `"${escaped}"`;
}

/** A request as a curl command without its keys: each is `$NAME`, the variable that holds it. */
export function keylessCurl(
  { method, url, headers, body }: AuthorRequest,
  { acceptedKeys = [] }: Pick<ApiCall, 'acceptedKeys'>,
): readonly string[] {
  const keys = acceptedKeys.flat();
  const keyOf = (place: ApiKey['in'], name: string) =>
    keys.find((key) => key.in === place && key.name === name);
  const variable = (key: ApiKey | undefined, at = 0) => `$${key?.variables[at]?.name ?? ''}`;
  const pairs = (place: 'query' | 'body', text: string) =>
    text.replaceAll(/([^&=]+)=([^&]*)/g, (pair, raw: string) => {
      const key = keyOf(place, uriDecoded(raw.replaceAll('+', ' ')));
      return key ? `${raw}=${variable(key)}` : pair;
    });
  const [address = '', query] = url.split(/\?(.*)/s);
  const dropped = droppedHeaders(headers);
  const headerOptions = headers.flatMap(([name, value]): readonly string[] => {
    // The tool sends none of them, and a cookie is a key.
    if (dropped.has(name)) return [];
    const key = keyOf('headers', name);
    if (key?.kind === 'basic') {
      return ['-u', `${variable(key)}:${key.variables.length > 1 ? variable(key, 1) : ''}`];
    }
    const staysUnchanged = key === undefined || value.includes(variable(key)) === true;
    const scheme = key?.kind === 'bearer' ? 'Bearer ' : (key?.prefix ?? '');
    return ['-H', staysUnchanged ? `${name}: ${value}` : `${name}: ${scheme}${variable(key)}`];
  });
  const data = (text: string) => {
    if (!keys.some((key) => key.in === 'body')) return text;
    if (!/^\s*\{/.test(text)) return pairs('body', text);
    const bodyKeys = keys.filter((key) => key.in === 'body').map((key) => [key.name, variable(key)]);
    const [members] = literallyIn(text);
    return writeLiterally({ ...objectOr(members), ...Object.fromEntries(bodyKeys) });
  };
  const parts = (partList: Exclude<AuthorRequest['body'], string | null>) =>
    partList.flatMap(([name, value]) => [
      '--form-string',
      `${name}=${keyOf('body', name) ? variable(keyOf('body', name)) : value}`,
    ]);
  let content: readonly string[] = [];
  if (typeof body === 'string') content = ['--data-raw', data(body)];
  else if (body !== null) content = parts(body);
  const isUsual = method === (body === null ? 'get' : 'post');
  return [
    ...['curl', ...(isUsual ? [] : ['-X', method.toUpperCase()])],
    ...(/[[\]{}]/.test(url) ? ['-g'] : []),
    query === undefined ? address : `${address}?${pairs('query', query)}`,
    ...headerOptions,
    ...content,
  ];
}
