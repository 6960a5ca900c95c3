import { isKeyName } from 'market-mcp-contract/command';
import { type Json, type JsonObject, objectOr, textOr } from 'market-mcp-contract/json';
import type { ApiKey, ApiVariable } from '../imported-tool.ts';
import { plainText } from './document-text.ts';
import type { DocumentPlace } from './openapi-document.ts';
import type { ApiOperation } from './operations.ts';

/** A key that a document describes. The names of its variables lack the prefix of its API. */
export interface Described extends ApiKey {
  key: string;
  readonly in: 'headers' | 'query';
  readonly variables: readonly (Omit<ApiVariable, 'name'> & { name: string })[];
  /** What distinguishes it from keys of the same name. */
  readonly other: string;
}

function secretVariable(name: string, text: string): ApiVariable {
  return { name, kind: 'secret', text };
}

/** The key of a security scheme; null if no program can send it. */
export function ofScheme(key: string, scheme: JsonObject): Described | null {
  const { type } = scheme;
  const position = { key: plainName(key), in: 'headers', other: constantOf(key) } as const;
  if (type === 'apiKey') return apiKeyOf(position, scheme);
  const authorization = { ...position, name: 'authorization' };
  const kind = textOr(scheme.scheme).toLowerCase();
  const text = plainText(scheme.description, 120);
  if (type === 'basic' || (type === 'http' && kind === 'basic')) {
    const variables = [
      secretVariable('USER', text || 'User name at the API'),
      secretVariable('PASSWORD', 'Password of that user'),
    ];
    return { ...authorization, kind: 'basic', variables };
  }
  const hasFlow = type === 'oauth2' || type === 'openIdConnect';
  if (!hasFlow && !(type === 'http' && kind === 'bearer')) return null;
  const tokenUrl = type === 'oauth2' ? clientTokenUrl(scheme) : undefined;
  if (tokenUrl !== undefined)
    return { ...authorization, kind: 'client', variables: clientVariables(tokenUrl) };
  const suffix = hasFlow ? ' (a static token, which ends)' : '';
  const variables = [secretVariable('TOKEN', (text || 'Token for the API') + suffix)];
  return { ...authorization, kind: 'bearer', variables };
}

function apiKeyOf(
  position: Pick<Described, 'key' | 'in' | 'other'>,
  { name, in: place, description }: JsonObject,
): Described | null {
  if (typeof name !== 'string' || !/^[\w.-]+$/.test(name)) return null;
  const text = plainText(description, 120) || `Key of the API (${name})`;
  const variables = [secretVariable(constantOf(name), text)];
  if (place === 'cookie') return { ...position, name: 'cookie', kind: 'cookie', variables, cookie: name };
  if (place !== 'query' && place !== 'header') return null;
  return { ...position, in: place === 'query' ? 'query' : 'headers', name, kind: 'plain', variables };
}

/** The variables of the flow client credentials (RFC 6749 §4.4). */
function clientVariables(tokenUrl: string): Described['variables'] {
  return [
    { name: 'TOKEN_URL', kind: 'url', text: 'Where the API issues tokens', fallback: tokenUrl },
    secretVariable('CLIENT_ID', 'Id of this client at the API'),
    secretVariable('CLIENT_SECRET', 'Secret of this client'),
  ];
}

/** Where a server gets tokens without a user: the flow client credentials (in Swagger 2.0: application). */
function clientTokenUrl({ flow, flows, tokenUrl }: JsonObject): string | undefined {
  const url = flow === 'application' ? tokenUrl : objectOr(objectOr(flows).clientCredentials).tokenUrl;
  const isPlain = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (isPlain && new URL(url).search === '' && new URL(url).username === '') return url;
  return undefined;
}

/** Whether a value is a scope (RFC 6749 §3.3). */
export function isScope(value: Json): value is string {
  return typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(value);
}

/** A name as one in the file of an API. */
export function plainName(name: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60);
  if (word === '__proto__' || word === '') return 'key';
  return word;
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
  readonly key: Described;
  readonly isRequired: boolean;
}

/** Whether the document has a security scheme like a parameter. */
export type IsScheme = (key: Described) => boolean;

/** The parameters of an operation that are keys. */
export function keyParametersOf(operation: ApiOperation, isScheme: IsScheme): readonly KeyParameter[] {
  return operationParameters(operation).flatMap(({ members }) => keyParameter(members, isScheme) ?? []);
}

/** A parameter as a key; undefined if callers give it. */
export function keyParameter(
  { name: declaredName, in: place, description, required }: JsonObject,
  isScheme: IsScheme,
): KeyParameter | undefined {
  if (place !== 'query' && place !== 'header') return undefined;
  const name = textOr(declaredName);
  const text = plainText(description, 120) || `Key that the API takes as ${name}`;
  const key: Described = {
    key: plainName(name),
    in: place === 'query' ? 'query' : 'headers',
    name,
    kind: 'plain',
    other: constantOf(place),
    variables: [secretVariable(constantOf(name), text)],
  };
  if (isKeyName(name) || isScheme(key)) return { key, isRequired: required === true };
  return undefined;
}

/** The parameters of the path, then those of the operation, which replace equal ones. */
export function operationParameters({ found, shared }: ApiOperation): readonly DocumentPlace[] {
  const parameters = [shared, found].flatMap((part) => part.at('parameters').items());
  const namedParameters = parameters.filter(({ members }) => typeof members.name === 'string');
  return [
    ...new Map(
      namedParameters.map((parameter) => [`${parameter.members.in} ${parameter.members.name}`, parameter]),
    ).values(),
  ];
}
