import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { CommandError, counted, type Output, onInterrupted, withProgress } from 'market-mcp-contract/command';
import { type CheckReport, countsOf } from 'market-mcp-contract/report';
import { finishCommand, type ProjectContext } from '../../changes/project-context.ts';
import { buildProject } from '../../check/build-project.ts';
import { openForCheck, prepareCheck } from '../../check/check-project.ts';
import { selfCheck } from '../../check/self-check.ts';
import { packageManagerCommands } from '../../plan/package-manager-commands.ts';
import { installedPackages } from '../../project/read/installed.ts';
import type { CreateSwitches } from '../../questions/create.ts';
import { type GitOutcome, initRepository } from '../../system/git.ts';
import { install } from '../../system/package-manager.ts';

/** The results of the steps of a creation. */
export interface StepResults {
  /** The installed packages as `name@version`; null without an installation. */
  readonly packages: readonly string[] | null;
  readonly report: CheckReport | null;
  /** What a step could not do, in sentences. */
  readonly notes: readonly string[];
}

/**
 * Runs the requested steps: install, git, self-check. One line reports what was written, installed and committed; the self-check
 * reports its own result.
 *
 * @param successText what was written before
 * @throws as each step
 */
export async function runSteps(
  context: ProjectContext,
  successText: string,
  { install, git, check }: CreateSwitches,
  output: Output,
): Promise<StepResults> {
  const runStep = <T>(step: string, work: () => Promise<T>): Promise<T> => {
    onInterrupted(() => output.error(interruptedError(step, context)));
    return work();
  };
  const runsCheck = install && check;
  const selfCheckCommand = `${packageManagerCommands[context.packageManager].run} self-check`;
  const laterSteps: string[] = [];
  if (git) laterSteps.push('git init (if no repository is around it)');
  if (check) laterSteps.push(selfCheckCommand);
  const platformKey = runsCheck ? afterInstallStarted(() => prepareCheck(context.directory)) : undefined;
  platformKey?.catch(() => {}); // the self-check reports the error
  let buildRun = Promise.resolve();
  const results = [successText];
  const notes: string[] = [];
  const showResults = () => {
    if (results.length > 0) output.done(results.splice(0).join(', '));
  };
  try {
    const packages = install
      ? await runStep('the installation of packages', () => installStep(context, output, laterSteps))
      : null;
    if (packages)
      results.push(`${counted(packages.length, 'package')} installed with ${context.packageManager}`);
    if (runsCheck) buildRun = buildProject(context.directory, context.packageManager);
    buildRun.catch(() => {}); // reported after git, which takes about as long
    const repository = git ? await runStep('git init', () => gitStep(context, output)) : undefined;
    if (repository?.state === 'committed') results.push('git repository with a first commit');
    else if (repository) notes.push(repository.note);
    showResults();
    const report = runsCheck
      ? await runStep('the self-check', () => checkStep(context, output, buildRun, platformKey))
      : null;
    return { packages, report, notes };
  } finally {
    showResults();
    await Promise.allSettled([buildRun]);
    onInterrupted(undefined);
  }
}

/** Runs work beside the package manager: at the next turn of the event loop, when the package manager has been started. */
async function afterInstallStarted<T>(work: () => Promise<T>): Promise<T> {
  await setImmediate();
  return work();
}

/** The error after a signal interrupted a step, with the command that continues. */
function interruptedError(step: string, context: ProjectContext): CommandError {
  const message = `interrupted during ${step}: all files of the project are written to ${context.directory}`;
  const hint = `To continue, run the same command again, or: ${finishCommand(context)}`;
  return new CommandError('INTERRUPTED', message, hint);
}

/**
 * Installs the packages.
 *
 * @param laterSteps the commands that finish the project after it
 * @returns each as `name@version`
 * @throws CommandError as `install` does; the project remains.
 */
export async function installStep(
  { directory, packageManager }: ProjectContext,
  output: Output,
  laterSteps: readonly string[] = [],
): Promise<readonly string[]> {
  const { install: command } = packageManagerCommands[packageManager];
  await withProgress(output.progress(command), (update) =>
    install(packageManager, directory, update, laterSteps),
  );
  return installedPackages(directory);
}

function gitStep({ directory }: ProjectContext, output: Output): Promise<GitOutcome> {
  return withProgress(output.progress('git init'), () =>
    initRepository(directory, 'Scaffold an MCP tool server'),
  );
}

/** @throws CommandError if the project does not compile or its server does not start. */
export async function checkStep(
  { directory, packageManager }: ProjectContext,
  output: Output,
  buildRun = buildProject(directory, packageManager),
  platformKey?: Promise<KeyObject>,
): Promise<CheckReport> {
  await withProgress(output.progress('building'), () => buildRun);
  const report = await withProgress(output.progress('self-check'), (update) =>
    selfCheck(openForCheck(directory, { privateKey: platformKey }), (id, completedCount, total) =>
      update(`${completedCount}/${total} ${id}`),
    ),
  );
  const counts = `self-check: ${countsOf(report.summary)}`;
  if (report.ok) output.done(counts);
  else output.note(counts);
  return report;
}
