// Builds the URL, headers and body of a request, and adds the keys.

import { userAgent } from '../process.ts';
import { type Alternatives, credentialsToSend, type SourceCredentials } from './credentials.ts';
import { type BodyParts, requestBody, withBodyMembers } from './request-body.ts';
import {
  type Address,
  type HeaderStyle,
  headerParameter,
  ownMember,
  type Parameter,
  requestUrl,
  setParameter,
} from './request-parameters.ts';
import type { KeyedRequest } from './send-with-retries.ts';
import { SourceError } from './source-errors.ts';

/** The parts of a request that its tool sets. */
interface RequestContent extends BodyParts, Omit<Address, 'baseUrl' | 'path'> {
  readonly headers?: { readonly [name: string]: Parameter };
  readonly headerStyles?: { readonly [name: string]: HeaderStyle };
  readonly auth?: Alternatives;
  readonly isIdempotent?: boolean;
}

/** A request before the keys of its source are added. */
export interface KeylessRequest extends Pick<KeyedRequest, 'method' | 'path' | 'url' | 'headers'> {
  readonly request: RequestContent;
}

interface Source extends SourceCredentials {
  readonly baseUrl: string;
}

/** Returns whether a request only reads. A POST does if its author says that it is idempotent, such as a search. */
export function isReadRequest(
  method: KeyedRequest['method'],
  { isIdempotent }: Pick<RequestContent, 'isIdempotent'>,
): boolean {
  return method === 'get' || (method === 'post' && isIdempotent === true);
}

/** Builds the URL and the headers of a request. @throws SourceError `INVALID_ARGUMENTS` if an argument cannot be sent where it belongs */
export function buildRequest(
  baseUrl: string,
  method: KeyedRequest['method'],
  path: string,
  request: RequestContent,
): KeylessRequest {
  const url = requestUrl({ ...request, baseUrl, path });
  const body = requestBody(request);
  const headers = new Headers({
    accept: 'application/json',
    'user-agent': userAgent(),
    ...headersFromArguments(request.headers, request.headerStyles),
  });
  if (body && !headers.has('content-type')) headers.set('content-type', body.type);
  return { method, path, url, headers, request };
}

/**
 * Returns a copy of a request with the keys of its source and the body.
 *
 * @throws SourceError `SOURCE_MISCONFIGURED` if a secret is not set
 */
export function addKeys(keylessRequest: KeylessRequest, source: Source): KeyedRequest {
  const { method, path, request } = keylessRequest;
  const url = new URL(keylessRequest.url);
  const headers = new Headers(keylessRequest.headers);
  const { variables, ...keys } = credentialsToSend(source, path, request.auth);
  for (const [name, value] of keys.headers) headers.set(name, value);
  for (const [name, value] of keys.query) setParameter(url, name, value);
  const body = requestBody(withBodyMembers(request, keys.body));
  // Each multipart body has a new boundary.
  if (body?.type.startsWith('multipart/')) headers.set('content-type', body.type);
  const isIdempotent = request.isIdempotent ?? /^(?:get|put|delete)$/.test(method);
  const queryKeys = keys.query.map(([name]) => name);
  return { method, url, path, headers, body: body?.content ?? null, isIdempotent, variables, queryKeys };
}

/** The headers that contain arguments. A value that cannot be sent is an error of the caller. */
function headersFromArguments(
  values: { readonly [name: string]: Parameter } = {},
  styles: { readonly [name: string]: HeaderStyle } = {},
): { readonly [name: string]: string } {
  const presentEntries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(
    presentEntries.map(([name, value]) => {
      const text = headerParameter(name, value, ownMember(styles, name));
      if (/^[\t\x20-\x7e]*$/.test(text)) return [name.toLowerCase(), text];
      throw new SourceError('INVALID_ARGUMENTS', `arguments: ${name} cannot be sent in a header`);
    }),
  );
}
