import { lstatSync } from 'node:fs';
import { posix } from 'node:path';
import { CommandError, unwrap } from 'market-mcp-contract/command';
import { parseToolName, toolFile } from '../model/names.ts';
import type { DefinitionChange } from '../model/tool-model.ts';
import { toolsIndex } from '../plan/plan-tools-index.ts';
import type { ProjectFile } from '../plan/planned-file.ts';
import { toolPaths } from '../plan/tool-files.ts';
import { driftOf, type ToolListDrift } from '../project/manifest/listed.ts';
import {
  type Manifest,
  type ManifestAnswers,
  type ManifestFile,
  withNextManifest,
} from '../project/manifest/manifest.ts';
import type { Project, ToolFile } from '../project/opened-project.ts';
import { readTemplates } from '../project/package/templates.ts';
import { isAsWritten } from '../project/read/edited-files.ts';
import { decodeText, encodeText } from '../project/read/file-text.ts';
import { toolsNamed } from '../project/read/open.ts';
import { modeOf } from '../project/read/read-files.ts';
import { isInOtherRepository, readIfThere, resolveInside } from '../project/read/resolve-inside.ts';
import { nextToolsIndex } from '../project/read/tools-index.ts';
import type { ProjectChange as FileChange } from '../project/write/transaction.ts';
import { moduleReferences } from '../typescript/imports.ts';
import { renamedSource } from '../typescript/tool-source.ts';
import { requireFreeNames } from './addition.ts';
import { documentChanges } from './documents.ts';
import { projectTool } from './removal.ts';
import { sourcesBelow } from './upgrade/author-files.ts';

/** The result of planning to rename a tool: nothing is written yet. */
export interface Renaming {
  readonly change: FileChange;
  readonly drift: ToolListDrift;
  /** Pairs of old and new path. */
  readonly moved: readonly (readonly [string, string])[];
  /** Documents that were left as their author edited them. */
  readonly left: readonly DefinitionChange[];
  /** Source files that still contain the old name. */
  readonly mentions: readonly string[];
}

/**
 * Plans a tool under another name: its file, test, place in the list, record and README example, and every import of its
 * file. Recordings are named by the request and stay.
 *
 * @throws CommandError `NO_SUCH_TOOL`, `INVALID_INPUT`, `SAME_NAME`, `TOOL_EXISTS`, `NAME_NOT_FOUND`, `INDEX_EDITED`.
 */
export async function planRename(project: Project, from: string, requestedName: string): Promise<Renaming> {
  const { manifest, tools } = project;
  const tool = projectTool(project, from);
  const to = unwrap(parseToolName(requestedName, '<new>'));
  const file = freeFile(project, tool, from, to);
  const { files, records, moved, mentions } = renameInSources(project, tool, file, from, to);
  const templates = readTemplates();
  const renamed = (name: string) => (name === from ? to : name);
  const documents = await documentChanges(
    project,
    ({ tools: names }) => ({ tools: names.map(renamed) }),
    (text) => (text.includes(from) ? `replace ${from} by ${to} there` : undefined),
    templates,
  );
  const order = tools.map((toolEntry) => (toolEntry === tool ? file : toolEntry.file));
  const index = nextToolsIndex(project, templates, order);
  const currentTools = toolsNamed(tools).map(({ name, definition }) => ({
    name: renamed(name),
    definition: definition && { ...definition, name: renamed(name) },
  }));
  const removed = moved.map(([path]) => path).toReversed();
  const nextFiles = withNextManifest(
    new Map([...files, ...documents.files, [toolsIndex, index]]),
    removed,
    { tools: currentTools.map(({ name }) => name), ...renamedFields(manifest, renamed) },
    manifest,
    { ...documents.records, ...records },
  );
  return {
    change: { files: nextFiles, removed },
    drift: driftOf(currentTools, project.recordedList),
    moved,
    left: documents.left.map((leftFile) => ({ tool: to, ...leftFile })),
    mentions,
  };
}

interface RenamedSources extends Pick<Renaming, 'moved' | 'mentions'> {
  readonly files: ReadonlyMap<string, ProjectFile>;
  /** What the manifest records of those that their author has edited. */
  readonly records: { readonly [path: string]: ManifestFile | undefined };
}

/** The changed source files of a project, with the tool's file and test under their new paths. */
function renameInSources(
  { directory, manifest }: Project,
  tool: ToolFile,
  file: string,
  from: string,
  to: string,
): RenamedSources {
  const target = toolPaths(file);
  const renamedPaths = new Map([
    [tool.path, target.path],
    [tool.test, target.test],
  ]);
  const files = new Map<string, ProjectFile>();
  const records: { [path: string]: ManifestFile | undefined } = {};
  const moved: (readonly [string, string])[] = [];
  const mentions: string[] = [];
  const sources = [tool.path, tool.test, ...sourcesBelow(directory, '')];
  const paths = new Set(sources.filter((path) => !isInOtherRepository(directory, path)));
  paths.delete(toolsIndex);
  for (const path of paths) {
    const content = readIfThere(directory, path);
    if (content === undefined) continue;
    const before = decodeText(content);
    const renamedText = renameInFile(before, path, tool, from, to);
    const after = replaceImports(renamedText, path, tool.path, target.path);
    const next = renamedPaths.get(path) ?? path;
    if (after.split(/[^\w-]+/).includes(from)) mentions.push(next);
    if (before === after && next === path) continue;
    const mode = modeOf(lstatSync(resolveInside(directory, path)));
    files.set(next, { content: encodeText(after), owner: 'yours', mode });
    if (next !== path) moved.push([path, next]);
    const record = Object.hasOwn(manifest.files, path) ? manifest.files[path] : undefined;
    if (!isAsWritten(content, record?.sha256)) records[next] = record;
  }
  return { files, records, moved, mentions };
}

/**
 * Renames a tool in its file or its test; other files keep their text.
 *
 * @throws CommandError `NAME_NOT_FOUND`
 */
function renameInFile(text: string, path: string, tool: ToolFile, from: string, to: string): string {
  if (path === tool.test) return text.replaceAll(`--call ${from}\n`, `--call ${to}\n`);
  if (path !== tool.path) return text;
  const renamed = renamedSource(text, from, to);
  if (renamed === undefined) throw nameNotFound(path, from);
  return renamed;
}

function renamedFields(
  { answers }: Manifest,
  renamed: (name: string) => string,
): Pick<ManifestAnswers, 'fields'> {
  const { fields } = answers;
  if (fields === undefined) return {};
  return {
    fields: Object.fromEntries(
      Object.entries(fields).map(([tool, toolFields]) => [renamed(tool), toolFields]),
    ),
  };
}

/** The file of the tool under its new name, in the same directory. */
function freeFile(project: Project, tool: ToolFile, from: string, to: string): string {
  if (from.toLowerCase() === to.toLowerCase()) {
    const message =
      from === to ? `the tool is already called ${from}` : `${from} and ${to} differ only in case`;
    throw new CommandError('SAME_NAME', message, 'Nothing was changed. Choose another name.');
  }
  const file = posix.join(posix.dirname(tool.file), toolFile(to));
  requireFreeNames(project, [to], 'Nothing was changed. Choose another name.', tool);
  // Another case of the same path is the same file on some disks.
  return file === tool.file.toLowerCase() ? tool.file : file;
}

function nameNotFound(path: string, name: string): CommandError {
  return new CommandError(
    'NAME_NOT_FOUND',
    `${path} does not contain the name of the tool as a literal`,
    `Nothing was changed. Write name: '${name}' in its defineTool({ … }), and run the command again.`,
  );
}

/** The text with its imports of a module changed to another one in the same directory. */
function replaceImports(text: string, path: string, from: string, to: string): string {
  const stem = (module: string) => module.replace(/\.[jt]s$/, '');
  return moduleReferences(text)
    .filter(({ specifier }) => /^\.\.?\//.test(specifier))
    .filter(({ specifier }) => stem(posix.join(posix.dirname(path), specifier)) === stem(from))
    .toReversed()
    .reduce((result, { specifier, at: [start, end] }) => {
      const next = posix.join(posix.dirname(specifier), stem(posix.basename(to)) + posix.extname(specifier));
      const relative = next.startsWith('.') ? next : `./${next}`;
      return result.slice(0, start + 1) + relative + result.slice(end - 1);
    }, text);
}
