import { resolve } from 'node:path';
import { planCreation } from '../../changes/creation.ts';
import { directoryError, isSameProject, projectIn, targetOf } from '../../changes/target.ts';
import { type ExitCode, unwrap } from '../../model/command-error.ts';
import { pass } from '../../model/input-error.ts';
import { shellLine } from '../../model/shell.ts';
import { ownCommand } from '../../project/package/own-package.ts';
import { writeProject } from '../../project/write/write.ts';
import type { CreateParts, CreateSwitches } from '../../questions/create.ts';
import {
  type CreateAnswers,
  type CreateFlags,
  completeAnswers,
  missingFlags,
  readCreateFlags,
  resumeCommand,
} from '../../questions/create-answers.ts';
import { type Answering, collectAnswers, listedOperations, mayAsk } from '../answers.ts';
import { toCommandError } from '../errors.ts';
import type { Output } from '../output.ts';
import { complete, finish, showDryRun } from './finish.ts';
import { showPrepared } from './format.ts';
import { reviewLines, reviewWidth } from './review.ts';

/** `create-market-mcp [directory]`: answers, files in memory, files on disk, install, git, self-check. */
export async function create(
  directory: string | undefined,
  output: Output,
  flags: CreateFlags & CreateSwitches,
): Promise<ExitCode> {
  const given = unwrap(readCreateFlags({ ...flags, directory }));
  const listed = await listedOperations(given, flags, output);
  if (listed !== undefined) return listed;
  if (given.directory !== undefined) {
    const there = flags.force ? undefined : projectIn(given.directory);
    // Whether it is the same project is known only after all questions are answered.
    if (there === undefined) targetOf(given.directory, flags);
    else if (mayAsk(flags)) return finish(given.directory, there, flags, output);
  }
  const answers = await collectAnswers(answering(given, flags, output), flags);
  const creation = unwrap(await planCreation(answers));
  const { files, packageManager, prepared } = creation;
  if (!flags.force && !flags.dryRun && isSameProject(answers.directory, files)) {
    const context = { directory: resolve(answers.directory), packageManager };
    output.done(`${context.directory} already contains this project: continuing with it`);
    return complete(creation, context, flags, output);
  }
  const target = targetOf(answers.directory, flags, files);
  if (flags.dryRun) return showDryRun(creation, target.directory, output);
  writeProject(target, files);
  output.done(`${files.size} files in ${target.directory}`);
  showPrepared(prepared, output);
  return complete(creation, { directory: target.directory, packageManager }, flags, output);
}

function answering(
  given: Partial<CreateParts>,
  switches: CreateSwitches,
  output: Output,
): Answering<CreateAnswers> {
  return {
    asked: given.ask,
    missing: missingFlags(given),
    complete: () => completeAnswers(given),
    async ask() {
      const { askCreate } = await import('../prompts/create.ts');
      const program = shellLine(ownCommand('create-market-mcp'));
      return askCreate({
        given,
        async review(answers) {
          const planned = await planCreation(answers);
          if (!planned.ok) return planned;
          const { files, prepared } = planned.value;
          const { directory } = targetOf(answers.directory, switches, files);
          return pass(reviewLines(`${files.size} files in ${directory}`, prepared, reviewWidth()));
        },
        resume: (parts, ask) => resumeCommand({ ...parts, ask }, switches, program),
        interrupted: (cancelled) => output.error(toCommandError(cancelled)),
        directoryError: (directory) => directoryError(directory, switches),
      });
    },
  };
}
