import { SourceError } from './errors.ts';

/** A value of a parameter as a tool has it; one that is undefined or null is left out. */
export type Parameter = unknown;

/** How lists and objects are written (OpenAPI, "style"). `form`: `a=1&a=2`, members as separate parameters. */
export type QueryStyle = 'form' | 'comma' | 'space' | 'pipe' | 'deepObject' | 'json';

export interface Address {
  readonly baseUrl: string;
  /** Below the base URL, with names in braces: `/gas/{chain}`. */
  readonly path: string;
  readonly params?: { readonly [name: string]: Parameter };
  readonly query?: { readonly [name: string]: Parameter };
  readonly styles?: { readonly [name: string]: QueryStyle };
}

/**
 * The URL of a request. Whatever an argument contains, the URL stays below the base URL.
 *
 * @throws SourceError `INVALID_ARGUMENTS` if a value is not allowed in a path; Error if the path has a name
 *   without a value.
 */
export function urlOf({ baseUrl, path, params = {}, query = {}, styles = {} }: Address): URL {
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => segment(name, params[name]));
  const url = new URL(baseUrl.replace(/\/+$/, '') + (filled.startsWith('/') ? filled : `/${filled}`));
  const pairs = Object.entries(query).flatMap(([name, value]) => pairsOf(name, value, styles[name]));
  url.search = [url.search.slice(1), ...pairs].filter((part) => part !== '').join('&');
  return url;
}

/** Sets a query parameter. `URLSearchParams` would encode the commas of the others. */
export function setParameter(url: URL, name: string, value: string): void {
  const others = url.search.slice(1).split('&');
  const kept = others.filter((part) => part !== '' && !part.startsWith(`${encoded(name)}=`));
  url.search = [...kept, pairOf(name, value)].join('&');
}

function segment(name: string, value: Parameter): string {
  if (value === undefined || value === null) throw new Error(`The path parameter ${name} has no value.`);
  const text = Array.isArray(value) ? value.map(textOf).join(',') : textOf(value);
  // In a URL, dots mean steps up, even when they are encoded; an empty segment is another route.
  if (text === '' || /^(?:\.|%2e){1,2}$/i.test(text)) {
    throw new SourceError('INVALID_ARGUMENTS', `arguments: ${name} cannot be ${JSON.stringify(text)}`);
  }
  return encodeURIComponent(text);
}

/** A comma between values stands for itself, one in a value is encoded; the others are encoded in both places (RFC 3986). */
const separators = { comma: ',', space: '+', pipe: '%7C' } as const;

/** The encoded `name=value` pairs of one value, of a query or a form; by default as `form`. */
export function pairsOf(name: string, value: Parameter, style: QueryStyle = 'form'): string[] {
  if (value === undefined || value === null) return [];
  if (style === 'deepObject') return nested(name, value);
  if (style === 'json') return [pairOf(name, JSON.stringify(value))];
  if (typeof value !== 'object') return [pairOf(name, textOf(value))];
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  const isList = Array.isArray(value);
  if (style === 'form') return members.map(([key, member]) => pairOf(isList ? name : key, textOf(member)));
  const texts = members.flatMap(([key, member]) => (isList ? [textOf(member)] : [key, textOf(member)]));
  return [`${encoded(name)}=${texts.map(encoded).join(separators[style])}`];
}

/** `filter[price][gte]=1`, encoded; lists by index: `expand[0]=data`. */
function nested(name: string, value: Parameter): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object') return [pairOf(name, textOf(value))];
  return Object.entries(value).flatMap(([key, member]) => nested(`${name}[${key}]`, member));
}

function pairOf(name: string, text: string): string {
  return new URLSearchParams([[name, text]]).toString();
}

function encoded(text: string): string {
  return pairOf('', text).slice(1);
}

export function textOf(value: Parameter): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
