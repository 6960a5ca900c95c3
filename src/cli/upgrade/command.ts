import { lstatSync } from 'node:fs';
import { CommandError, counted, type ExitCode, nameList, type Output } from 'market-mcp-contract/command';
import { cloneProblems } from '../../changes/clone-problems.ts';
import { planUpgrade, type Upgrade } from '../../changes/upgrade/plan-upgrade.ts';
import { changelogBetween, upgradeReport } from '../../changes/upgrade/report.ts';
import { undoOf } from '../../changes/upgrade/undo.ts';
import { version } from '../../plan/package-versions.ts';
import { findProject, readManifest } from '../../project/manifest/manifest.ts';
import { newerProgram } from '../../project/package/own-package.ts';
import { textAt } from '../../project/read/edited-files.ts';
import { resolveInside } from '../../project/read/resolve-inside.ts';
import { changeProject } from '../../project/write/change.ts';
import { withProjectLock } from '../../project/write/lock.ts';
import type { ProjectChange } from '../../project/write/transaction.ts';
import { thisProgram } from '../../system/command-line.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { hasMarkers } from '../../system/git.ts';
import type { UpgradeFlags } from '../command-flags.ts';
import { reportJson } from '../create/creation-lines.ts';
import { afterChange, checkChange, requirePassed } from '../tools/finish-change.ts';

/** An upgrade with the commands that undo what it wrote; none if the files had this version before. */
type Written = Upgrade & { readonly undo: readonly string[] };

/** `market-mcp upgrade`: merges and writes files, installs packages, builds, runs the self-check. */
export async function upgrade(output: Output, flags: UpgradeFlags): Promise<ExitCode> {
  const directory = findProject(process.cwd());
  // Removes the leftovers of a killed run before anything is read.
  await withProjectLock(directory, () => {});
  requireResolved(directory);
  if (flags.dryRun) return dryRun(directory, output);
  const writtenUpgrade = await changeProject(directory, async (): Promise<Written> => {
    const planned = await planUpgrade(directory);
    return { ...planned, undo: planned.change ? await undoOf(directory, planned.change) : [] };
  });
  const problems = await cloneProblems(directory);
  showUpgrade(writtenUpgrade, problems, output);
  requireNothingOpen(writtenUpgrade, problems);
  return finishUpgrade(directory, writtenUpgrade, flags, output);
}

/** @throws CommandError `UPGRADE_CONFLICTS` if an earlier run has left markers */
function requireResolved(directory: string): void {
  const paths = Object.keys(readManifest(directory).files);
  const isFile = (path: string) =>
    lstatSync(resolveInside(directory, path), { throwIfNoEntry: false })?.isFile() === true;
  const open = paths.filter((path) => isFile(path) && hasMarkers(textAt(directory, path) ?? ''));
  if (open.length === 0) return;
  const message = `conflicts of the upgrade are not resolved in ${nameList(open)}`;
  const details = open.map((path) => `${path}: it still contains conflict markers`);
  throw new CommandError('UPGRADE_CONFLICTS', message, nextAfter('Resolve them'), { details });
}

async function dryRun(directory: string, output: Output): Promise<ExitCode> {
  const planned = await planUpgrade(directory);
  const { showDryRun } = await import('../tools/dry-run.ts');
  const change = planned.change && visibleChange(planned.change);
  const rest = { ...upgradeJson(planned), changelog: changelogBetween(planned.from, planned.to) };
  const exitCode = showDryRun(directory, change, rest, output);
  const { open, notes } = upgradeReport(planned);
  for (const line of [...open, ...notes]) output.note(line);
  return exitCode;
}

/** Without packed packages, which a diff cannot show. */
function visibleChange({ files, removed }: ProjectChange): ProjectChange {
  const isText = (path: string) => !path.startsWith('vendor/');
  return { files: new Map([...files].filter(([path]) => isText(path))), removed: removed.filter(isText) };
}

function showUpgrade(upgrade: Written, problems: readonly string[], output: Output): void {
  const { from, to, change, undo } = upgrade;
  const { counts, notes } = upgradeReport(upgrade);
  if (change) output.done(`${from} → ${to}: ${counts || 'the record in market-mcp.json'}`);
  for (const line of [...notes, ...problems]) output.note(line);
  if (undo.length > 0) output.line('\nTo undo the upgrade:');
  for (const line of undo) output.line(`  ${line}`);
  output.line();
}

/** @throws CommandError `UPGRADE_CONFLICTS` if the author has to decide something first. */
function requireNothingOpen(upgrade: Written, problems: readonly string[]): void {
  const { open } = upgradeReport(upgrade);
  if (open.length === 0) return;
  throw new CommandError(
    'UPGRADE_CONFLICTS',
    `the upgrade to ${upgrade.to} needs your decision in ${counted(open.length, 'place')}`,
    nextAfter('Edit the files'),
    { details: open, data: { ...upgradeJson(upgrade), undo: upgrade.undo, problems } },
  );
}

/** Installs, builds and checks, also if an earlier run has written the files. */
async function finishUpgrade(
  directory: string,
  upgrade: Written,
  { install, check }: UpgradeFlags,
  output: Output,
): Promise<ExitCode> {
  const { from, to, change, undo } = upgrade;
  const successText = change ? `the project was upgraded to ${to}` : `the files have version ${version}`;
  const project = { directory, packageManager: detectPackageManager(directory) };
  const undoHint = undo.length > 0 ? undo.join(', then: ') : 'the lines that the upgrade printed';
  if (install) {
    const { installStep } = await import('../create/steps.ts');
    const hint = () => `${nextAfter('Fix the cause')}. To undo: ${undoHint}`;
    const packages = await afterChange(successText, hint, () => installStep(project, output));
    output.done(`${counted(packages.length, 'package')} installed with ${project.packageManager}`);
  }
  const report = install && check ? await checkChange(project, successText, undoHint, output) : null;
  requirePassed(report, successText, undoHint, output);
  const changelog = changelogBetween(from, to);
  for (const section of changelog) output.line(`\n${section}\n`);
  const newer = newerProgram();
  if (change) output.done(`${successText}. Review the change and commit it.`);
  else output.done(`the project is up to date with version ${to}, the version of this program`);
  if (!change) output.line(`  ${newer}`);
  return output.result({
    ok: true,
    directory,
    ...upgradeJson(upgrade),
    undo,
    newer,
    problems: await cloneProblems(directory),
    changelog,
    selfCheck: reportJson(report),
  });
}

function nextAfter(step: string): string {
  return `${step}, then run: ${thisProgram('upgrade')}`;
}

/** What `--json` prints of an upgrade. */
function upgradeJson({ from, to, files, renamed }: Upgrade) {
  return { from, to, files, renamed };
}
