import { CommandError } from 'market-mcp-contract/command';
import { visibleJson, withLargeIntegersAsText } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { completeRecording, initialRecordings, recordingPath } from '../../import/api-recordings.ts';
import {
  type Api,
  type ApiKey,
  type ApiVariable,
  apiVariables,
  type CheckedTool,
  type KeyAlternatives,
  type Recording,
} from '../../import/imported-tool.ts';
import { withCredentials } from '../../import/operation-credentials.ts';
import { runtimePackage, sourceDependencies } from '../../plan/package-versions.ts';
import {
  apisOf,
  distinctVariables,
  environmentFile,
  helpersOf,
  planApi,
  planEnvironment,
} from '../../plan/plan-sources.ts';
import type { FileSet, Ownership, ProjectFile, TemplateSet } from '../../plan/planned-file.ts';
import { stringLiteral } from '../../render/literal.ts';
import { render } from '../../render/render.ts';
import { declaration, keyEntry, setting } from '../../render/request-code.ts';
import { type ApiSource, readApiSource } from '../../typescript/api-source.ts';
import { decodeText, encodeText, inStyle, parsedJson, serializeJson } from '../read/file-text.ts';

/** The current text of a file of the project; undefined if there is none. */
export type ReadIfThere = (path: string) => string | undefined;

/**
 * The files that tools with an API need besides their own: a file for each API, its variables,
 * recordings for tests and checks, dependencies. Existing files are kept and only extended.
 *
 * @throws CommandError `SOURCES_EDITED` if an author's file cannot be extended
 */
export function sourceFiles(
  tools: readonly CheckedTool[],
  read: ReadIfThere,
  templates: TemplateSet,
  testValues: PlatformProfile['smoke'],
): FileSet {
  const apis = apisOf(tools);
  if (apis.length === 0) return new Map();
  const variables = distinctVariables(apis);
  const missing = (path: string) => read(path) === undefined;
  const planned = [...apis.map((api) => planApi(api, tools)), planEnvironment(variables)].filter(({ path }) =>
    missing(path),
  );
  const extensions: readonly (readonly [path: string, extend: (text: string) => string])[] = [
    ...apis.map((api) => [apiFile(api), (text: string) => withScopes(api, withKeys(api, text))] as const),
    [environmentFile, (text) => withDeclarations(text, variables)],
    ['.env.example', (text) => withVariables(text, variables)],
    ['package.json', (text) => withSourceDependencies(text)],
  ];
  const extended = extensions.flatMap(([path, extend]): readonly (readonly [string, ProjectFile])[] => {
    const before = read(path);
    const after = before === undefined ? before : extend(before);
    if (after === undefined || after === before) return [];
    return [[path, textFile(after, 'yours')]];
  });
  return new Map([...render(planned, templates), ...extended, ...recordingFiles(tools, read, testValues)]);
}

function textFile(text: string, owner: Ownership): ProjectFile {
  return { content: encodeText(text), owner };
}

/**
 * Tools whose requests state the keys that the existing file of their API does not send with every request.
 *
 * @param secrets the generated variables of the project that are secrets; undefined if they are not known
 */
export function withStatedKeys(
  tools: readonly CheckedTool[],
  read: ReadIfThere,
  secrets: readonly string[] | undefined,
): readonly CheckedTool[] {
  return withCredentials(tools, (api) => {
    const text = read(apiFile(api));
    const source = text === undefined ? undefined : readApiSource(text);
    if (text === undefined || !source) return undefined;
    const ownNames = new Set([...(secrets ?? source.shared), ...apiVariables(api).map(({ name }) => name)]);
    const sharedVariables = new Set([...source.shared].filter((name) => ownNames.has(name)));
    return { sharedVariables, ...(isAlternatives(source.auth) && { auth: source.auth }) };
  });
}

function isAlternatives(value: unknown): value is KeyAlternatives {
  const isText = (value: unknown) => typeof value === 'string';
  return Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.every(isText));
}

function apiFile({ file }: Api): string {
  return `src/apis/${file}.ts`;
}

/** The file of an API from an earlier run, with the keys that new tools name and it does not. */
function withKeys(api: Api, text: string): string {
  const source = readApiSource(text);
  const { namedKeys = [] } = api;
  const missing = namedKeys.filter(({ key }) => !source?.named.has(key));
  const differentKey = namedKeys.find((key) => !isLike(key, source?.named.get(key.key)));
  if (differentKey) {
    const message = `src/apis/${api.file}.ts sends other keys as credentials.${differentKey.key} than the new tools need: ${keyEntry(differentKey, 0)}`;
    const hint = `Rename ${differentKey.key} there and in the tools that state it, or rename the file so that a new one is written.`;
    throw new CommandError('SOURCES_EDITED', message, hint);
  }
  const next = source && missing.length > 0 ? withEntries(text, source, missing) : text;
  const lacking = apiVariables(api).filter(({ name }) => !next.includes(name));
  if (lacking.length === 0 && (source || missing.length === 0)) return next;
  const names = [
    ...lacking.map(({ name }) => `env.${name}`),
    ...missing.map(({ key }) => `credentials.${key}`),
  ].join(', ');
  const message = `src/apis/${api.file}.ts does not use ${names}, which the new tools need`;
  const entries = missing.map((key) => keyEntry(key, 0)).join(', ');
  const hint = `Add ${entries === '' ? 'it' : `credentials: { ${entries} }`} there, or rename the file so that a new one is written.`;
  throw new CommandError('SOURCES_EDITED', message, hint);
}

/** The file of an API, whose tokens are also for what new tools need. */
function withScopes(api: Api, text: string): string {
  const keys = [...api.sharedKeys, ...(api.namedKeys ?? [])];
  const literals = [...text.matchAll(/\bscope: (['"])([^'"\\]*)\1/g)];
  const requestedScopes = new Set(literals.flatMap(([, , scopes = '']) => scopes.split(' ')));
  const missing = keys.flatMap(({ scopes = [] }) => scopes).filter((scope) => !requestedScopes.has(scope));
  const [first] = literals;
  if (missing.length === 0) return text;
  const scopeText = `scope: ${stringLiteral([...requestedScopes, ...missing].join(' '))}`;
  if (first && literals.length === 1) return text.replace(first[0], () => scopeText);
  const message = `src/apis/${api.file}.ts does not ask for the scope ${missing.join(' ')}, which the new tools need`;
  const hint = `Add scope: '${missing.join(' ')}' to clientCredentials there, and run the command again.`;
  throw new CommandError('SOURCES_EDITED', message, hint);
}

/** Whether what the file sends under this name contains the key in its place, as far as the text says. */
function isLike(
  { in: place, name, variables }: ApiKey,
  statedNames: ReadonlySet<string> = new Set(),
): boolean {
  const ownNames = [`${place} ${name}`, ...variables.map((variable) => variable.name)];
  return statedNames.size === 0 || ownNames.every((name) => statedNames.has(name));
}

function withEntries(text: string, { credentials, options }: ApiSource, keys: readonly ApiKey[]): string {
  const { bracket, behind } = credentials ?? options;
  const indent = credentials ? 4 : 2;
  const entries = credentials
    ? keys.map((key) => keyEntry(key, indent))
    : [setting({ name: 'credentials', keys })];
  const lines = entries.map((entry) => `\n${' '.repeat(indent)}${entry},`).join('');
  const comma = /[,{]/.test(text.charAt(behind - 1)) ? '' : ',';
  const head = text.slice(0, behind) + comma + text.slice(behind, bracket).trimEnd();
  const next = `${head}${lines}\n${' '.repeat(indent - 2)}${text.slice(bracket)}`;
  return addImports(next, 'source', helpersOf(keys));
}

/** Source that also imports these names from a part of the runtime; unchanged if it imports nothing from there. */
function addImports(text: string, part: string, names: readonly string[]): string {
  if (names.length === 0) return text;
  const module = `${runtimePackage}/${part}`;
  return text.replace(
    new RegExp(`import \\{([^}]*)\\} from (['"])${module}\\2`),
    (_, listed: string, quote) => {
      const allNames = [...listed.split(','), ...names]
        .map((name) => name.trim())
        .filter((name) => name !== '');
      return `import { ${[...new Set(allNames)].sort().join(', ')} } from ${quote}${module}${quote}`;
    },
  );
}

/** Adds missing declarations at the end of the list. */
function withDeclarations(text: string, variables: readonly ApiVariable[]): string {
  const fresh = variables.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(text));
  if (fresh.length === 0) return text;
  const end = text.lastIndexOf('\n});');
  if (end < 0 || !/import \{[^}]*\} from (['"])market-mcp-runtime\/env\1/.test(text)) {
    const message = `${environmentFile} no longer has its generated form, so nothing can be added to it`;
    const hint = `Declare ${fresh.map(({ name }) => name).join(', ')} there by hand, and run the command again.`;
    throw new CommandError('SOURCES_EDITED', message, hint);
  }
  const lines = fresh.map((variable) => `\n  ${declaration(variable)},`).join('');
  const declaredText = text.slice(0, end).trimEnd();
  const next = `${declaredText}${/[,{]$/.test(declaredText) ? '' : ','}${lines}${text.slice(end)}`;
  return addImports(
    next,
    'env',
    fresh.map(({ kind }) => kind),
  );
}

/** The line of `.env.example` before the variables of the server. */
const serverVariables = /^# Variables of the server\b/m;

/** An `.env.example` with the variables of APIs before the server's own; existing ones are kept. */
export function withVariables(text: string, variables: readonly ApiVariable[]): string {
  const fresh = variables.filter(({ name }) => !new RegExp(`^(# )?${name}=`, 'm').test(text));
  if (fresh.length === 0) return text;
  const paragraphs = fresh.map(({ name, text: says, fallback = '', optional }) => {
    if (optional) return `# ${says} (optional)\n# ${name}=${fallback}\n`;
    return `# ${says}\n${name}=${fallback}\n`;
  });
  const at = text.search(serverVariables);
  const [before, behind] = at < 0 ? [text, ''] : [text.slice(0, at), `\n${text.slice(at)}`];
  return `${before.trimEnd()}\n\n${paragraphs.join('\n')}${behind}`;
}

/** What package.json needs for APIs. */
export interface SourceNeeds {
  readonly dependencies: { readonly [name: string]: string };
  readonly scripts: { readonly record: string };
}

const sourceNeeds: SourceNeeds = {
  dependencies: sourceDependencies,
  scripts: { record: 'market-mcp record' },
};

/**
 * A package.json extended with what APIs need; existing entries are kept.
 *
 * @throws CommandError if it cannot be read
 */
export function withSourceDependencies(text: string, needs = sourceNeeds): string {
  let manifest: { scripts?: { record?: string }; dependencies?: object };
  try {
    manifest = parsedJson(text);
  } catch (error) {
    const message = `package.json: ${(error as Error).message}`;
    throw new CommandError('SOURCES_EDITED', message, 'Correct it: it must be valid JSON.', { cause: error });
  }
  const allDependencies = { ...needs.dependencies, ...manifest.dependencies };
  const dependencies = Object.fromEntries(
    Object.entries(allDependencies).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const scripts = { ...manifest.scripts, record: manifest.scripts?.record ?? needs.scripts.record };
  const next = { ...manifest, scripts, dependencies };
  if (JSON.stringify(next) === JSON.stringify(manifest)) return text;
  return decodeText(inStyle(text, `${serializeJson(next, 2)}\n`));
}

/** Existing recordings are kept: they may be real ones. */
function recordingFiles(
  tools: readonly CheckedTool[],
  read: ReadIfThere,
  testValues: PlatformProfile['smoke'],
): FileSet {
  const files = new Map<string, Recording[]>();
  for (const tool of tools) {
    if (!tool.call) continue;
    const path = recordingPath(tool.call);
    const knownRecordings = files.get(path) ?? parseRecordings(path, read(path));
    const { call } = tool;
    const byRequest = new Map(
      knownRecordings.map((recording) => [JSON.stringify(recording.request), recording]),
    );
    for (const fresh of initialRecordings(tool, call, testValues)) {
      const request = JSON.stringify(fresh.request);
      const before = byRequest.get(request);
      byRequest.set(request, before ? completeRecording(before, fresh, tool, call) : fresh);
    }
    files.set(path, [...byRequest.values()]);
  }
  return new Map(
    [...files].map(([path, list]) => [
      path,
      textFile(`${visibleJson(JSON.stringify(list, null, 2))}\n`, 'yours'),
    ]),
  );
}

function parseRecordings(path: string, text: string | undefined): Recording[] {
  try {
    if (text === undefined) return [];
    return JSON.parse(withLargeIntegersAsText(text).text) as Recording[];
  } catch (error) {
    const message = `${path}: ${(error as Error).message}`;
    throw new CommandError('SOURCES_EDITED', message, 'Restore it, or delete it.', { cause: error });
  }
}
