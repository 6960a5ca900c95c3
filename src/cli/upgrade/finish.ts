import { CommandError, counted, type ExitCode, nameList, type Output } from 'market-mcp-contract/command';
import { cloneProblems } from '../../changes/clone.ts';
import type { Upgrade } from '../../changes/upgrade/model.ts';
import {
  discardRecords,
  openConflicts,
  pendingCommand,
  requirePending,
  restoringChange,
} from '../../changes/upgrade/pending.ts';
import { changesBetween, reportOf } from '../../changes/upgrade/report.ts';
import { changeProject } from '../../project/write/change.ts';
import { detectPackageManager, packageManagerOf } from '../../system/detect.ts';
import { shortReport } from '../create/format.ts';
import { afterChange, checkChange, requirePassed } from '../tools/change.ts';
import type { UpgradeFlags } from './options.ts';

/** What is known of an upgrade that began. */
type Begun = Pick<Upgrade, 'from' | 'to' | 'files' | 'todos'>;

/** @throws CommandError `UPGRADE_CONFLICTS` if the author has to resolve conflicts first. */
export function requireNothingOpen(planned: Upgrade, problems: readonly string[]): void {
  const { open } = reportOf(planned);
  if (open.length === 0) return;
  throw new CommandError(
    'UPGRADE_CONFLICTS',
    `the upgrade to ${planned.to} needs your decision in ${counted(open.length, 'place')}`,
    nextAfter('Edit the files'),
    open,
    { ...contents(planned), problems },
  );
}

/** `--continue`: finishes an upgrade whose conflicts are resolved. @throws CommandError `UPGRADE_CONFLICTS`. */
export async function goOn(directory: string, flags: UpgradeFlags, output: Output): Promise<ExitCode> {
  const pending = requirePending(directory, '--continue');
  const open = openConflicts(directory, pending);
  if (open.length > 0) {
    const message = `conflicts of the upgrade are not resolved in ${nameList(open.map(({ path }) => path))}`;
    const details = open.map(({ path, text }) => `${path}: ${text}`);
    throw new CommandError('UPGRADE_CONFLICTS', message, nextAfter('Resolve them'), details);
  }
  return finish(directory, { ...pending, files: [], todos: [] }, flags, output);
}

/** Installs, builds and checks. After that the upgrade is finished and can no longer be undone. */
export async function finish(
  directory: string,
  planned: Begun,
  { install, check }: UpgradeFlags,
  output: Output,
): Promise<ExitCode> {
  const packageManager = detectPackageManager(directory);
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

/** `--abort`: restores every file. */
export async function abort(directory: string, output: Output): Promise<ExitCode> {
  const { pending } = await changeProject(directory, async () => {
    const pending = requirePending(directory, '--abort');
    return { pending, change: restoringChange(directory, pending) };
  });
  const { frozenInstall } = packageManagerOf(directory);
  output.done(`every file is as it was before the upgrade from ${pending.from}`);
  output.line(`  If packages were installed meanwhile, restore the old ones with: ${frozenInstall}`);
  return output.result({ ok: true, directory, from: pending.from, files: Object.keys(pending.files) });
}

function nextAfter(step: string): string {
  return `${step}, then run: ${pendingCommand('--continue')}. To undo the upgrade: ${pendingCommand('--abort')}`;
}

/** What `--json` prints of an upgrade. */
export function contents({ from, to, files, todos }: Begun) {
  return { from, to, files, todos };
}
