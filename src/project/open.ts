import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Methods } from '../contract/model.ts';
import { memoize } from '../model/memoize.ts';
import { pathsOf, testsDirectory, toolsDirectory } from '../plan/tool.ts';
import { toolsIndex } from '../plan/tools-index.ts';
import { readToolSource } from '../typescript/tool-source.ts';
import { ProjectError } from './errors.ts';
import { placeIn, readIn, refuseObstacles } from './inside.ts';
import type { NamedTool } from './listed.ts';
import { readManifest } from './manifest.ts';
import type { Project, ToolFile } from './model.ts';
import { presentProfile } from './profile.ts';
import { importsIn } from './tools-index.ts';

const sourceIn = memoize(readToolSource);

/**
 * Reads a project without running any of its code.
 *
 * @throws ProjectError `MANIFEST_DAMAGED`, `NO_TOOLS` if the list of tools is missing, `PROFILE_DAMAGED`, and the errors of
 *   `refuseObstacles` if a directory of the project is a link or no directory.
 */
export async function openProject(directory: string): Promise<Project> {
  const manifest = readManifest(directory);
  refuseObstacles(directory, [toolsIndex, `${testsDirectory}/any.test.ts`]);
  const index = readIndex(directory);
  const imported = importsIn(index);
  const present = toolFiles(directory);
  const inOrder = [...new Set([...imported.filter((file) => present.includes(file)), ...present])];
  const tools = inOrder
    .flatMap((file) => readToolFile(directory, file, imported.includes(file)) ?? [])
    .filter(({ served, source }) => served || source.exportsTool);
  return { directory, manifest, profile: presentProfile(manifest), index, tools };
}

/** The file that defines each tool, by the tool's name; without tools whose name is computed. */
export function toolSources(directory: string): ReadonlyMap<string, string> {
  return new Map(
    toolFiles(directory).flatMap((file) => {
      const tool = readToolFile(directory, file, true);
      return tool?.source.name == null ? [] : [[tool.source.name, tool.path] as const];
    }),
  );
}

/** The HTTP methods of the tools' API requests, as far as their source reveals them. */
export function toolMethods(directory: string): Methods {
  return new Map(
    toolFiles(directory).flatMap((file) => {
      const source = readToolFile(directory, file, true)?.source;
      return source?.name == null || source.methods.length === 0 ? [] : [[source.name, source.methods]];
    }),
  );
}

/** The tools by name; the file name replaces a name that is computed. */
export function namedTools(tools: readonly ToolFile[]): readonly NamedTool[] {
  return tools.map(({ file, source }) => ({ name: source.name ?? file, definition: source.definition }));
}

/** All files beside the tools and beside their tests; `file` is the name without extension. */
export function occupiedFiles(
  directory: string,
): readonly { readonly file: string; readonly path: string }[] {
  return [toolsDirectory, testsDirectory].flatMap((place) =>
    namesIn(directory, place).map((name) => ({
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
    throw new ProjectError('NO_TOOLS', message, 'Restore it from version control.', { cause: error });
  }
}

function toolFiles(directory: string): readonly string[] {
  return namesIn(directory, toolsDirectory)
    .filter((name) => name.endsWith('.ts') && name !== 'index.ts' && !/\.(d|test)\.ts$/.test(name))
    .filter((name) => lstatSync(join(directory, toolsDirectory, name), { throwIfNoEntry: false })?.isFile())
    .map((name) => name.slice(0, -'.ts'.length));
}

/** Undefined if the file has disappeared: another run may remove a tool while this one reads. */
function readToolFile(directory: string, file: string, served: boolean): ToolFile | undefined {
  const paths = pathsOf(file);
  try {
    const source = sourceIn(readIn(directory, paths.path).toString('utf8'));
    return { file, ...paths, served, source };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** None if there is no such directory, or a link leads there. */
function namesIn(directory: string, place: string): readonly string[] {
  try {
    return readdirSync(dirname(placeIn(directory, `${place}/any`))).sort();
  } catch {
    return [];
  }
}
