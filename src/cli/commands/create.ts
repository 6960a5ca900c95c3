import { resolve } from 'node:path';
import type { Report } from '../../contract/model.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { ProjectError } from '../../project/errors.ts';
import { ownCommand } from '../../project/own-package.ts';
import { inspectTarget, type Target } from '../../project/target.ts';
import { sweep, writeProject } from '../../project/write.ts';
import type { CreateParts, CreateSwitches } from '../../questions/create.ts';
import {
  type CreateAnswers,
  type CreateFlags,
  completeAnswers,
  missingFlags,
  readCreateFlags,
  replayCommand,
  resumeCommand,
} from '../../questions/create-answers.ts';
import { shellLine } from '../../questions/shell.ts';
import { fault, pass } from '../../spec/fault.ts';
import type { Fault, Result } from '../../spec/model.ts';
import { type Answering, answersOf } from '../answers.ts';
import { type Blueprint, draw } from '../create/blueprint.ts';
import { reviewLines, reviewWidth } from '../create/review.ts';
import type { Standing } from '../create/steps.ts';
import { fileLines, nextSteps, showNext, showPrepared, showReport, summaryOf } from '../create/words.ts';
import { CliError, type ExitCode, exitCodes, unwrapped } from '../errors.ts';
import type { Output } from '../output.ts';
import { printable } from '../printable.ts';

/** How the program is called in a command to be pasted. */
function program(): string {
  return shellLine(ownCommand('create-market-mcp'));
}

/** `create-market-mcp [directory]`: answers, files in memory, files on disk, install, git, self-check. */
export async function create(
  flags: CreateFlags,
  switches: CreateSwitches,
  output: Output,
): Promise<ExitCode> {
  const given = unwrapped(readCreateFlags(flags));
  if (given.directory !== undefined) lookAt(given.directory, switches);
  const answers = await answersOf(answering(given, switches), switches);
  const blueprint = unwrapped(await draw(answers));
  const target = lookAt(answers.directory, switches, [...blueprint.files.keys()]);
  if (switches.dryRun) return showDryRun(blueprint, target, output);

  writeProject(target, blueprint.files);
  output.done(`${blueprint.files.size} files in ${target.directory}`);
  showPrepared(blueprint.prepared, output);

  const standing = { directory: target.directory, packageManager: blueprint.packageManager };
  const report = await takeSteps(standing, switches, output);
  return showResult(blueprint, standing, switches, report, output);
}

function answering(given: Partial<CreateParts>, switches: CreateSwitches): Answering<CreateAnswers> {
  return {
    missing: missingFlags(given),
    complete: () => completeAnswers(given),
    async ask() {
      const { askCreate } = await import('../prompts/create.ts');
      return askCreate({
        given,
        review: (answers) => review(answers, switches),
        resume: (parts) => resumeCommand(parts, switches, program()),
        directoryFault: (directory) => directoryFault(directory, switches),
      });
    },
  };
}

/** Install, git, self-check, as far as they are wanted. */
async function takeSteps(
  standing: Standing,
  switches: CreateSwitches,
  output: Output,
): Promise<Report | null> {
  if (!switches.install && !switches.git) return null;
  const { checkStep, gitStep, installStep } = await import('../create/steps.ts');
  if (switches.install) await installStep(standing, output);
  if (switches.git) await gitStep(standing, output);
  return switches.install && switches.check ? checkStep(standing, output) : null;
}

/** What the author agrees to before anything is written. */
async function review(answers: CreateAnswers, switches: CreateSwitches): Promise<Result<readonly string[]>> {
  const drawn = await draw(answers);
  if (!drawn.ok) return drawn;
  const { files, prepared } = drawn.value;
  const { directory } = lookAt(answers.directory, switches, [...files.keys()]);
  return pass(reviewLines(`${files.size} files in ${directory}`, prepared, reviewWidth()));
}

function directoryFault(directory: string, switches: CreateSwitches): Fault | undefined {
  try {
    lookAt(directory, switches);
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError || error instanceof ProjectError)) throw error;
    return fault('[directory]', directory, error.message, error.hint);
  }
}

/**
 * The target as it is, after what killed runs left there was taken back.
 *
 * @param paths the files that shall be written, as far as they are known.
 * @throws CliError `TARGET_NOT_EMPTY`, ProjectError as `inspectTarget` does.
 */
function lookAt(directory: string, { dryRun, force }: CreateSwitches, paths: readonly string[] = []): Target {
  if (!dryRun) sweep(resolve(directory));
  const target = inspectTarget(directory, paths);
  const { conflicts } = target;
  if (conflicts.length === 0 || force) return target;
  throw new CliError(
    'TARGET_NOT_EMPTY',
    `${target.directory} is not empty: ${conflicts.join(', ')}`,
    'Choose another directory, or --force to write over what is in the way and leave the rest.',
  );
}

function showDryRun({ files, prepared }: Blueprint, { directory }: Target, output: Output): ExitCode {
  output.line(`In ${printable(directory)} would be written:`);
  for (const line of fileLines(files)) output.line(`  ${line}`);
  showPrepared(prepared, output);
  output.result({
    ok: true,
    dryRun: true,
    directory,
    ...contents(files, prepared),
    selfCheck: null,
    next: [],
  });
  return exitCodes.ok;
}

function showResult(
  { answers, files, prepared }: Blueprint,
  standing: Standing,
  switches: CreateSwitches,
  report: Report | null,
  output: Output,
): ExitCode {
  const ok = report?.ok ?? true;
  const steps = nextSteps(standing, switches.install);
  const repeat = replayCommand(answers, switches, program());
  if (report) showReport(report, output);
  showNext(steps, repeat, output);
  const next = steps.map(({ command }) => command);
  const selfCheck = summaryOf(report);
  output.result({ ok, directory: standing.directory, ...contents(files, prepared), selfCheck, next, repeat });
  if (ok) return exitCodes.ok;
  const { directory, packageManager } = standing;
  const { run } = packageManagerCommands[packageManager];
  throw new CliError(
    'SELF_CHECK_FAILED',
    'the server was made, and breaks rules of the marketplace',
    `Fix what the self-check names and run it again. In ${directory} run: ${run} self-check`,
    exitCodes.checkFailed,
  );
}

function contents(files: Blueprint['files'], { tools, changes, advice }: Blueprint['prepared']) {
  return { files: [...files.keys()], tools: tools.map(({ definition }) => definition.name), changes, advice };
}
