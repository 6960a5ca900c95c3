import { CommandError, type ExitCode, type Output } from 'market-mcp-contract/command';
import { cloneProblems } from '../../changes/clone.ts';
import type { Upgrade } from '../../changes/upgrade/model.ts';
import { isRecord, requireCommitted } from '../../changes/upgrade/pending.ts';
import { planUpgrade } from '../../changes/upgrade/plan.ts';
import { changesBetween, reportOf } from '../../changes/upgrade/report.ts';
import { version } from '../../plan/versions.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { newerProgram } from '../../project/package/own-package.ts';
import { changeProject } from '../../project/write/change.ts';
import { withProjectLock } from '../../project/write/lock.ts';
import type { Change } from '../../project/write/transaction.ts';
import { abort, contents, finish, goOn, requireNothingOpen } from './finish.ts';
import type { UpgradeFlags } from './options.ts';

/** `market-mcp upgrade`: merges and writes files, installs packages, builds, runs the self-check. */
export async function upgrade(output: Output, flags: UpgradeFlags): Promise<ExitCode> {
  requireVersion(flags);
  const directory = findProject(process.cwd());
  // Removes the leftovers of a killed run before anything is read.
  await withProjectLock(directory, () => {});
  if (flags.abort) return abort(directory, output);
  if (flags.continue) return goOn(directory, flags, output);
  if (flags.dryRun) return dryRun(directory, output);
  if (!flags.force) await requireCommitted(directory);

  const planned = await changeProject(directory, async () => planUpgrade(directory));
  if (planned.change === null) {
    const newer = newerProgram();
    output.done(`the project is up to date with version ${planned.to}, the version of this program`);
    output.line(`  ${newer}`);
    const nothing = { newer, changelog: [], selfCheck: null };
    return output.result({ ok: true, directory, ...contents(planned), ...nothing });
  }
  show(planned, output);
  const problems = await cloneProblems(directory);
  for (const problem of problems) output.note(problem);
  requireNothingOpen(planned, problems);
  return finish(directory, planned, flags, output);
}

function requireVersion({ to, abort, continue: goOn }: UpgradeFlags): void {
  if (abort && goOn) {
    throw new CommandError('BAD_USAGE', '--continue and --abort cannot be combined', 'Use only one of them.');
  }
  if (to === undefined || to === version) return;
  throw new CommandError(
    'UNKNOWN_VERSION',
    `--to ${to}: this program contains only version ${version}`,
    `Run the upgrade with version ${to} of the program, or remove --to.`,
  );
}

async function dryRun(directory: string, output: Output): Promise<ExitCode> {
  const planned = planUpgrade(directory);
  const { showDryRun } = await import('../tools/dry-run.ts');
  const change = planned.change && shown(planned.change);
  const rest = { ...contents(planned), changelog: changesBetween(planned.from, planned.to) };
  const exitCode = showDryRun(directory, change, rest, output);
  const { open, notes } = reportOf(planned);
  for (const line of [...open, ...notes]) output.note(line);
  return exitCode;
}

/** Without the records of the upgrade and without packed packages, which a diff cannot show. */
function shown({ files, removed }: Change): Change {
  const isText = (path: string) => !isRecord(path) && !path.startsWith('vendor/');
  return { files: new Map([...files].filter(([path]) => isText(path))), removed: removed.filter(isText) };
}

function show(planned: Upgrade, output: Output): void {
  const { counts, open, notes } = reportOf(planned);
  output.done(`${planned.from} → ${planned.to}: ${counts}`);
  for (const line of notes) output.note(line);
  for (const line of open) output.note(`to do: ${line}`);
}
