import type { Json } from 'market-mcp-contract/json';
import {
  type Api,
  type ApiKey,
  type ApiVariable,
  apiVariables,
  type CheckedTool,
} from '../import/imported-tool.ts';
import type { PlannedFile } from './planned-file.ts';

/** Path of the file that declares the author's variables. */
export const environmentFile = 'src/env.ts';

/** A setting of an API: a JSON value, keys of one place, or keys by name. */
export type Setting =
  | { readonly name: string; readonly value: Json }
  | { readonly name: string; readonly sentKeys: readonly ApiKey[] }
  | { readonly name: string; readonly keys: readonly ApiKey[] };

/** The APIs that the tools call, each once. */
export function apisOf(tools: readonly CheckedTool[]): readonly Api[] {
  const apis = tools.flatMap(({ call }) => (call ? [call.api] : []));
  return [...new Map(apis.map((api) => [api.file, api])).values()];
}

/** The variables of all APIs, each once. */
export function distinctVariables(apis: readonly Api[]): readonly ApiVariable[] {
  return [...new Map(apis.flatMap(apiVariables).map((variable) => [variable.name, variable])).values()];
}

export function planEnvironment(variables: readonly ApiVariable[]): PlannedFile {
  const context = { kinds: [...new Set(variables.map(({ kind }) => kind))].sort(), variables };
  return { path: environmentFile, template: 'source/env.ts.hbs', context, owner: 'yours' };
}

export function planApi(api: Api, tools: readonly CheckedTool[]): PlannedFile {
  return {
    path: `src/apis/${api.file}.ts`,
    template: 'source/api.ts.hbs',
    context: apiContext(api, tools),
    owner: 'yours',
  };
}

/** The context of `templates/source/api.ts.hbs`. The rate limit is the lowest `_meta.rateLimit` of the tools. */
export function apiContext(
  { title, address, sharedKeys, namedKeys = [], auth, file, kind, protocolVersion }: Api,
  tools: readonly CheckedTool[],
): object {
  const limits = tools
    .filter(({ call }) => call?.api.file === file)
    .flatMap(
      ({ definition }) => (definition._meta?.rateLimit ?? []) as readonly { readonly [name: string]: Json }[],
    );
  const least = (member: string) => {
    const values = limits.map((limit) => limit[member]).filter((value) => typeof value === 'number');
    if (values.length > 0) return Math.floor(Math.min(...values));
    return 0;
  };
  const numbers = [
    { name: 'perMinute', value: least('maxRequestsPerMinute') },
    { name: 'concurrency', value: least('maxConcurrency') },
  ].filter(({ value }) => value >= 1);
  const groups = (['headers', 'query', 'body'] as const)
    .map((name) => ({ name, sentKeys: sharedKeys.filter((key) => key.in === name) }))
    .filter(({ sentKeys }) => sentKeys.length > 0);
  const settings: Setting[] = [];
  if (protocolVersion !== undefined) settings.push({ name: 'protocolVersion', value: protocolVersion });
  settings.push(...groups);
  if (namedKeys.length > 0) settings.push({ name: 'credentials', keys: namedKeys });
  if (auth) settings.push({ name: 'auth', value: auth });
  settings.push(...numbers);
  return {
    title,
    baseUrl: address.name,
    imports: [...helpersOf([...sharedKeys, ...namedKeys]), kind === 'mcp' ? 'mcpSource' : 'httpSource'],
    mcp: kind === 'mcp',
    settings,
  };
}

/** The functions of the runtime that make what these keys send. */
export function helpersOf(keys: readonly ApiKey[]): readonly string[] {
  const kinds = new Set(keys.map(({ kind }) => kind));
  const helpers: string[] = [];
  if (kinds.has('basic')) helpers.push('basic');
  if (kinds.has('client')) helpers.push('clientCredentials');
  return helpers;
}
