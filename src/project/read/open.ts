import { readdirSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import type { Methods, ToolDefinition } from 'market-mcp-contract/definition';
import { attempt, memoize } from 'market-mcp-contract/json';
import { toolFile } from '../../model/names.ts';
import { toolsIndex } from '../../plan/plan-tools-index.ts';
import { testsDirectory, toolPaths, toolsDirectory } from '../../plan/tool-files.ts';
import { readToolSource } from '../../typescript/tool-source.ts';
import type { DefinedTool } from '../manifest/listed.ts';
import { type Manifest, manifestFile, readManifest, recordedList } from '../manifest/manifest.ts';
import { presentProfile } from '../manifest/project-profile.ts';
import type { Project, ToolFile } from '../opened-project.ts';
import { readIfThere, readIn, refuseObstacles, resolveInside } from './resolve-inside.ts';
import { importsIn } from './tools-index.ts';

const sourceIn = memoize(readToolSource);

/**
 * Reads a project without running any of its code.
 *
 * @throws CommandError `MANIFEST_DAMAGED`, `NO_TOOLS` if the list of tools is missing, `PROFILE_DAMAGED`, and the errors of
 *   `refuseObstacles` if a directory of the project is a link or no directory.
 */
export async function openProject(directory: string): Promise<Project> {
  const manifest = readManifest(directory);
  refuseObstacles(directory, [toolsIndex, `${testsDirectory}/any.test.ts`]);
  const index = readIndex(directory);
  return {
    directory,
    manifest,
    profile: presentProfile(manifest),
    recordedList: recordedList(directory, manifest),
    index,
    tools: toolsIn(directory, importsIn(index)),
  };
}

/** @param imported the files that the list of tools imports; those that do not exist are left out */
function toolsIn(directory: string, imported: readonly string[]): readonly ToolFile[] {
  return [...new Set([...imported, ...toolFiles(directory)])]
    .flatMap((file) => readToolFile(directory, file, imported.includes(file)) ?? [])
    .filter(({ isServed, source }) => isServed || source.exportsTool);
}

/**
 * The differences between the list of tools, the files of the tools and the manifest of a project of any version, in words.
 *
 * @throws CommandError as `openProject` for the list of tools
 */
export function listingProblems(directory: string, { answers }: Manifest): readonly string[] {
  const imported = importsIn(readIndex(directory));
  const tools = toolsIn(directory, imported);
  const knownNames = tools.flatMap(({ file, source }) => [file, source.name ?? file]);
  const missing = imported.filter((file) => !knownNames.includes(file));
  const unlisted = tools.filter(({ isServed }) => !isServed);
  const unknown = answers.tools.filter(
    (name) => ![name, toolFile(name)].some((name) => knownNames.includes(name)),
  );
  return [
    ...missing.map((file) => {
      const { path } = toolPaths(file);
      return `${toolsIndex} imports ${path}, which does not exist: restore it, or remove it from the list`;
    }),
    ...unlisted.map(({ path }) => `${path} exports a tool that is not in ${toolsIndex}, so it is not served`),
    ...unknown
      .filter((name) => !missing.some((file) => posix.basename(file) === toolFile(name)))
      .map(
        (name) =>
          `${manifestFile} names the tool ${name}, which has no file: restore it, or remove the name there`,
      ),
  ];
}

/** The files of tools by the names of these; without tools whose name is computed. */
function toolFilesByName(directory: string): readonly (readonly [name: string, tool: ToolFile])[] {
  return toolFiles(directory).flatMap((file) => {
    const tool = readToolFile(directory, file, true);
    if (tool?.source.name == null) return [];
    return [[tool.source.name, tool] as const];
  });
}

/**
 * Returns the literal definitions of the tools of a project of any version.
 *
 * @param imported the files that the list of tools imports
 */
export function literalDefinitions(
  directory: string,
  imported: readonly string[],
): readonly ToolDefinition[] {
  return toolsIn(directory, imported).flatMap(({ source: { definition } }) => definition ?? []);
}

/** The file that defines each tool, by the tool's name. */
export function toolSources(directory: string): ReadonlyMap<string, string> {
  return new Map(toolFilesByName(directory).map(([name, { path }]) => [name, path]));
}

/** The tools that still answer with the samples that their file was generated with, whatever they are asked. */
export function sampledTools(directory: string): ReadonlySet<string> {
  const isSampled = (path: string) =>
    /^const samples? ?[=:]/m.test(String(readIfThere(directory, path) ?? ''));
  return new Set([...toolSources(directory)].filter(([, path]) => isSampled(path)).map(([name]) => name));
}

/** The HTTP methods of the tools' API requests, as far as their source reveals them. */
export function toolMethods(directory: string): Methods {
  if (entriesBelow(directory, 'src/apis').length === 0) return new Map(); // without loading the parser
  const methods = toolFilesByName(directory).map(([name, { source }]) => [name, source.methods] as const);
  return new Map(methods.filter(([, ownMethods]) => ownMethods.length > 0));
}

/** The tools by name; the file name replaces a name that is computed. */
export function toolsNamed(tools: readonly ToolFile[]): readonly DefinedTool[] {
  return tools.map(({ file, source }) => ({ name: source.name ?? file, definition: source.definition }));
}

/** All files below the tools' directory and their tests'; `file` is the path in it without extension. */
export function occupiedFiles(
  directory: string,
): readonly { readonly file: string; readonly path: string }[] {
  return [toolsDirectory, testsDirectory].flatMap((place) =>
    entriesBelow(directory, place).map(({ name }) => ({
      file: name.replace(/(\.test)?\.[a-z]+$/i, ''),
      path: `${place}/${name}`,
    })),
  );
}

function readIndex(directory: string): string {
  try {
    return readIn(directory, toolsIndex).toString('utf8');
  } catch (error) {
    const message = `${join(directory, toolsIndex)} cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new CommandError('NO_TOOLS', message, 'Restore it from version control.', { cause: error });
  }
}

function toolFiles(directory: string): readonly string[] {
  return entriesBelow(directory, toolsDirectory)
    .filter(({ isFile, name }) => isFile && name.endsWith('.ts') && name !== 'index.ts')
    .filter(({ name }) => !/\.(d|test)\.ts$/.test(name))
    .map(({ name }) => name.slice(0, -'.ts'.length));
}

/** Undefined if the file has disappeared: another run may remove a tool while this one reads. */
function readToolFile(directory: string, file: string, isServed: boolean): ToolFile | undefined {
  const paths = toolPaths(file);
  try {
    const source = sourceIn(readIn(directory, paths.path).toString('utf8'));
    return { file, ...paths, isServed: isServed, source };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Everything below a directory, by its path there; no link is followed. None if there is no such directory. */
export function entriesBelow(directory: string, place: string) {
  const read = () => {
    const root = dirname(resolveInside(directory, `${place}/any`));
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    return entries.map((entry) => ({
      name: relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'),
      isFile: entry.isFile(),
    }));
  };
  return attempt(read, []).sort((a, b) => (a.name < b.name ? -1 : 1));
}
