import { cloneProblems } from '../../changes/clone.ts';
import type { Upgrade } from '../../changes/upgrade/model.ts';
import {
  discardRecords,
  isRecord,
  openConflicts,
  pendingCommand,
  requireCommitted,
  requirePending,
  restoringChange,
} from '../../changes/upgrade/pending.ts';
import { planUpgrade } from '../../changes/upgrade/plan.ts';
import { changesBetween, reportOf } from '../../changes/upgrade/report.ts';
import { CommandError, type ExitCode } from '../../model/command-error.ts';
import { nameList } from '../../model/text.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { version } from '../../plan/versions.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { newerProgram } from '../../project/package/own-package.ts';
import { changeProject } from '../../project/write/change.ts';
import { withProjectLock } from '../../project/write/lock.ts';
import type { Change } from '../../project/write/transaction.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { shortReport } from '../create/format.ts';
import type { Output } from '../output.ts';
import { afterChange, checkChange, requirePassed } from '../tools/change.ts';
import type { UpgradeFlags } from './options.ts';

/** What is known of an upgrade that began. */
type Begun = Pick<Upgrade, 'from' | 'to' | 'files' | 'todos'>;

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
  return finishing(directory, planned, flags, output);
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

/** @throws CommandError `UPGRADE_CONFLICTS` if the author has to resolve conflicts first. */
function requireNothingOpen(planned: Upgrade, problems: readonly string[]): void {
  const { open } = reportOf(planned);
  if (open.length === 0) return;
  throw new CommandError(
    'UPGRADE_CONFLICTS',
    `the upgrade to ${planned.to} needs your decision in ${open.length} ${open.length === 1 ? 'place' : 'places'}`,
    nextAfter('Edit the files'),
    open,
    { ...contents(planned), problems },
  );
}

async function goOn(directory: string, flags: UpgradeFlags, output: Output): Promise<ExitCode> {
  const pending = requirePending(directory, '--continue');
  const open = openConflicts(directory, pending);
  if (open.length > 0) {
    const message = `conflicts of the upgrade are not resolved in ${nameList(open.map(({ path }) => path))}`;
    const details = open.map(({ path, text }) => `${path}: ${text}`);
    throw new CommandError('UPGRADE_CONFLICTS', message, nextAfter('Resolve them'), details);
  }
  return finishing(directory, { ...pending, files: [], todos: [] }, flags, output);
}

/** Installs, builds and checks. After that the upgrade is finished and can no longer be undone. */
async function finishing(
  directory: string,
  planned: Begun,
  { install, check }: UpgradeFlags,
  output: Output,
): Promise<ExitCode> {
  const packageManager = detectPackageManager(directory, process.env);
  const done = `the project was upgraded to ${planned.to}`;
  const standing = { directory, packageManager };
  const changelog = changesBetween(planned.from, planned.to);
  if (install) {
    const { installStep } = await import('../create/steps.ts');
    await afterChange(
      done,
      () => nextAfter('Fix the cause'),
      () => installStep(standing, output),
    );
  }
  const undo = `${pendingCommand('--abort')}. To finish the upgrade: ${pendingCommand('--continue')}`;
  const report = install && check ? await checkChange(standing, done, undo, output) : null;
  requirePassed(report, done, undo, output);
  discardRecords(directory);
  for (const section of changelog) output.line(`\n${section}`);
  output.line();
  output.done(`${done}. Review the change and commit it.`);
  return output.result({
    ok: true,
    directory,
    ...contents(planned),
    problems: await cloneProblems(directory),
    changelog,
    selfCheck: shortReport(report),
  });
}

async function abort(directory: string, output: Output): Promise<ExitCode> {
  const { pending } = await changeProject(directory, async () => {
    const pending = requirePending(directory, '--abort');
    return { pending, change: restoringChange(directory, pending) };
  });
  const { frozenInstall } = packageManagerCommands[detectPackageManager(directory, process.env)];
  output.done(`every file is as it was before the upgrade from ${pending.from}`);
  output.line(`  If packages were installed meanwhile, restore the old ones with: ${frozenInstall}`);
  return output.result({ ok: true, directory, from: pending.from, files: Object.keys(pending.files) });
}

function nextAfter(step: string): string {
  return `${step}, then run: ${pendingCommand('--continue')}. To undo the upgrade: ${pendingCommand('--abort')}`;
}

function contents({ from, to, files, todos }: Begun) {
  return { from, to, files, todos };
}
