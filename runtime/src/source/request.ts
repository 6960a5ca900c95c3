import { SourceError } from './errors.ts';

/** A value of a parameter as a tool has it; one that is undefined or null is left out. */
export type Parameter = unknown;

/** How lists and objects are written in a query (OpenAPI, "style"). By default: `a=1&a=2`, members as separate parameters. */
export type QueryStyle = 'comma' | 'space' | 'pipe' | 'deepObject' | 'json';

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
  for (const [name, value] of Object.entries(query)) {
    for (const [key, text] of pairsOf(name, value, styles[name])) url.searchParams.append(key, text);
  }
  return url;
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

const separators = { comma: ',', space: ' ', pipe: '|' } as const;

/** The query parameters of one value. */
function pairsOf(name: string, value: Parameter, style?: QueryStyle): [string, string][] {
  if (value === undefined || value === null) return [];
  if (style === 'deepObject') return nested(name, value);
  if (style === 'json') return [[name, JSON.stringify(value)]];
  if (Array.isArray(value)) {
    const texts = value.filter((item) => item !== undefined && item !== null).map(textOf);
    return style ? [[name, texts.join(separators[style])]] : texts.map((text) => [name, text]);
  }
  if (typeof value !== 'object') return [[name, textOf(value)]];
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  if (style)
    return [[name, members.flatMap(([key, member]) => [key, textOf(member)]).join(separators[style])]];
  return members.map(([key, member]) => [key, textOf(member)]);
}

/** `filter[price][gte]=1`; lists by index: `expand[0]=data`. */
export function nested(name: string, value: Parameter): [string, string][] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object') return [[name, textOf(value)]];
  return Object.entries(value).flatMap(([key, member]) => nested(`${name}[${key}]`, member));
}

export function textOf(value: Parameter): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
