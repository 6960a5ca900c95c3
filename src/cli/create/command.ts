import { resolve } from 'node:path';
import { type ExitCode, type Output, unwrap } from 'market-mcp-contract/command';
import { planCreation } from '../../changes/creation.ts';
import { isSameProject, projectIn, targetOf } from '../../changes/target.ts';
import { writeProject } from '../../project/write/write.ts';
import type { CreateSwitches } from '../../questions/create.ts';
import { type CreateFlags, readCreateFlags } from '../../questions/create-answers.ts';
import { collectAnswers, listedOperations, mayAsk } from '../answers.ts';
import { answering } from './answers.ts';
import { complete, finish, showDryRun } from './finish.ts';
import { showPrepared } from './format.ts';

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
