import type { Json } from 'market-mcp-contract/json';
import type { Api, ApiKey, ApiVariable, Credential, ImportedTool } from '../import/model.ts';
import type { PlannedFile } from './model.ts';

/** Path of the file that declares the author's variables. */
export const environmentFile = 'src/env.ts';

/** A setting of an API: a JSON value, a group of credentials, or keys by name. */
export type Setting =
  | { readonly name: string; readonly value: Json }
  | { readonly name: string; readonly credentials: readonly Credential[] }
  | { readonly name: string; readonly keys: readonly ApiKey[] };

/** The APIs that the tools call, each once. */
export function apisOf(tools: readonly ImportedTool[]): readonly Api[] {
  const apis = tools.flatMap(({ call }) => (call ? [call.api] : []));
  return [...new Map(apis.map((api) => [api.file, api])).values()];
}

/** The variables of all APIs, each once. */
export function variablesOf(apis: readonly Api[]): readonly ApiVariable[] {
  const all = apis.flatMap(({ variables }) => variables);
  return [...new Map(all.map((variable) => [variable.name, variable])).values()];
}

export function planEnvironment(variables: readonly ApiVariable[]): PlannedFile {
  const context = { kinds: [...new Set(variables.map(({ kind }) => kind))].sort(), variables };
  return { path: environmentFile, template: 'source/env.ts.hbs', context, owner: 'yours' };
}

export function planApi(api: Api, tools: readonly ImportedTool[]): PlannedFile {
  return {
    path: `src/apis/${api.file}.ts`,
    template: 'source/api.ts.hbs',
    context: apiContext(api, tools),
    owner: 'yours',
  };
}

/** The context of `templates/source/api.ts.hbs`. The rate limit is the lowest `_meta.rateLimit` of the tools. */
export function apiContext(
  {
    title,
    baseUrl,
    headers,
    query,
    body = [],
    credentials: keys = [],
    auth,
    file,
    kind,
    protocolVersion,
  }: Api,
  tools: readonly ImportedTool[],
): object {
  const limits = tools
    .filter(({ call }) => call?.api.file === file)
    .flatMap(
      ({ definition }) => (definition._meta?.rateLimit ?? []) as readonly { readonly [name: string]: Json }[],
    );
  const least = (member: string) => {
    const values = limits.map((limit) => limit[member]).filter((value) => typeof value === 'number');
    return values.length > 0 ? Math.floor(Math.min(...values)) : 0;
  };
  const numbers = [
    { name: 'perMinute', value: least('maxRequestsPerMinute') },
    { name: 'concurrency', value: least('maxConcurrency') },
  ].filter(({ value }) => value >= 1);
  const shared = [
    { name: 'headers', credentials: headers },
    { name: 'query', credentials: query },
    { name: 'body', credentials: body },
  ].filter((group) => group.credentials.length > 0);
  const settings: readonly Setting[] = [
    ...(protocolVersion === undefined ? [] : [{ name: 'protocolVersion', value: protocolVersion }]),
    ...shared,
    ...(keys.length > 0 ? [{ name: 'credentials', keys }] : []),
    ...(auth ? [{ name: 'auth', value: auth }] : []),
    ...numbers,
  ];
  const helpers = helpersOf([...headers, ...keys.map(({ credential }) => credential)]);
  return {
    title,
    baseUrl,
    imports: [...helpers, kind === 'mcp' ? 'mcpSource' : 'httpSource'],
    mcp: kind === 'mcp',
    settings,
  };
}

/** The functions of the runtime that make these credentials. */
export function helpersOf(credentials: readonly Credential[]): readonly string[] {
  const kinds = new Set(credentials.map(({ kind }) => kind));
  return [...(kinds.has('basic') ? ['basic'] : []), ...(kinds.has('client') ? ['clientCredentials'] : [])];
}
