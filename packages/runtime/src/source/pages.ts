// The arguments of the next page, from paging headers.

import type { ObjectSchema } from '../server/define-tool.ts';
import { isObject, type Members } from '../server/schema.ts';
import { ownMember, type QueryStyle } from './request-parameters.ts';

/** The call whose answer is a page. Headers of its response become `next` and `total`, if the schema declares these members. */
export interface Pages {
  /** The arguments of the tool. */
  readonly input: object;
  readonly inputSchema: ObjectSchema;
  /** The inputs that query parameters of other names are taken from. */
  readonly names?: { readonly [parameter: string]: string };
}

/** The headers of a response that are about pages, with names in lower case. */
export type PagingHeaders = { readonly [name: string]: string };

const totals = ['x-total-count', 'x-total', 'total-count'];

/**
 * The paging headers of an answer; undefined if it has none. A link (RFC 8288) to the same origin is only a query, without keys.
 *
 * @param url of the request
 * @param keys names of query parameters that carry keys
 */
export function pagingHeaders(
  headers: Headers,
  url: URL,
  keys: readonly string[],
): PagingHeaders | undefined {
  const target = nextLink(headers.get('link') ?? '');
  const link = target !== undefined && URL.canParse(target, url.href) ? new URL(target, url) : undefined;
  for (const key of keys) link?.searchParams.delete(key);
  const nextPage = link?.origin === url.origin ? link.search || '?' : link?.origin;
  const total = totals.find((name) => /^\d{1,15}$/.test(headers.get(name) ?? ''));
  const page = headers.get('x-next-page') ?? '';
  const pagingHeaders: { [name: string]: string } = {};
  if (nextPage !== undefined) pagingHeaders.link = `<${nextPage}>; rel="next"`;
  if (total !== undefined) pagingHeaders[total] = headers.get(total) ?? '';
  if (/^[\w.-]{1,100}$/.test(page)) pagingHeaders['x-next-page'] = page;
  if (Object.keys(pagingHeaders).length > 0) return pagingHeaders;
  return undefined;
}

function nextLink(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g)) {
    const [, quoted, unquoted] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? [];
    if ((quoted ?? unquoted ?? '').toLowerCase().split(/\s+/).includes('next')) return target;
  }
  return undefined;
}

/** The query of a request. */
interface SentQuery {
  readonly query?: Members | undefined;
  readonly styles?: { readonly [name: string]: QueryStyle } | undefined;
}

/**
 * An answer with `next`, the arguments of the next page or null, and `total`, if the schema declares them and the answer has none.
 */
export function addPages(
  answer: unknown,
  schema: ObjectSchema,
  pages: Pages,
  request: SentQuery,
  headers: PagingHeaders = {},
): unknown {
  if (!isObject(answer)) return answer;
  const isOpen = (name: string) => Object.hasOwn(schema.properties, name) && !Object.hasOwn(answer, name);
  const total = totals.find((name) => headers[name] !== undefined);
  const pagedAnswer: { [name: string]: unknown } = { ...answer };
  if (isOpen('next')) pagedAnswer.next = nextOf(pages, request, headers);
  if (isOpen('total') && total !== undefined) pagedAnswer.total = Number(headers[total]);
  return pagedAnswer;
}

/** Null if there is no next page, or a link to it that no arguments can follow. */
function nextOf(
  { input, inputSchema, names = {} }: Pages,
  { query = {}, styles = {} }: SentQuery,
  headers: PagingHeaders,
): Members | null {
  const before: Members = { ...input };
  const inputOf = (parameter: string) => ownMember(names, parameter) ?? parameter;
  const read = (parameter: string, values: readonly string[]) => {
    const schema = ownMember(inputSchema.properties, inputOf(parameter));
    return schema && inputValue(values, schema as Members, ownMember(styles, parameter));
  };
  let next: Members;
  const link = nextLink(String(headers.link ?? ''));
  if (link !== undefined) {
    if (!link.startsWith('?')) return null;
    const parameters = new URLSearchParams(link);
    const isConstant = (name: string) =>
      !ownMember(inputSchema.properties, inputOf(name)) && parameters.get(name) === String(query[name]);
    const linkParameters = [...new Set(parameters.keys())]
      .filter((name) => !isConstant(name))
      .map((name) => [inputOf(name), read(name, parameters.getAll(name))] as const);
    if (linkParameters.some(([, value]) => value === undefined)) return null;
    const sentInputs = new Set(Object.keys(query).map(inputOf));
    const otherInputs = Object.entries(before).filter(([name]) => !sentInputs.has(name));
    next = Object.fromEntries([...otherInputs, ...linkParameters]);
  } else {
    const page = headers['x-next-page'] === undefined ? undefined : read('page', [headers['x-next-page']]);
    if (page === undefined) return null;
    next = { ...before, [inputOf('page')]: page };
  }
  const isSame = (name: string) => JSON.stringify(next[name]) === JSON.stringify(before[name]);
  if (Object.keys({ ...before, ...next }).every(isSame)) return null;
  return next;
}

const separators: { readonly [style in QueryStyle]?: string } = {
  comma: ',',
  reservedComma: ',',
  space: ' ',
  pipe: '|',
};

/** The value of an input as a query has it; undefined if it is none of its type. */
function inputValue(
  values: readonly string[],
  { type, items }: Members,
  style: QueryStyle = 'form',
): unknown {
  const types: readonly unknown[] = [type].flat();
  const [text = ''] = values;
  if (types.includes('array')) {
    const parts = values.flatMap((value) => value.split(separators[style] ?? /$^/));
    const list = parts.map((part) => inputValue([part], isObject(items) ? items : { type: 'string' }));
    if (list.includes(undefined)) return undefined;
    return list;
  }
  if (values.length !== 1) return undefined;
  const isNumber = types.includes('integer') || types.includes('number');
  if (isNumber && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return Number(text);
  if (types.includes('boolean') && /^(?:true|false)$/.test(text)) return text === 'true';
  if (types.includes('string')) return text;
  return undefined;
}
