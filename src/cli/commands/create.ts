import { resolve } from 'node:path';
import { type Creation, planCreation } from '../../changes/creation.ts';
import type { CheckReport } from '../../check/model.ts';
import { CommandError, type ExitCode, exitCodes, unwrap } from '../../model/command-error.ts';
import { inputError, pass } from '../../model/input-error.ts';
import type { InputError, Result } from '../../model/model.ts';
import { shellLine } from '../../model/shell.ts';
import type { FileSet } from '../../plan/model.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import type { Manifest } from '../../project/manifest/manifest.ts';
import { ownCommand } from '../../project/package/own-package.ts';
import { conflictingFiles } from '../../project/read/files.ts';
import { inspectTarget, type Target } from '../../project/read/target.ts';
import { rollBackKilledRuns, writeProject } from '../../project/write/write.ts';
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
import { type Answering, canAsk, collectAnswers } from '../answers.ts';
import {
  fileLines,
  firstEditOf,
  nextSteps,
  sampleEdit,
  shortReport,
  showNext,
  showPrepared,
  showReport,
} from '../create/format.ts';
import { interruptedError, isSameProject, projectExistsError, projectIn } from '../create/resume.ts';
import { reviewLines, reviewWidth } from '../create/review.ts';
import type { ProjectContext } from '../create/steps.ts';
import { toCommandError } from '../errors.ts';
import type { Output } from '../output.ts';
import { onInterrupted } from '../signals.ts';
import { singleLine } from '../single-line.ts';
import { cloneProblems } from '../tools/clone.ts';
import { nameList } from '../tools/format.ts';

/** The program's name in a command to paste. */
function program(): string {
  return shellLine(ownCommand('create-market-mcp'));
}

/** `create-market-mcp [directory]`: answers, files in memory, files on disk, install, git, self-check. */
export async function create(
  flags: CreateFlags,
  switches: CreateSwitches,
  output: Output,
): Promise<ExitCode> {
  const given = unwrap(readCreateFlags(flags));
  const asks = !switches.yes && !switches.json && canAsk();
  const lists = given.search !== undefined || (given.operation === undefined && !asks);
  if (given.fromOpenapi !== undefined && lists) {
    const { listOperations } = await import('../tools/operations.ts');
    return listOperations(given.fromOpenapi, given.search, output);
  }
  if (given.directory !== undefined) {
    const there = switches.force ? undefined : projectIn(given.directory);
    // Whether it is the same project is known only after all questions are answered.
    if (there === undefined) lookAt(given.directory, switches);
    else if (asks) return finish(given.directory, there, switches, output);
  }
  const answers = await collectAnswers(answering(given, switches, output), switches);
  const blueprint = unwrap(await planCreation(answers));
  const { files, packageManager } = blueprint;
  if (!switches.force && !switches.dryRun && isSameProject(answers.directory, files)) {
    const context = { directory: resolve(answers.directory), packageManager };
    output.done(`${context.directory} already contains this project: continuing with it`);
    return goOn(blueprint, context, switches, output);
  }
  const target = lookAt(answers.directory, switches, files);
  if (switches.dryRun) return showDryRun(blueprint, target, output);

  writeProject(target, files);
  output.done(`${files.size} files in ${target.directory}`);
  showPrepared(blueprint.prepared, output);
  return goOn(blueprint, { directory: target.directory, packageManager }, switches, output);
}

async function goOn(
  blueprint: Creation,
  context: ProjectContext,
  switches: CreateSwitches,
  output: Output,
): Promise<ExitCode> {
  const taken = await takeSteps(context, switches, output);
  const problems = await cloneProblems(context.directory);
  for (const problem of problems) output.note(problem);
  return showResult(blueprint, context, switches, { ...taken, problems }, output);
}

/** Finishes a project that an earlier run has written, if the author at the terminal agrees. */
async function finish(
  given: string,
  { answers }: Manifest,
  switches: CreateSwitches,
  output: Output,
): Promise<ExitCode> {
  const context = { directory: resolve(given), packageManager: answers.packageManager };
  const { Asker } = await import('../prompts/asker.ts');
  const { Cancelled } = await import('../prompts/leaving.ts');
  const tools = nameList(answers.tools);
  const words = `${given} already contains a project with ${tools}. Finish it (install, git, self-check)?`;
  if (!(await new Asker().confirm(singleLine(words), true))) throw new Cancelled();
  const { report } = await takeSteps(context, switches, output);
  if (report) showReport(report, output);
  const [tool] = answers.tools;
  showNext(
    nextSteps(context, switches.install, tool === undefined ? undefined : sampleEdit(tool)),
    undefined,
    output,
  );
  if (report?.ok === false) throw selfCheckFailed(context);
  return exitCodes.ok;
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
      return askCreate({
        given,
        review: (answers) => review(answers, switches),
        resume: (parts, ask) => resumeCommand({ ...parts, ask }, switches, program()),
        interrupted: (cancelled) => output.error(toCommandError(cancelled)),
        directoryError: (directory) => directoryError(directory, switches),
      });
    },
  };
}

/** What the steps of a creation have led to. */
interface Taken {
  /** The installed packages as `name@version`; null without an installation. */
  readonly packages: readonly string[] | null;
  readonly report: CheckReport | null;
}

/** Runs the wanted steps: install, git, self-check. */
async function takeSteps(context: ProjectContext, switches: CreateSwitches, output: Output): Promise<Taken> {
  if (!switches.install && !switches.git) return { packages: null, report: null };
  const { checkStep, gitStep, installStep } = await import('../create/steps.ts');
  const during = <T>(step: string, work: () => Promise<T>): Promise<T> => {
    onInterrupted(() => output.error(interruptedError(step, context)));
    return work();
  };
  try {
    const packages = switches.install
      ? await during('the installation of packages', () => installStep(context, output))
      : null;
    if (switches.git) await during('git init', () => gitStep(context, output));
    const checks = switches.install && switches.check;
    const report = checks ? await during('the self-check', () => checkStep(context, output)) : null;
    return { packages, report };
  } finally {
    onInterrupted(undefined);
  }
}

/** What the author confirms before anything is written. */
async function review(answers: CreateAnswers, switches: CreateSwitches): Promise<Result<readonly string[]>> {
  const drawn = await planCreation(answers);
  if (!drawn.ok) return drawn;
  const { files, prepared } = drawn.value;
  const { directory } = lookAt(answers.directory, switches, files);
  return pass(reviewLines(`${files.size} files in ${directory}`, prepared, reviewWidth()));
}

function directoryError(directory: string, switches: CreateSwitches): InputError | undefined {
  try {
    const there = switches.force ? undefined : projectIn(directory);
    if (there) throw projectExistsError(directory, there);
    lookAt(directory, switches);
    return undefined;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return inputError('[directory]', directory, error.message, error.hint);
  }
}

/**
 * The state of the target, after the leftovers of killed runs were removed.
 *
 * @param files to be written, as far as known.
 * @throws CommandError `TARGET_NOT_EMPTY`, `FILES_CHANGED`; ProjectError as `inspectTarget` does.
 */
function lookAt(directory: string, switches: CreateSwitches, files: FileSet = new Map()): Target {
  if (!switches.dryRun) rollBackKilledRuns(resolve(directory));
  const target = inspectTarget(directory, [...files.keys()]);
  const { conflicts } = target;
  if (conflicts.length === 0) return target;
  const there = projectIn(target.directory);
  if (switches.force) {
    if (!switches.overwrite) requireNotChanged(target.directory, files, there);
    return target;
  }
  if (there) throw projectExistsError(target.directory, there);
  throw new CommandError(
    'TARGET_NOT_EMPTY',
    `${target.directory} is not empty: ${conflicts.join(', ')}`,
    'Choose another directory, or use --force to write into this one. Files that you have created or changed are kept.',
  );
}

function requireNotChanged(directory: string, files: FileSet, manifest: Manifest | undefined): void {
  const changed = conflictingFiles(directory, files, manifest);
  if (changed.length === 0) return;
  const message = `files that you have changed in ${directory} would be lost: ${changed.join(', ')}`;
  const hint = 'Nothing was written. Move these files away, or add --overwrite to replace them.';
  throw new CommandError('FILES_CHANGED', message, hint);
}

function showDryRun({ files, prepared }: Creation, { directory }: Target, output: Output): ExitCode {
  output.line(`These files would be written to ${singleLine(directory)}:`);
  for (const line of fileLines(files)) output.line(`  ${line}`);
  showPrepared(prepared, output);
  output.result({
    ok: true,
    dryRun: true,
    directory,
    ...contents(files, prepared),
    packages: null,
    selfCheck: null,
    next: [],
  });
  return exitCodes.ok;
}

function showResult(
  { answers, files, prepared }: Creation,
  context: ProjectContext,
  switches: CreateSwitches,
  { packages, report, problems }: Taken & { readonly problems: readonly string[] },
  output: Output,
): ExitCode {
  const ok = report?.ok ?? true;
  const [tool] = prepared.tools;
  const first = tool && firstEditOf(tool);
  const steps = nextSteps(context, switches.install, first);
  const repeat = replayCommand(answers, switches, program());
  if (report) showReport(report, output);
  showNext(steps, repeat, output);
  const next = steps.flatMap(({ command }) => command ?? []);
  const selfCheck = shortReport(report);
  const { directory } = context;
  const edit = first?.edit;
  output.result({
    ok,
    directory,
    ...contents(files, prepared),
    packages,
    problems,
    selfCheck,
    edit,
    next,
    repeat,
  });
  if (!ok) throw selfCheckFailed(context);
  return exitCodes.ok;
}

function selfCheckFailed({ directory, packageManager }: ProjectContext): CommandError {
  const { run } = packageManagerCommands[packageManager];
  const message = 'the server was created, but fails rules of the marketplace';
  const hint = `Fix the failed rules above and run the self-check again. In ${directory} run: ${run} self-check`;
  return new CommandError('SELF_CHECK_FAILED', message, hint);
}

function contents(files: Creation['files'], { tools, changes, advice }: Creation['prepared']) {
  return { files: [...files.keys()], tools: tools.map(({ definition }) => definition.name), changes, advice };
}
