import { type Json, type JsonObject, objectOr } from 'market-mcp-contract/json';
import { isKeyName } from '../key-names.ts';
import type { ApiKey } from '../model.ts';
import type { Place } from './document.ts';
import type { ApiOperation } from './operations.ts';
import { plainText } from './text.ts';

/** A key that a document describes, without the prefix of its API. */
export interface Described {
  /** Name in the file of the API. */
  key: string;
  readonly in: 'headers' | 'query';
  readonly name: string;
  readonly kind: ApiKey['kind'];
  readonly cookie?: string;
  /** What distinguishes it from keys of the same name. */
  readonly other: string;
  /** Ends of the names of its variables, and what they contain. */
  readonly variables: { suffix: string; readonly text: string; readonly fallback?: string }[];
}

export function ofParameter({ name, in: place, text }: KeyParameter): Described {
  return {
    key: plainName(name),
    in: place === 'query' ? 'query' : 'headers',
    name,
    kind: 'plain',
    other: constantOf(place),
    variables: [{ suffix: constantOf(name), text }],
  };
}

/** A security scheme; null if no program can send it. */
export function ofScheme(key: string, scheme: JsonObject): Described | null {
  const { type, name, in: place } = scheme;
  const text = plainText(scheme.description, 120);
  const kind = String(scheme.scheme ?? '').toLowerCase();
  const known = { key: plainName(key), in: 'headers', other: constantOf(key) } as const;
  if (type === 'apiKey') {
    if (typeof name !== 'string' || !/^[\w.-]+$/.test(name)) return null;
    const variables = [{ suffix: constantOf(name), text: text || `Key of the API (${name})` }];
    if (place === 'cookie') return { ...known, name: 'cookie', kind: 'cookie', cookie: name, variables };
    if (place !== 'query' && place !== 'header') return null;
    return { ...known, in: place === 'query' ? 'query' : 'headers', name, kind: 'plain', variables };
  }
  const authorization = { ...known, name: 'authorization' };
  if (type === 'basic' || (type === 'http' && kind === 'basic')) {
    const variables = [
      { suffix: 'USER', text: text || 'User name at the API' },
      { suffix: 'PASSWORD', text: 'Password of that user' },
    ];
    return { ...authorization, kind: 'basic', variables };
  }
  const bears = type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && kind === 'bearer');
  if (!bears) return null;
  const tokenUrl = type === 'oauth2' ? clientTokenUrl(scheme) : undefined;
  if (tokenUrl !== undefined) {
    const variables = [
      { suffix: 'TOKEN_URL', text: 'Where the API issues tokens', fallback: tokenUrl },
      { suffix: 'CLIENT_ID', text: 'Id of this client at the API' },
      { suffix: 'CLIENT_SECRET', text: 'Secret of this client' },
    ];
    return { ...authorization, kind: 'client', variables };
  }
  const ends = type === 'oauth2' || type === 'openIdConnect' ? ' (a static token, which ends)' : '';
  const variables = [{ suffix: 'TOKEN', text: (text || 'Token for the API') + ends }];
  return { ...authorization, kind: 'bearer', variables };
}

/** Where a server gets tokens without a user: the flow client credentials (in Swagger 2.0: application). */
function clientTokenUrl({ flow, flows, tokenUrl }: JsonObject): string | undefined {
  const url = flow === 'application' ? tokenUrl : objectOr(objectOr(flows).clientCredentials).tokenUrl;
  const isPlain = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isPlain && new URL(url).search === '' && new URL(url).username === '' ? url : undefined;
}

/** Whether a value is a scope (RFC 6749 §3.3). */
export function isScope(value: Json): value is string {
  return typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(value);
}

/** A name as one in the file of an API. */
export function plainName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60);
  return plain === '__proto__' || plain === '' ? 'key' : plain;
}

/** `X-Api-Key` → `API_KEY`. */
export function constantOf(name: string): string {
  const words = name
    .replace(/^x-/i, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return words.toUpperCase().slice(0, 40) || 'KEY';
}

/** A header or query parameter that is a key of the API: a secret of the server, never an argument. */
export interface KeyParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly isRequired: boolean;
  readonly text: string;
}

/** Whether a parameter is a security scheme of the document. */
export type IsScheme = (place: KeyParameter['in'], name: string) => boolean;

/** The parameters of an operation that are keys. */
export function keyParametersOf(operation: ApiOperation, isScheme: IsScheme): readonly KeyParameter[] {
  return parametersOf(operation).flatMap(({ members }) => keyParameter(members, isScheme) ?? []);
}

/** A parameter as a key; undefined if callers give it. */
export function keyParameter(
  { name, in: place, description, required }: JsonObject,
  isScheme: IsScheme,
): KeyParameter | undefined {
  if (place !== 'query' && place !== 'header') return undefined;
  if (!isKeyName(String(name)) && !isScheme(place, String(name))) return undefined;
  const text = plainText(description, 120) || `Key that the API takes as ${name}`;
  return { name: String(name), in: place, isRequired: required === true, text };
}

/** The parameters of the path, then those of the operation, which replace equal ones. */
export function parametersOf({ found, shared }: ApiOperation): readonly Place[] {
  const parameters = [shared, found].flatMap((part) => part.at('parameters').items());
  const named = parameters.filter(({ members }) => typeof members.name === 'string');
  return [...new Map(named.map((one) => [`${one.members.in} ${one.members.name}`, one])).values()];
}
