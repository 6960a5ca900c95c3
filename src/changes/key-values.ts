import { resolve } from 'node:path';
import { type InputError, inputError, orList, spellingHint } from 'market-mcp-contract/command';
import type { ApiRequest, KeySource } from '../import/imported-tool.ts';
import { readDotEnv } from '../project/read/dot-env.ts';
import type { PartialAnswers } from '../questions/partial-answers.ts';
import type { KeyAccess } from '../questions/tool-answers.ts';
import type { ImportRun } from './import-run.ts';

/** The keys of a request, and the origin that it sends them to. */
export interface RequestKeys {
  readonly origin: string;
  /** Where the value of each key is, by the project's variable for it. */
  readonly sources: ReadonlyMap<string, KeySource>;
}

/**
 * Which keys of a request have values. The variable that a request names for a key may differ from the variable that the project has
 * for this key.
 */
export interface KeyValues extends Pick<RequestKeys, 'origin'> {
  /** The values of keys, by the project's variable. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Variables that the request names and the environment has, but that the author has not allowed to send. */
  readonly unpermitted: readonly string[];
  /** Variables that the request names, and that have no value. */
  readonly missing: readonly string[];
}

/** Stores a value that the author has typed at the terminal, for one origin. */
export function rememberTypedKey(
  { typedKeys }: ImportRun,
  variable: string,
  origin: string,
  value: string,
): void {
  typedKeys.set(`${origin} ${variable}`, value);
}

function typedVariables({ typedKeys }: ImportRun, origin: string): readonly string[] {
  const keys = [...typedKeys.keys()].filter((key) => key.startsWith(`${origin} `));
  return keys.map((key) => key.slice(origin.length + 1));
}

/**
 * Finds the values of keys. A variable has the first of these values: what the author typed; the project's `.env`, if a file in
 * `src/apis/` uses the variable for this origin; the environment, if `--env` permits it.
 */
export async function findKeyValues(
  { origin, sources }: RequestKeys,
  { directory, env }: KeyAccess,
  { typedKeys }: ImportRun,
): Promise<KeyValues> {
  const hasVariables = [...sources.values()].some((source) => 'variable' in source);
  const savedValues = hasVariables ? await dotEnvValues(directory, origin) : {};
  const secrets = new Map<string, string>();
  const unpermitted: string[] = [];
  const missing: string[] = [];
  for (const [projectVariable, source] of sources) {
    if ('value' in source) {
      secrets.set(projectVariable, source.value);
      continue;
    }
    const { variable: statedVariable } = source;
    const environmentValue = process.env[statedVariable]?.trim() || undefined;
    const permittedValue = env.includes(statedVariable) ? environmentValue : undefined;
    const typedValue = typedKeys.get(`${origin} ${statedVariable}`);
    const value = typedValue ?? savedValues[projectVariable] ?? permittedValue;
    if (value !== undefined) secrets.set(projectVariable, value);
    else if (environmentValue === undefined) missing.push(statedVariable);
    else unpermitted.push(statedVariable);
  }
  return { origin, secrets, unpermitted, missing };
}

/** The values in `.env` that may be sent to an origin. The parser of the API files is loaded only if there are any values. */
async function dotEnvValues(directory: string, origin: string): Promise<NodeJS.Dict<string>> {
  const root = resolve(directory);
  const values = readDotEnv(root);
  if (Object.keys(values).length === 0) return {};
  const { valuesForOrigin } = await import('../project/source/origin-env.ts');
  return valuesForOrigin(root, values, origin);
}

/** The errors of a request that cannot be sent, because keys have no value or must not leave the environment. */
export function keyValueErrors(
  { origin, unpermitted, missing }: KeyValues,
  flag: string,
): readonly InputError[] {
  const permissionErrors = unpermitted.map((variable) => {
    const message = `would send ${variable} from your environment to ${origin}, so nothing was sent`;
    return inputError(flag, undefined, message, `Add --env ${variable} to allow it.`);
  });
  const missingValueErrors = missing.map((variable) => {
    const message = `has no value for ${variable} at ${origin}, so nothing was sent`;
    const hint = `Set it in the environment and add --env ${variable}, or write the key in its place. .env counts only if a file in src/apis/ uses the variable for this address.`;
    return inputError(flag, undefined, message, hint);
  });
  return [...permissionErrors, ...missingValueErrors];
}

/** The errors of `--env` for variables that no request names. */
export function unusedVariables(
  env: readonly string[],
  requests: readonly RequestKeys[],
): readonly InputError[] {
  const requestVariables = [...new Set(requests.flatMap(keyVariables))];
  const choices = requestVariables.length > 0 ? `It names ${orList(requestVariables)}.` : 'It names none.';
  return env
    .filter((name) => !requestVariables.includes(name))
    .map((name) => {
      // A shell replaces `--env $API_KEY` by the key.
      const printableName = process.env[name] === undefined ? undefined : name;
      return inputError(
        '--env',
        printableName,
        'is no variable that the request names as a key',
        spellingHint(name, requestVariables, choices),
      );
    });
}

/**
 * The variables that the repeated command needs. A variable that the environment has, and that nobody allowed to send, is not among
 * them: the author may have refused it.
 */
export function variablesToReplay(
  { env = [], fromRequest = [], fromUrl }: PartialAnswers,
  run: ImportRun,
): readonly string[] {
  const typedNames = fromUrl === undefined ? [] : typedVariables(run, new URL(fromUrl).origin);
  const requestNames = fromRequest.flatMap((text) => run.keylessCommands.get(text)?.variables ?? []);
  const unsetNames = [...requestNames, ...typedNames].filter((name) => !process.env[name]);
  return [...new Set([...env, ...unsetNames])];
}

/** The variables that a request names as its keys. */
function keyVariables({ sources }: RequestKeys): readonly string[] {
  return [...sources.values()].filter((source) => 'variable' in source).map((source) => source.variable);
}

/** The origin that a request is sent to. */
export function requestOrigin({ api }: Pick<ApiRequest, 'api'>): string {
  const { fallback = '' } = api.address;
  if (URL.canParse(fallback)) return new URL(fallback).origin;
  return fallback;
}
