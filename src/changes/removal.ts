import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { CommandError, nameList, unknownTool } from 'market-mcp-contract/command';
import { recordingPath } from '../import/api-recordings.ts';
import { environmentFile, planEnvironment } from '../plan/plan-sources.ts';
import { toolsIndex } from '../plan/plan-tools-index.ts';
import type { FileSet, TemplateSet } from '../plan/planned-file.ts';
import { toolsDirectory } from '../plan/tool-files.ts';
import { driftOf, type ToolListDrift } from '../project/manifest/listed.ts';
import { type ManifestAnswers, type ManifestFile, withNextManifest } from '../project/manifest/manifest.ts';
import type { Project, ToolFile } from '../project/opened-project.ts';
import { readTemplates } from '../project/package/templates.ts';
import { isAsWrittenAt, recordsOfEdited, textAt } from '../project/read/edited-files.ts';
import { inStyle, withLineFeeds } from '../project/read/file-text.ts';
import { toolsNamed } from '../project/read/open.ts';
import { nextToolsIndex } from '../project/read/tools-index.ts';
import type { ProjectChange } from '../project/write/transaction.ts';
import { render } from '../render/render.ts';
import { declaration } from '../render/request-code.ts';
import { marketCommand } from '../system/command-line.ts';
import { moduleReferences } from '../typescript/imports.ts';
import { type ApiUse, apiUseIn } from '../typescript/tool-source.ts';
import { documentChanges } from './documents.ts';
import { authorFiles } from './upgrade/author-files.ts';

/** The result of planning to remove tools: nothing is written yet. */
export interface Removal {
  readonly change: ProjectChange;
  readonly drift: ToolListDrift;
  readonly sources: SourceRemoval;
}

/**
 * Plans which files to remove, with what only these tools need of APIs. Either all tools are removed or none.
 *
 * @param force also removes files that were edited by hand or not written by this program.
 * @throws CommandError `NO_SUCH_TOOL`, `LAST_TOOL` (a server needs at least one), `FILE_CHANGED`, `INDEX_EDITED`.
 */
export async function planRemoval(
  project: Project,
  names: readonly string[],
  force: boolean,
): Promise<Removal> {
  const removedTools = [...new Set(names)].map((name) => projectTool(project, name));
  const staying = project.tools.filter((tool) => !removedTools.includes(tool));
  if (staying.length === 0) {
    throw new CommandError(
      'LAST_TOOL',
      'the last tool of a server cannot be removed',
      `Add another tool first: ${marketCommand('add-tool')}.`,
    );
  }
  // A test is removed before the file it imports, so the project compiles at every step.
  const removed = [...removedTools.map(({ test }) => test), ...removedTools.map(({ path }) => path)].filter(
    (path) => existsSync(join(project.directory, path)),
  );
  if (!force) requireUnedited(project, removed);

  const rest = staying.map(({ file }) => file);
  const templates = readTemplates();
  const index = nextToolsIndex(project, templates, rest);
  const sources = await planSourceRemoval(project, removedTools, templates, force);
  const left = toolsNamed(staying);
  const removedPaths = [...removed, ...sources.removed];
  const { files: otherFiles, records, variables } = sources;
  const files = withNextManifest(
    new Map([...otherFiles, [toolsIndex, index]]),
    removedPaths,
    { tools: left.map(({ name }) => name), ...(variables && { variables }) },
    project.manifest,
    records,
  );
  return { change: { files, removed: removedPaths }, drift: driftOf(left, project.recordedList), sources };
}

/** The tool with a name. @throws CommandError `NO_SUCH_TOOL`. */
export function projectTool({ tools }: Project, name: string): ToolFile {
  const toolNames = toolsNamed(tools).map((tool) => tool.name);
  const tool = tools[toolNames.indexOf(name)];
  if (tool === undefined) throw unknownTool('this project', name, toolNames);
  return tool;
}

function requireUnedited({ directory, manifest }: Project, paths: readonly string[]): void {
  const changed = paths.filter((path) => !isAsWrittenAt(directory, path, manifest.files[path]?.sha256));
  if (changed.length === 0) return;
  throw new CommandError(
    'FILE_CHANGED',
    `${changed.join(' and ')} would be lost: ${changed.length === 1 ? 'it was' : 'they were'} changed after the program wrote ${changed.length === 1 ? 'it' : 'them'}`,
    'Nothing was removed. Commit or copy what you need, then run the command with --force.',
  );
}

/** What goes with tools: recordings, and the files and variables of APIs that no other file asks. */
interface SourceRemoval {
  /** In an order in which each file is removed before those that it imports, behind the tools. */
  readonly removed: readonly string[];
  readonly files: FileSet;
  /** As `withNextManifest` takes them. */
  readonly records: { readonly [path: string]: ManifestFile | undefined };
  /** The variables that are left; absent if all are. */
  readonly variables?: ManifestAnswers['variables'];
  /** Names of the removed ones. */
  readonly gone: readonly string[];
  /** What stays although no other tool needs it, with the reason. */
  readonly kept: readonly { readonly path: string; readonly why: string }[];
}

const nothing: SourceRemoval = { removed: [], files: new Map(), records: {}, gone: [], kept: [] };

/**
 * Plans what goes with tools that call APIs. Code that another file uses stays. Code that its author has edited stays, and is reported.
 *
 * @param force also removes edited files
 */
async function planSourceRemoval(
  project: Project,
  removedTools: readonly ToolFile[],
  templates: TemplateSet,
  force: boolean,
): Promise<SourceRemoval> {
  const { directory, manifest } = project;
  const uses = removedTools.map(({ path }) => apiUseIn(textAt(directory, path) ?? ''));
  if (uses.every(({ modules }) => modules.length === 0)) return nothing;
  const removedPaths = new Set(removedTools.flatMap(({ path, test }) => [path, test]));
  const otherFiles = authorFiles(directory, (path) => removedPaths.has(path));

  const apis = [...new Set(uses.flatMap(({ modules }) => modules))]
    .map((module) => posix.join(toolsDirectory, module))
    .filter((path) => Object.hasOwn(manifest.files, path) && !isImported(path, otherFiles));
  const unused = [...unusedRecordings(uses, otherFiles), ...apis].filter(
    (path) => textAt(directory, path) !== undefined,
  );
  const isEdited = (path: string) => !force && !isAsWrittenAt(directory, path, manifest.files[path]?.sha256);
  const edited = unused.filter(isEdited);
  const removed = unused.filter((path) => !edited.includes(path));
  const keptFiles = edited.map((path) => ({ path, why: 'it was changed after the program wrote it' }));

  const rest = new Map([...otherFiles].filter(([path]) => !removed.includes(path)));
  const removedTexts = apis
    .filter((path) => removed.includes(path))
    .map((path) => otherFiles.get(path) ?? '');
  const variables = planVariables(project, removedTexts.join('\n'), rest, templates);
  if (variables.gone.length === 0) return { ...nothing, removed, kept: [...keptFiles, ...variables.kept] };

  const left = (manifest.answers.variables ?? []).filter(({ name }) => !variables.gone.includes(name));
  const documents = await documentChanges(
    project,
    () => ({ variables: left }),
    (text) => {
      const mentionedVariables = variables.gone.filter((name) => text.includes(name));
      if (mentionedVariables.length === 0) return undefined;
      return `remove ${nameList(mentionedVariables)} there`;
    },
    templates,
  );
  const files = new Map([...variables.files, ...documents.files]);
  return {
    removed: [...removed, ...variables.removed],
    files,
    records: { ...documents.records, ...recordsOfEdited(directory, manifest, [...variables.files.keys()]) },
    variables: left,
    gone: variables.gone,
    kept: [
      ...keptFiles,
      ...variables.kept,
      ...documents.left.map(({ path, why: reason }) => ({ path, why: `you have edited it: ${reason}` })),
    ],
  };
}

type Texts = ReadonlyMap<string, string>;

/** The recordings of requests that no other file sends; none if the request of another file cannot be read. */
function unusedRecordings(uses: readonly ApiUse[], otherFiles: Texts): readonly string[] {
  const otherRequests = [...otherFiles.values()].flatMap((text) => apiUseIn(text).requests);
  if (otherRequests.some(({ target }) => target === null)) return [];
  const shared = recordingPaths(otherRequests);
  return recordingPaths(uses.flatMap(({ requests }) => requests)).filter((path) => !shared.includes(path));
}

function recordingPaths(requests: ApiUse['requests']): readonly string[] {
  const paths = requests.flatMap(({ method, target }) => {
    if (target === null) return [];
    return recordingPath({ method: method as 'get', path: method === 'call' ? `/${target}` : target });
  });
  return [...new Set(paths)];
}

function isImported(path: string, otherFiles: Texts): boolean {
  return [...otherFiles].some(([from, text]) =>
    moduleReferences(text).some(
      ({ specifier }) => /^\.\.?\//.test(specifier) && posix.join(posix.dirname(from), specifier) === path,
    ),
  );
}

/**
 * The variables that only the removed files use, taken out of `src/env.ts`; without a variable, and as it was written, that file goes.
 *
 * @param removed their text
 * @param rest the files that stay
 */
function planVariables(
  { directory, manifest }: Project,
  removed: string,
  rest: Texts,
  templates: TemplateSet,
): Pick<SourceRemoval, 'removed' | 'files' | 'gone' | 'kept'> {
  const mentions = (text: string, name: string) => new RegExp(`\\b${name}\\b`).test(text);
  const ours = textAt(directory, environmentFile);
  const keptVariables: { path: string; why: string }[] = [];
  const removedVariables: string[] = [];
  const otherFiles = [...rest].filter(([path]) => path !== environmentFile);
  let text = withLineFeeds(ours ?? '');
  for (const variable of manifest.answers.variables ?? []) {
    const { name } = variable;
    if (!mentions(removed, name)) continue;
    const [user] = otherFiles.find(([, fileText]) => mentions(fileText, name)) ?? [];
    const without = text.replace(`\n  ${declaration(variable)},`, '');
    const reason = reasonToKeep(name, user, without === text && mentions(text, name));
    if (reason !== undefined) {
      keptVariables.push({ path: environmentFile, why: reason });
      continue;
    }
    removedVariables.push(name);
    text = withoutUnusedImports(without);
  }
  const variables = { gone: removedVariables, kept: keptVariables };
  if (removedVariables.length === 0 || ours === undefined)
    return { removed: [], files: new Map(), ...variables };
  const empty = render([planEnvironment([])], templates).get(environmentFile)?.content;
  const isEmpty = text === new TextDecoder().decode(empty) && !isImported(environmentFile, rest);
  if (isEmpty) return { removed: [environmentFile], files: new Map(), ...variables };
  const content = inStyle(ours, text);
  return { removed: [], files: new Map([[environmentFile, { content, owner: 'yours' }]]), ...variables };
}

/** Why a variable stays declared; undefined if it can be removed. */
function reasonToKeep(name: string, user: string | undefined, isEdited: boolean): string | undefined {
  if (user !== undefined) return `${user} uses ${name}`;
  if (isEdited) return `you have edited ${name} there`;
  return undefined;
}

/** Without the kinds of variables that are not declared any more. */
function withoutUnusedImports(text: string): string {
  return text.replace(
    /import \{([^}]*)\} from (['"]market-mcp-runtime\/env['"])/,
    (statement, listed: string, module) => {
      const names = listed.split(',').map((name) => name.trim());
      const usedNames = names.filter((name) => new RegExp(`\\b${name}\\b`).test(text.replace(statement, '')));
      return `import { ${usedNames.join(', ')} } from ${module}`;
    },
  );
}
