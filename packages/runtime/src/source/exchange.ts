import { userAgent } from '../process.ts';
import { type BodyParts, requestBody, withBodyMembers } from './body.ts';
import { type Alternatives, type SourceCredentials, sentBy } from './credentials.ts';
import { SourceError } from './errors.ts';
import {
  type Address,
  type HeaderStyle,
  headerParameter,
  ownMember,
  type Parameter,
  requestUrl,
  setParameter,
} from './request.ts';
import type { SourceExchange } from './send.ts';

/** What decides about the bytes of a request. */
interface Asked extends BodyParts, Omit<Address, 'baseUrl' | 'path'> {
  readonly headers?: { readonly [name: string]: Parameter };
  readonly headerStyles?: { readonly [name: string]: HeaderStyle };
  readonly auth?: Alternatives;
  readonly isIdempotent?: boolean;
}

/** What a request says by itself: the keys of its source are still missing. */
export interface Unsigned extends Pick<SourceExchange, 'method' | 'path' | 'url' | 'headers'> {
  readonly request: Asked;
}

interface Source extends SourceCredentials {
  readonly baseUrl: string;
}

/** Whether a request changes nothing, as its author says: an answer without content is then an empty result. */
export function isRead(
  method: SourceExchange['method'],
  { isIdempotent }: Pick<Asked, 'isIdempotent'>,
): boolean {
  return method === 'get' || (method === 'post' && isIdempotent === true);
}

/** @throws SourceError `INVALID_ARGUMENTS` if an argument cannot be sent in its place */
export function unsigned(
  baseUrl: string,
  method: SourceExchange['method'],
  path: string,
  request: Asked,
): Unsigned {
  const url = requestUrl({ ...request, baseUrl, path });
  const body = requestBody(request);
  const headers = new Headers({
    accept: 'application/json',
    'user-agent': userAgent(),
    ...(body && { 'content-type': body.type }),
    ...givenParameters(request.headers, request.headerStyles),
  });
  return { method, path, url, headers, request };
}

/** The whole request. @throws SourceError as `sentBy` */
export function signed({ method, path, url, headers, request }: Unsigned, source: Source): SourceExchange {
  const { variables, ...keys } = sentBy(source, path, request.auth);
  for (const [name, value] of keys.headers) headers.set(name, value);
  for (const [name, value] of keys.query) setParameter(url, name, value);
  const body = requestBody(withBodyMembers(request, keys.body));
  // The boundary of a multipart body is another one each time.
  if (body?.type.startsWith('multipart/')) headers.set('content-type', body.type);
  const isIdempotent = request.isIdempotent ?? /^(?:get|put|delete)$/.test(method);
  const queryKeys = keys.query.map(([name]) => name);
  return { method, url, path, headers, body: body?.content ?? null, isIdempotent, variables, queryKeys };
}

/** Headers from arguments: one that cannot be sent is an error of the caller. */
function givenParameters(
  values: { readonly [name: string]: Parameter } = {},
  styles: { readonly [name: string]: HeaderStyle } = {},
): { readonly [name: string]: string } {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(
    present.map(([name, value]) => {
      const text = headerParameter(name, value, ownMember(styles, name));
      if (/^[\t\x20-\x7e]*$/.test(text)) return [name.toLowerCase(), text];
      throw new SourceError('INVALID_ARGUMENTS', `arguments: ${name} cannot be sent in a header`);
    }),
  );
}
