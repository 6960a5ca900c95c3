import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { asOperand, CommandError, type InputError, inputError, shellLine } from 'market-mcp-contract/command';
import { attempt } from 'market-mcp-contract/json';
import { packageManagerCommands } from '../plan/package-manager-commands.ts';
import type { FileSet } from '../plan/planned-file.ts';
import { type Manifest, manifestFile, readManifest } from '../project/manifest/manifest.ts';
import { conflictingFiles } from '../project/read/edited-files.ts';
import { readIn } from '../project/read/resolve-inside.ts';
import { inspectTarget, type TargetDirectory } from '../project/read/target-directory.ts';
import { rollBackKilledRuns } from '../project/write/write.ts';
import type { CreateSwitches } from '../questions/create.ts';
import type { PackageManager } from '../questions/package-managers.ts';

/** A project on disk and its package manager. */
export interface ProjectContext {
  readonly directory: string;
  readonly packageManager: PackageManager;
}

/** The manifest of the project in a directory; undefined if there is none or it cannot be read. */
export function projectIn(directory: string): Manifest | undefined {
  if (!existsSync(join(directory, manifestFile))) return undefined;
  return attempt(() => readManifest(resolve(directory)), undefined);
}

/** Whether a directory already contains exactly this project: an earlier run wrote it and was interrupted. */
export function isSameProject(directory: string, files: FileSet): boolean {
  const newManifest = files.get(manifestFile)?.content;
  if (newManifest === undefined || projectIn(directory) === undefined) return false;
  return readIn(directory, manifestFile).equals(newManifest);
}

/**
 * Returns the directory to write a project to, without the leftovers of killed runs.
 *
 * @param files to be written, if they are planned
 * @throws CommandError `TARGET_NOT_EMPTY`, `FILES_CHANGED`, or as `inspectTarget` does, if they cannot be written there
 */
export function requireUsableTarget(
  directoryName: string,
  switches: CreateSwitches,
  files: FileSet = new Map(),
): TargetDirectory {
  if (!switches.dryRun) rollBackKilledRuns(resolve(directoryName));
  const target = inspectTarget(directoryName, [...files.keys()]);
  const { directory, conflicts } = target;
  if (conflicts.length === 0) return target;
  const existingProject = projectIn(directory);
  if (switches.force) {
    if (!switches.overwrite) requireNotChanged(directory, files, existingProject);
    return target;
  }
  if (existingProject) throw projectExistsError(directory, existingProject);
  throw new CommandError(
    'TARGET_NOT_EMPTY',
    `${directory} is not empty: ${conflicts.join(', ')}`,
    'Choose another directory, or use --force to write into this one. Files that you have created or changed are kept.',
  );
}

/** Why no project can be written to a directory, as an error of the answer that names it. */
export function directoryError(directory: string, switches: CreateSwitches): InputError | undefined {
  try {
    const existingProject = switches.force ? undefined : projectIn(directory);
    if (existingProject) throw projectExistsError(directory, existingProject);
    requireUsableTarget(directory, switches);
    return undefined;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return inputError('[directory]', directory, error.message, error.hint);
  }
}

function requireNotChanged(directory: string, files: FileSet, manifest: Manifest | undefined): void {
  const changed = conflictingFiles(directory, files, manifest);
  if (changed.length === 0) return;
  const message = `files that you have changed in ${directory} would be lost: ${changed.join(', ')}`;
  const hint = 'Nothing was written. Move these files away, or add --overwrite to replace them.';
  throw new CommandError('FILES_CHANGED', message, hint);
}

/** The error for a project that exists already, with the command that finishes it. */
export function projectExistsError(directory: string, { answers }: Manifest): CommandError {
  const { packageManager } = answers;
  const tools = answers.tools.slice(0, 5).join(', ');
  return new CommandError(
    'TARGET_NOT_EMPTY',
    `${directory} already contains a project with ${tools || 'no tool'}`,
    `Choose another directory. To finish that project: ${finishCommand({ directory, packageManager })}`,
  );
}

/** The command that installs and checks an existing project. */
export function finishCommand({ directory, packageManager }: ProjectContext): string {
  const { install, run } = packageManagerCommands[packageManager];
  return [...enterCommand(directory), install, `${run} self-check`].join(' && ');
}

/** The command that changes to a directory; none if it is the current one. */
export function enterCommand(directory: string): readonly string[] {
  const path = relative(process.cwd(), resolve(directory));
  if (path === '') return [];
  return [shellLine(['cd', asOperand(path)])];
}
