import type { Upgrade } from '../../changes/upgrade/model.ts';
import {
  discardRecords,
  isRecord,
  openConflicts,
  type Pending,
  pendingCommand,
  readPending,
  restoringChange,
} from '../../changes/upgrade/pending.ts';
import { planUpgrade } from '../../changes/upgrade/plan.ts';
import { changesBetween, reportOf } from '../../changes/upgrade/report.ts';
import { CommandError, type ExitCode, exitCodes } from '../../model/command-error.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { version } from '../../plan/versions.ts';
import { ProjectError } from '../../project/errors.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { newerProgram } from '../../project/package/own-package.ts';
import { changeProject } from '../../project/write/change.ts';
import { withProjectLock } from '../../project/write/lock.ts';
import type { Change } from '../../project/write/transaction.ts';
import { thisProgram } from '../../system/command-line.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { SystemError } from '../../system/errors.ts';
import { uncommitted } from '../../system/git.ts';
import { shortReport } from '../create/format.ts';
import type { ProjectContext } from '../create/steps.ts';
import type { Output } from '../output.ts';
import { cloneProblems } from '../tools/clone.ts';
import { checkChange, nameList, requirePassed } from '../tools/format.ts';

/** The flags of `market-mcp upgrade`. */
export interface UpgradeFlags {
  readonly to?: string;
  readonly dryRun?: true;
  readonly continue?: true;
  readonly abort?: true;
  readonly force?: true;
  readonly json?: true;
  readonly install: boolean;
  readonly check: boolean;
}

/** What is known of an upgrade that began. */
type Begun = Pick<Upgrade, 'from' | 'to' | 'files' | 'todos'>;

/** `market-mcp upgrade`: merges and writes files, installs packages, builds, runs the self-check. */
export async function upgrade(flags: UpgradeFlags, output: Output): Promise<ExitCode> {
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
    output.result({ ok: true, directory, ...contents(planned), newer, changelog: [], selfCheck: null });
    return exitCodes.ok;
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

/** @throws ProjectError `NOT_COMMITTED`: the upgrade's changes would be mixed with the author's own. */
async function requireCommitted(directory: string): Promise<void> {
  const paths = (await uncommitted(directory))?.filter((path) => !isRecord(path)) ?? [];
  if (paths.length === 0) return;
  throw new ProjectError(
    'NOT_COMMITTED',
    `there are uncommitted changes: ${nameList(paths)}`,
    'Nothing was changed. Commit or stash them first, or add --force to upgrade anyway.',
  );
}

async function dryRun(directory: string, output: Output): Promise<ExitCode> {
  const planned = planUpgrade(directory);
  const { showDryRun } = await import('../tools/dry-run.ts');
  const change = planned.change && shown(planned.change);
  showDryRun(
    directory,
    change,
    { ...contents(planned), changelog: changesBetween(planned.from, planned.to) },
    output,
  );
  const { open, notes } = reportOf(planned);
  for (const line of [...open, ...notes]) output.note(line);
  return exitCodes.ok;
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
  if (install) await installed(standing, done, output);
  const undo = `${pendingCommand('--abort')}. To finish the upgrade: ${pendingCommand('--continue')}`;
  const report = install && check ? await checkChange(standing, done, undo, output) : null;
  requirePassed(report, done, undo, output);
  discardRecords(directory);
  for (const section of changelog) output.line(`\n${section}`);
  output.line();
  output.done(`${done}. Review the change and commit it.`);
  output.result({
    ok: true,
    directory,
    ...contents(planned),
    problems: await cloneProblems(directory),
    changelog,
    selfCheck: shortReport(report),
  });
  return exitCodes.ok;
}

/** Installs the packages. @throws CommandError with the commands that continue or undo the upgrade. */
async function installed(standing: ProjectContext, done: string, output: Output): Promise<void> {
  const { installStep } = await import('../create/steps.ts');
  try {
    await installStep(standing, output);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const { code, message, details } = error;
    throw new CommandError(code, `${done}, but ${message}`, nextAfter('Fix the cause'), details);
  }
}

async function abort(directory: string, output: Output): Promise<ExitCode> {
  const { pending } = await changeProject(directory, async () => {
    const pending = requirePending(directory, '--abort');
    return { pending, change: restoringChange(directory, pending) };
  });
  const { frozenInstall } = packageManagerCommands[detectPackageManager(directory, process.env)];
  output.done(`every file is as it was before the upgrade from ${pending.from}`);
  output.line(`  If packages were installed meanwhile, restore the old ones with: ${frozenInstall}`);
  output.result({ ok: true, directory, from: pending.from, files: Object.keys(pending.files) });
  return exitCodes.ok;
}

/** @throws ProjectError `NO_UPGRADE`; `OTHER_VERSION` if another version of the program began the upgrade */
function requirePending(directory: string, flag: '--continue' | '--abort'): Pending {
  const pending = readPending(directory);
  if (pending?.to === version) return pending;
  if (pending) {
    const message = `version ${pending.to} of the program began this upgrade, and this is version ${version}`;
    const hint = `Nothing was changed. Run: ${pendingCommand(flag, pending.program)}`;
    throw new ProjectError('OTHER_VERSION', message, hint);
  }
  throw new ProjectError(
    'NO_UPGRADE',
    `${directory}: there is no unfinished upgrade`,
    `To start one: ${thisProgram('upgrade')}`,
  );
}

function nextAfter(step: string): string {
  return `${step}, then run: ${pendingCommand('--continue')}. To undo the upgrade: ${pendingCommand('--abort')}`;
}

function contents({ from, to, files, todos }: Begun) {
  return { from, to, files, todos };
}
