// Parameters in the path, query and headers of a request.

import { SourceError } from './source-errors.ts';

/** The value of a parameter in a tool. A parameter with undefined or null is not sent. */
export type Parameter = unknown;

/**
 * How values are written in a query or a form (OpenAPI, "style"). `form`: `a=1&a=2`, members as separate parameters. `reserved`
 * and `reservedComma`: as `form` and `comma`, with `allowReserved`.
 */
export type QueryStyle =
  | 'form'
  | 'comma'
  | 'space'
  | 'pipe'
  | 'deepObject'
  | 'json'
  | 'reserved'
  | 'reservedComma';

/** How values are written in a header. `simple`: `a,b`, `key,value`; `simple*`: `key=value`. */
export type HeaderStyle = 'simple' | 'simple*' | 'json';

/** How values are written in a path (RFC 6570 §3.2). `label`: `.a,b`; `label*`: `.a.b`; `matrix`: `;x=a,b`; `matrix*`: `;x=a;x=b`. */
export type PathStyle = HeaderStyle | 'label' | 'label*' | 'matrix' | 'matrix*';

export interface Address {
  readonly baseUrl: string;
  /** Below the base URL, with names in braces: `/gas/{chain}`. */
  readonly path: string;
  readonly params?: { readonly [name: string]: Parameter };
  readonly query?: { readonly [name: string]: Parameter };
  readonly styles?: { readonly [name: string]: QueryStyle };
  readonly paramStyles?: { readonly [name: string]: PathStyle };
}

/**
 * The URL of a request. Whatever an argument contains, the URL stays below the base URL.
 *
 * @throws SourceError `INVALID_ARGUMENTS` if a value is not allowed in a path; Error if the path has a name
 *   without a value.
 */
export function requestUrl({
  baseUrl,
  path,
  params = {},
  query = {},
  styles = {},
  paramStyles = {},
}: Address): URL {
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) =>
    segment(name, params[name], ownMember(paramStyles, name)),
  );
  const url = new URL(baseUrl.replace(/\/+$/, '') + (filled.startsWith('/') ? filled : `/${filled}`));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    pairsOf(name, value, ownMember(styles, name)),
  );
  url.search = [url.search.slice(1), ...pairs].filter((part) => part !== '').join('&');
  return url;
}

/** A member of an object, but not an inherited one such as `constructor`. */
export function ownMember<T>(members: { readonly [name: string]: T }, name: string): T | undefined {
  if (Object.hasOwn(members, name)) return members[name];
  return undefined;
}

/** Sets a query parameter. `URLSearchParams` would encode the commas of the others. */
export function setParameter(url: URL, name: string, value: string): void {
  const otherParts = url.search.slice(1).split('&');
  const keptParts = otherParts.filter((part) => part !== '' && !part.startsWith(`${encodeQueryText(name)}=`));
  url.search = [...keptParts, queryPair(name, value)].join('&');
}

function segment(name: string, value: Parameter, style: PathStyle = 'simple'): string {
  if (value === undefined || value === null) throw new Error(`The path parameter ${name} has no value.`);
  const text = expanded(name, value, style, (part) => encodeURIComponent(wellFormed(part)));
  // In a URL, dots mean steps up, even when they are encoded; an empty segment is another route.
  if (/^(?:\.|%(?:25)*2e){0,2}$/i.test(text)) {
    const givenText = JSON.stringify(decodeURIComponent(text));
    throw new SourceError('INVALID_ARGUMENTS', `arguments: ${name} cannot be ${givenText}`);
  }
  return text;
}

/** A value in a header. In lists and objects, a comma of a value is encoded, so that it differs from one between values. */
export function headerParameter(name: string, value: Parameter, style: HeaderStyle = 'simple'): string {
  const isWhole = typeof value !== 'object' || style === 'json';
  return expanded(name, value, style, (text) => (isWhole ? text : text.replaceAll(',', '%2C')));
}

/** A value as RFC 6570 §3.2.2, §3.2.5 and §3.2.7 expand it; empty if a list or an object is empty. */
function expanded(
  name: string,
  value: Parameter,
  style: PathStyle,
  encode: (text: string) => string,
): string {
  if (style === 'json') return encode(JSON.stringify(value));
  const [operator, explode] = [style.replace('*', ''), style.endsWith('*')];
  const isList = Array.isArray(value) || typeof value !== 'object' || value === null;
  const parts = (isList ? [value].flat() : Object.entries(value)).flatMap((part): string[] => {
    const [key, element] = isList ? ['', part] : (part as [string, unknown]);
    if (element === undefined || element === null) return [];
    const text = encode(parameterText(element));
    if (!isList) return explode ? [`${encode(key)}=${text}`] : [encode(key), text];
    if (explode && operator === 'matrix') return [nameAndValue(encode(name), text)];
    return [text];
  });
  if (parts.length === 0) return '';
  if (operator === 'label') return `.${parts.join(explode ? '.' : ',')}`;
  if (operator === 'matrix')
    return `;${explode ? parts.join(';') : nameAndValue(encode(name), parts.join(','))}`;
  return parts.join(',');
}

/** `name=text` of a matrix, without the sign if the text is empty. */
function nameAndValue(name: string, text: string): string {
  return text === '' ? name : `${name}=${text}`;
}

/** A comma between values stands for itself, one in a value is encoded; the others are encoded in both places (RFC 3986). */
const separators = { comma: ',', reservedComma: ',', space: '%20', pipe: '%7C' } as const;

/** The encoded `name=value` pairs of one value, of a query or a form; by default as `form`. */
export function pairsOf(name: string, value: Parameter, style: QueryStyle = 'form'): string[] {
  if (value === undefined || value === null) return [];
  if (style === 'deepObject') return nested(name, value);
  if (style === 'json') return [queryPair(name, JSON.stringify(value))];
  const encode = style === 'reserved' || style === 'reservedComma' ? reserved : encodeQueryText;
  const pair = (key: string, member: Parameter) => `${encodeQueryText(key)}=${encode(parameterText(member))}`;
  if (typeof value !== 'object') return [pair(name, value)];
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  const isList = Array.isArray(value);
  if (style === 'form' || style === 'reserved')
    return members.map(([key, member]) => pair(isList ? name : key, member));
  const texts = members.flatMap(([key, member]) =>
    isList ? [parameterText(member)] : [key, parameterText(member)],
  );
  return [`${encodeQueryText(name)}=${texts.map(encode).join(separators[style])}`];
}

/**
 * A text in a query with `allowReserved`: reserved characters and percent-encoded ones stay (RFC 6570 §3.2.3), except those that
 * a query cannot contain or that separate its pairs.
 */
function reserved(text: string): string {
  return encodeURI(wellFormed(text))
    .replaceAll(/%25([\da-f]{2})/gi, '%$1')
    .replaceAll(/[#&+]/g, encodeURIComponent);
}

/** A text without halves of characters, which no URL can contain; `URLSearchParams` replaces them in the same way. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

/** `filter[price][gte]=1`, encoded; lists by index: `expand[0]=data`. */
function nested(name: string, value: Parameter): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object') return [queryPair(name, parameterText(value))];
  return Object.entries(value).flatMap(([key, member]) => nested(`${name}[${key}]`, member));
}

function queryPair(name: string, text: string): string {
  return new URLSearchParams([[name, text]]).toString();
}

function encodeQueryText(text: string): string {
  return queryPair('', text).slice(1);
}

export function parameterText(value: Parameter): string {
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}
