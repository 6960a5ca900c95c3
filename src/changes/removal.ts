import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, unknownTool } from 'market-mcp-contract/command';
import { toolsIndex } from '../plan/tools-index.ts';
import { driftOf, type FingerprintDrift } from '../project/manifest/listed.ts';
import { withNextManifest } from '../project/manifest/manifest.ts';
import type { Project, ToolFile } from '../project/model.ts';
import { readTemplates } from '../project/package/templates.ts';
import { isAsWrittenAt } from '../project/read/files.ts';
import { toolsNamed } from '../project/read/open.ts';
import { nextToolsIndex } from '../project/read/tools-index.ts';
import type { ProjectChange } from '../project/write/transaction.ts';
import { marketCommand } from '../system/command-line.ts';
import { planSourceRemoval, type SourceRemoval } from './removed-sources.ts';

/** The result of planning to remove tools: nothing is written yet. */
export interface Removal {
  readonly change: ProjectChange;
  readonly drift: FingerprintDrift;
  readonly sources: SourceRemoval;
}

/**
 * Plans which files to remove, with what only these tools need of APIs. Either all tools are removed or none.
 *
 * @param force also removes files that were edited by hand or not written by this program.
 * @throws CommandError `NO_SUCH_TOOL`, `LAST_TOOL` (a server needs at least one), `FILE_CHANGED`; ProjectError `INDEX_EDITED`.
 */
export async function planRemoval(
  project: Project,
  names: readonly string[],
  force: boolean,
): Promise<Removal> {
  const going = [...new Set(names)].map((name) => toolNamed(project, name));
  const staying = project.tools.filter((tool) => !going.includes(tool));
  if (staying.length === 0) {
    throw new CommandError(
      'LAST_TOOL',
      'the last tool of a server cannot be removed',
      `Add another tool first: ${marketCommand('add-tool')}.`,
    );
  }
  // A test is removed before the file it imports, so the project compiles at every step.
  const removed = [...going.map(({ test }) => test), ...going.map(({ path }) => path)].filter((path) =>
    existsSync(join(project.directory, path)),
  );
  if (!force) requireUnchanged(project, removed);

  const rest = staying.map(({ file }) => file);
  const templates = readTemplates();
  const index = nextToolsIndex(project, templates, rest);
  const sources = await planSourceRemoval(project, going, templates, force);
  const left = toolsNamed(staying);
  const all = [...removed, ...sources.removed];
  const { files: others, records, variables } = sources;
  const files = withNextManifest(
    new Map([...others, [toolsIndex, index]]),
    all,
    { tools: left.map(({ name }) => name), ...(variables && { variables }) },
    project.manifest,
    records,
  );
  return { change: { files, removed: all }, drift: driftOf(left, project.manifest.listed), sources };
}

/** The tool with a name. @throws CommandError `NO_SUCH_TOOL`. */
export function toolNamed({ tools }: Project, name: string): ToolFile {
  const known = toolsNamed(tools).map((tool) => tool.name);
  const tool = tools[known.indexOf(name)];
  if (tool === undefined) throw unknownTool('this project', name, known);
  return tool;
}

function requireUnchanged({ directory, manifest }: Project, paths: readonly string[]): void {
  const changed = paths.filter((path) => !isAsWrittenAt(directory, path, manifest.files[path]?.sha256));
  if (changed.length === 0) return;
  throw new CommandError(
    'FILE_CHANGED',
    `${changed.join(' and ')} would be lost: ${changed.length === 1 ? 'it was' : 'they were'} changed after the program wrote ${changed.length === 1 ? 'it' : 'them'}`,
    'Nothing was removed. Commit or copy what you need, then run the command with --force.',
  );
}
