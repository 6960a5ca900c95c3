import { posix } from 'node:path';
import { CommandError, type InputError, inputError, unwrap } from 'market-mcp-contract/command';
import type { ImportedTool } from '../import/imported-tool.ts';
import { type PreparedTools, prepareTools } from '../import/prepare.ts';
import { fileForm, ownersOf, toolFile } from '../model/names.ts';
import { apisOf } from '../plan/plan-sources.ts';
import { toolsIndex } from '../plan/plan-tools-index.ts';
import type { FileSet } from '../plan/planned-file.ts';
import { planTool } from '../plan/tool-files.ts';
import { driftOf, type ToolListDrift } from '../project/manifest/listed.ts';
import { type ManifestAnswers, withNextManifest } from '../project/manifest/manifest.ts';
import type { Project, ToolFile } from '../project/opened-project.ts';
import { readTemplates } from '../project/package/templates.ts';
import { recordsOfEdited, textAt } from '../project/read/edited-files.ts';
import { sha256 } from '../project/read/file-text.ts';
import { occupiedFiles, toolsNamed } from '../project/read/open.ts';
import { nextToolsIndex } from '../project/read/tools-index.ts';
import { type ReadIfThere, sourceFiles, withStatedKeys } from '../project/source/sources.ts';
import type { ProjectChange } from '../project/write/transaction.ts';
import { render } from '../render/render.ts';
import { marketCommand } from '../system/command-line.ts';
import { chosenFields } from './creation.ts';
import { allVariables, documentChanges } from './documents.ts';

/** The result of planning to add tools: nothing is written yet. */
export interface Addition {
  readonly change: ProjectChange | null;
  /** The new tools, as definitions that meet the contract. */
  readonly prepared: PreparedTools;
  /** Names of tools that the same spec added earlier. */
  readonly unchanged: readonly string[];
  /** How the tools then differ from the last listing. */
  readonly drift: ToolListDrift;
}

/**
 * Plans the files that new tools add to a project. Either all tools are added or none.
 *
 * @throws CommandError `INVALID_INPUT` if a tool breaks a rule, `TOOL_EXISTS` if a name is taken, `INDEX_EDITED`.
 */
export async function planAddition(project: Project, entries: readonly ImportedTool[]): Promise<Addition> {
  const { directory, manifest, profile } = project;
  const read = (path: string) => textAt(directory, path);
  const prepared = withStated(preparedFor(project, entries), read, manifest.answers.variables);
  const templates = readTemplates();
  const plannedTools = prepared.tools.map((tool) => ({ tool, files: render(planTool(tool), templates) }));
  const added = plannedTools.filter(({ files }) => !wasWrittenBefore(project, files));
  const definitions = added.map(({ tool: { definition } }) => ({ name: definition.name, definition }));
  const names = definitions.map(({ name }) => name);
  requireFreeNames(
    project,
    names,
    `Nothing was written. Choose another name, edit the existing file, or remove the tool first: ${marketCommand('remove-tool')}.`,
  );

  const listed = project.tools.filter(({ isServed }) => isServed);
  const unlisted = project.tools.filter(({ isServed }) => !isServed);
  const toolList = [...toolsNamed(listed), ...definitions, ...toolsNamed(unlisted)];
  const unchanged = plannedTools
    .filter((plannedTool) => !added.includes(plannedTool))
    .map(({ tool }) => tool.definition.name);
  const news = {
    ...prepared,
    ...withoutEarlierTools(prepared, unchanged),
    tools: added.map(({ tool }) => tool),
  };
  if (added.length === 0) {
    const drift = driftOf(toolsNamed(listed), project.recordedList);
    return { change: null, prepared: news, unchanged, drift };
  }

  const index = nextToolsIndex(project, templates, [
    ...listed.map(({ file }) => file),
    ...names.map(toolFile),
    ...unlisted.map(({ file }) => file),
  ]);
  const addedTools = added.map(({ tool }) => tool);
  const sources = sourceFiles(addedTools, read, templates, profile.smoke);
  const variables = allVariables(manifest.answers.variables, apisOf(addedTools));
  const documents = await documentChanges(
    project,
    () => ({ variables: variables ?? null }),
    (text) => {
      const missing = (variables ?? []).flatMap(({ name }) => (text.includes(name) ? [] : name));
      return `add there what the new tools need: ${missing.join(', ') || 'the APIs'}`;
    },
    templates,
  );
  const files = new Map([
    ...sources,
    ...documents.files,
    ...sourcesFirst(added.map((plannedTool) => plannedTool.files)),
    [toolsIndex, index],
  ]);
  const tools = toolList.map(({ name }) => name);
  const fields = chosenFields(addedTools, manifest.answers.fields);
  const answers = { tools, ...(variables && { variables }), ...fields };
  const extended = [...sources.keys()].filter((path) => /^(src|test)\//.test(path));
  const records = { ...documents.records, ...recordsOfEdited(directory, manifest, extended) };
  const nextFiles = withNextManifest(files, [], answers, manifest, records);
  const left = documents.left.map((leftFile) => ({ tool: names[0] ?? '', ...leftFile }));
  return {
    change: { files: nextFiles, removed: [] },
    prepared: { ...news, changes: [...news.changes, ...left] },
    unchanged,
    drift: driftOf(toolList, project.recordedList),
  };
}

/** Checks the new tools beside the existing ones, except those that the spec replaces. */
function preparedFor({ tools, profile }: Project, entries: readonly ImportedTool[]): PreparedTools {
  const replacedFiles = new Set(
    entries.map(({ entry: { name } }) => (typeof name === 'string' ? toolFile(name) : '')),
  );
  const otherDefinitions = tools.flatMap(({ file, source: { definition } }) =>
    definition === null || replacedFiles.has(file) ? [] : [definition],
  );
  return unwrap(prepareTools(entries, profile, otherDefinitions));
}

/** With requests that state the keys that the existing files of their APIs do not send by themselves. */
function withStated(
  prepared: PreparedTools,
  read: ReadIfThere,
  variables: ManifestAnswers['variables'],
): PreparedTools {
  const secrets = variables?.flatMap(({ kind, name }) => (kind === 'secret' ? [name] : []));
  const advice = [...prepared.advice, ...addressClashErrors(prepared, variables)];
  return { ...prepared, advice, tools: withStatedKeys(prepared.tools, read, secrets) };
}

/** A document of another address, whose tools call the one that an earlier document gave the same variable. */
function addressClashErrors(
  { tools }: PreparedTools,
  variables: ManifestAnswers['variables'] = [],
): readonly InputError[] {
  return apisOf(tools).flatMap((api) => {
    const { name, fallback: fresh } = api.address;
    const knownAddress = variables.find((variable) => variable.name === name)?.fallback;
    if (knownAddress === undefined || fresh === undefined || knownAddress === fresh) return [];
    const message = `is ${knownAddress} in this project, but the document says ${fresh}`;
    const hint = `The new tools call the first. If that is wrong, give them a file in src/apis/ and a variable of their own.`;
    return [inputError(name, undefined, message, hint)];
  });
}

/** Whether an earlier run wrote the same files, even if the author has edited them since. */
function wasWrittenBefore({ manifest, tools }: Project, files: FileSet): boolean {
  const [path = '', file] = [...files][0] ?? [];
  const isThere = tools.some((tool) => tool.path === path);
  return isThere && file !== undefined && manifest.files[path]?.sha256 === sha256(file.content);
}

/** Why a valid name cannot be used for a new tool. */
export function nameError(project: Project, name: string): InputError | undefined {
  const [clash] = clashesOf(project, [name]);
  return clash && inputError('[name]', name, `already exists: ${clash.by}`, 'Choose another name.');
}

/**
 * Expects that new tools can have these names.
 *
 * @throws CommandError `TOOL_EXISTS` with every name that is taken
 */
export function requireFreeNames(
  project: Project,
  names: readonly string[],
  hint: string,
  renamed?: ToolFile,
): void {
  const clashes = clashesOf(project, names, renamed).map(({ name, by }) => `${name} already exists: ${by}`);
  const [first, ...otherClashes] = clashes;
  if (first === undefined) return;
  const message = otherClashes.length === 0 ? first : `${clashes.length} of the tools already exist`;
  throw new CommandError('TOOL_EXISTS', message, hint, { details: otherClashes.length === 0 ? [] : clashes });
}

/**
 * The names that new tools cannot have, and what has them: a tool, or a file below the directory of tools or of their tests.
 *
 * @param renamed a tool whose own name and files do not count
 */
function clashesOf({ directory, tools }: Project, names: readonly string[], renamed?: ToolFile) {
  const ownPaths = [renamed?.path, renamed?.test];
  const files = occupiedFiles(directory)
    .filter(({ path }) => !ownPaths.includes(path))
    .map(({ file, path }) => [fileForm(file), path] as const);
  const otherTools = tools.filter((tool) => tool !== renamed);
  const otherToolFiles = toolsNamed(otherTools).map(
    ({ name }, i) => [toolFile(name), `${name} in ${otherTools[i]?.path}`] as const,
  );
  const takenFiles = new Map([...files, ...otherToolFiles]);
  // A renamed tool stays in its folder.
  const folder = fileForm(renamed === undefined ? '.' : posix.dirname(renamed.file));
  const filesInFolder = [...takenFiles].flatMap(([file, by]) =>
    posix.dirname(file) === folder ? [[posix.basename(file), by] as const] : [],
  );
  return ownersOf(names, new Map([...filesInFolder, ...takenFiles])).flatMap((by, i) =>
    by === undefined ? [] : [{ name: names[i] ?? '', by }],
  );
}

/** The source files before their tests. */
function sourcesFirst(sets: readonly FileSet[]): FileSet {
  const files = sets.flatMap((set) => [...set]);
  const isSource = ([path]: (typeof files)[number]) => path.startsWith('src/');
  return new Map([...files.filter(isSource), ...files.filter((file) => !isSource(file))]);
}

/** Drops the messages about tools that were added earlier: they were printed then. */
function withoutEarlierTools(
  { changes, advice }: PreparedTools,
  names: readonly string[],
): Pick<PreparedTools, 'changes' | 'advice'> {
  return {
    changes: changes.filter(({ tool }) => !names.includes(tool)),
    advice: advice.filter(
      (hint) => !names.some((name) => hint.where === name || hint.where.startsWith(`${name}.`)),
    ),
  };
}
