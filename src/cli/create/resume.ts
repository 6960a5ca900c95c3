import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { CommandError } from '../../model/command-error.ts';
import { asOperand, shellLine } from '../../model/shell.ts';
import type { FileSet } from '../../plan/model.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { type Manifest, manifestFile, readManifest } from '../../project/manifest/manifest.ts';
import { readIn } from '../../project/read/inside.ts';
import type { ProjectContext } from './steps.ts';

/** The manifest of the project in a directory; undefined if there is none or it cannot be read. */
export function projectIn(directory: string): Manifest | undefined {
  if (!existsSync(join(directory, manifestFile))) return undefined;
  try {
    return readManifest(resolve(directory));
  } catch {
    return undefined;
  }
}

/** Whether a directory already contains exactly this project: an earlier run wrote it and was interrupted. */
export function isSameProject(directory: string, files: FileSet): boolean {
  const wanted = files.get(manifestFile)?.content;
  return (
    wanted !== undefined &&
    projectIn(directory) !== undefined &&
    readIn(directory, manifestFile).equals(wanted)
  );
}

/** The error for a project that exists already, with the command that finishes it. */
export function projectExistsError(directory: string, { answers }: Manifest): CommandError {
  const tools = answers.tools.slice(0, 5).join(', ');
  return new CommandError(
    'TARGET_NOT_EMPTY',
    `${directory} already contains a project with ${tools || 'no tool'}`,
    `Choose another directory. To finish that project: ${finishCommand({ directory, packageManager: answers.packageManager })}`,
  );
}

/** The error after a signal interrupted a step, with the command that continues. */
export function interruptedError(step: string, context: ProjectContext): CommandError {
  const message = `interrupted during ${step}: all files of the project are written to ${context.directory}`;
  const hint = `To continue, run the same command again, or: ${finishCommand(context)}`;
  return new CommandError('INTERRUPTED', message, hint);
}

/** The command that installs and checks an existing project. */
function finishCommand({ directory, packageManager }: ProjectContext): string {
  const place = relative(process.cwd(), resolve(directory));
  const { install, run } = packageManagerCommands[packageManager];
  const commands = [
    ...(place === '' ? [] : [shellLine(['cd', asOperand(place)])]),
    install,
    `${run} self-check`,
  ];
  return commands.join(' && ');
}
