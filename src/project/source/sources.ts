import { visibleJson } from '../../contract/json.ts';
import type { PlatformProfile } from '../../contract/platforms/profile.ts';
import type { Api, ApiVariable, ImportedTool, Recording } from '../../import/model.ts';
import { completed, recordingFile, recordingsOf } from '../../import/recordings.ts';
import type { FileSet, Ownership, ProjectFile, TemplateSet } from '../../plan/model.ts';
import { apisOf, environmentFile, planApi, planEnvironment, variablesOf } from '../../plan/sources.ts';
import { runtimePackage, sourceDependencies } from '../../plan/versions.ts';
import { render } from '../../render/render.ts';
import { declaration } from '../../render/request.ts';
import { ProjectError } from '../errors.ts';
import { bytesOf, jsonText } from '../read/text.ts';

/** The current text of a file of the project; undefined if there is none. */
export type ReadText = (path: string) => string | undefined;

/**
 * The files that tools with an API need besides their own: a file for each API, its variables,
 * recordings for tests and checks, dependencies. Existing files are kept and only extended.
 *
 * @throws ProjectError `SOURCES_EDITED` if an author's file cannot be extended
 */
export function sourceFiles(
  tools: readonly ImportedTool[],
  read: ReadText,
  templates: TemplateSet,
  smoke: PlatformProfile['smoke'],
): FileSet {
  const apis = apisOf(tools);
  if (apis.length === 0) return new Map();
  const variables = variablesOf(apis);
  const missing = (path: string) => read(path) === undefined;
  const planned = [...apis.map((api) => planApi(api, tools)), planEnvironment(variables)].filter(({ path }) =>
    missing(path),
  );
  for (const api of apis) requireCredentials(api, read(`src/apis/${api.file}.ts`));
  const environment = read(environmentFile);
  const own = {
    environment,
    example: read('.env.example'),
    manifest: read('package.json'),
  };
  return new Map([
    ...render(planned, templates),
    ...(own.environment === undefined
      ? []
      : changed(environmentFile, own.environment, withDeclarations(own.environment, variables))),
    ...(own.example === undefined
      ? []
      : changed('.env.example', own.example, withExamples(own.example, variables))),
    ...(own.manifest === undefined
      ? []
      : changed('package.json', own.manifest, withSourceDependencies(own.manifest))),
    ...recordingFiles(tools, read, smoke),
  ]);
}

function changed(path: string, before: string, after: string): readonly (readonly [string, ProjectFile])[] {
  return before === after ? [] : [[path, fileOf(after, 'yours')]];
}

function fileOf(text: string, owner: Ownership): ProjectFile {
  return { content: bytesOf(text), owner };
}

/** The file of an API from an earlier run may lack a credential that a new tool needs. */
function requireCredentials({ file, variables }: Api, text: string | undefined): void {
  const lacking = text === undefined ? [] : variables.filter(({ name }) => !text.includes(name));
  if (lacking.length === 0) return;
  const names = lacking.map(({ name }) => `env.${name}`).join(', ');
  const message = `src/apis/${file}.ts does not use ${names}, which the new tools need`;
  const hint = 'Add it there, or rename the file so that a new one is written.';
  throw new ProjectError('SOURCES_EDITED', message, hint);
}

/** Adds missing declarations at the end of the list. */
function withDeclarations(text: string, variables: readonly ApiVariable[]): string {
  const fresh = variables.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(text));
  if (fresh.length === 0) return text;
  const end = text.lastIndexOf('\n});');
  const from = /import \{([^}]*)\} from 'market-mcp-runtime\/env';/.exec(text);
  if (end < 0 || !from) {
    const message = `${environmentFile} no longer has its generated form, so nothing can be added to it`;
    const hint = `Declare ${fresh.map(({ name }) => name).join(', ')} there by hand, and run the command again.`;
    throw new ProjectError('SOURCES_EDITED', message, hint);
  }
  const names = new Set(
    [...(from[1] ?? '').split(','), ...fresh.map(({ kind }) => kind)].map((name) => name.trim()),
  );
  const imported = `import { ${[...names]
    .filter((name) => name !== '')
    .sort()
    .join(', ')} } from '${runtimePackage}/env';`;
  const lines = fresh.map((variable) => `\n  ${declaration(variable)},`).join('');
  const declared = text.slice(0, end).trimEnd();
  return `${declared}${/[,{]$/.test(declared) ? '' : ','}${lines}${text.slice(end)}`.replace(
    from[0],
    imported,
  );
}

/** The line of `.env.example` before the server's own variables; versions up to 0.2.0 have none. */
const serverVariables = /^# Variables of the server\b/m;

/** An `.env.example` with the variables of APIs before the server's own; existing ones are kept. */
export function withExamples(text: string, variables: readonly ApiVariable[]): string {
  const fresh = variables.filter(({ name }) => !new RegExp(`^(# )?${name}=`, 'm').test(text));
  if (fresh.length === 0) return text;
  const paragraphs = fresh.map(
    ({ name, text: says, fallback, optional }) =>
      `# ${says}${optional ? ' (optional)' : ''}\n${optional ? '# ' : ''}${name}=${fallback ?? ''}\n`,
  );
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
 * @throws ProjectError if it cannot be read
 */
export function withSourceDependencies(text: string, needs = sourceNeeds): string {
  let manifest: { scripts?: { record?: string }; dependencies?: object };
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    const message = `package.json: ${(error as Error).message}`;
    throw new ProjectError('SOURCES_EDITED', message, 'Correct it: it must be valid JSON.', { cause: error });
  }
  const all = { ...needs.dependencies, ...manifest.dependencies };
  const dependencies = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  const scripts = { ...manifest.scripts, record: manifest.scripts?.record ?? needs.scripts.record };
  const next = { ...manifest, scripts, dependencies };
  return JSON.stringify(next) === JSON.stringify(manifest) ? text : `${jsonText(next, 2)}\n`;
}

/** Existing recordings are kept: they may be real ones. */
function recordingFiles(
  tools: readonly ImportedTool[],
  read: ReadText,
  smoke: PlatformProfile['smoke'],
): FileSet {
  const files = new Map<string, Recording[]>();
  for (const tool of tools) {
    if (!tool.call) continue;
    const path = `test/recordings/${recordingFile(tool.call)}`;
    const known = files.get(path) ?? recordingsIn(path, read(path));
    const { call } = tool;
    const byRequest = new Map(known.map((one) => [JSON.stringify(one.request), one]));
    for (const fresh of recordingsOf(tool, call, smoke)) {
      const request = JSON.stringify(fresh.request);
      const before = byRequest.get(request);
      byRequest.set(request, before ? completed(before, fresh, tool, call) : fresh);
    }
    files.set(path, [...byRequest.values()]);
  }
  return new Map(
    [...files].map(([path, list]) => [
      path,
      fileOf(`${visibleJson(JSON.stringify(list, null, 2))}\n`, 'yours'),
    ]),
  );
}

function recordingsIn(path: string, text: string | undefined): Recording[] {
  try {
    return text === undefined ? [] : JSON.parse(text);
  } catch (error) {
    const message = `${path}: ${(error as Error).message}`;
    throw new ProjectError('SOURCES_EDITED', message, 'Restore it, or delete it.', { cause: error });
  }
}
