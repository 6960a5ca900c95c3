import type { CheckReport } from '../../check/model.ts';
import { build, selfCheck } from '../../check/self-check.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { installedPackages } from '../../project/read/installed.ts';
import type { PackageManager } from '../../questions/package-managers.ts';
import { initRepository } from '../../system/git.ts';
import { install } from '../../system/package-manager.ts';
import type { Output } from '../output.ts';
import { withProgress } from '../progress.ts';

/** A project on disk and its package manager. */
export interface ProjectContext {
  readonly directory: string;
  readonly packageManager: PackageManager;
}

/**
 * Installs the packages.
 *
 * @returns each as `name@version`
 * @throws SystemError as `install` does; the project remains.
 */
export async function installStep(
  { directory, packageManager }: ProjectContext,
  output: Output,
): Promise<readonly string[]> {
  const { install: command, lockFile } = packageManagerCommands[packageManager];
  await withProgress(output.progress(command), (update) => install(packageManager, directory, update));
  const packages = installedPackages(directory);
  output.done(
    `${packages.length} packages installed with ${packageManager}; ${lockFile} records their versions`,
  );
  return packages;
}

export async function gitStep({ directory }: ProjectContext, output: Output): Promise<void> {
  const outcome = await withProgress(output.progress('git init'), () =>
    initRepository(directory, 'Scaffold an MCP tool server'),
  );
  if (outcome.state === 'committed') output.done('git repository with a first commit');
  else output.note(outcome.note);
}

/** @throws SystemError if the project does not compile or its server does not start. */
export async function checkStep(
  { directory, packageManager }: ProjectContext,
  output: Output,
): Promise<CheckReport> {
  await withProgress(output.progress('building'), () => build(directory, packageManager));
  const report = await withProgress(output.progress('self-check'), (update) =>
    selfCheck(directory, ({ id }, done, total) => update(`${done}/${total} ${id}`)),
  );
  const { passed, failed, advice, notRun } = report.summary;
  const counts = `self-check: ${passed} rules passed, ${failed} failed, ${advice} advised, ${notRun} not run`;
  if (report.ok) output.done(counts);
  else output.note(counts);
  return report;
}
