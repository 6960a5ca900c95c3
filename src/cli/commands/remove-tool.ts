import { planRemoval, type Removal } from '../../changes/removal.ts';
import { CommandError, type ExitCode, exitCodes } from '../../model/command-error.ts';
import { changeProject } from '../../project/change.ts';
import { findProject } from '../../project/manifest.ts';
import { openProject } from '../../project/open.ts';
import type { RemoveToolSwitches } from '../../questions/add-tool.ts';
import { restoreCommand } from '../../system/command-line.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { canAsk } from '../answers.ts';
import { shortReport } from '../create/format.ts';
import type { Output } from '../output.ts';
import { singleLine } from '../single-line.ts';
import { checkChange, nameList, requirePassed, showDrift } from '../tools/format.ts';

/** `market-mcp remove-tool <name…>`: removes the files, updates the list of tools, builds, runs the self-check. */
export async function removeTool(
  names: readonly string[],
  switches: RemoveToolSwitches,
  output: Output,
): Promise<ExitCode> {
  const directory = findProject(process.cwd());
  const plan = async () => planRemoval(await openProject(directory), names, switches.force);
  const planned = await plan();
  if (switches.dryRun) {
    const { showDryRun } = await import('../tools/dry-run.ts');
    showDryRun(directory, planned.change, contents(names, planned), output);
    return exitCodes.ok;
  }
  if (!switches.yes) await requireConsent(planned, switches, output);
  const removal = await changeProject(directory, plan);
  for (const path of removal.change.removed) output.done(`removed ${path}`);
  showDrift(removal.drift, output);

  const done = `${nameList(names)} ${names.length === 1 ? 'was' : 'were'} removed`;
  const { removed, files } = removal.change;
  const undo = `${restoreCommand(directory, [...removed, ...files.keys()])} (restores only what was committed)`;
  const standing = { directory, packageManager: detectPackageManager(directory, process.env) };
  const report = switches.check ? await checkChange(standing, done, undo, output) : null;
  output.result({
    ok: report?.ok ?? true,
    directory,
    ...contents(names, removal),
    selfCheck: shortReport(report),
  });
  requirePassed(report, done, undo, output);
  return exitCodes.ok;
}

async function requireConsent(
  { change }: Removal,
  { json }: RemoveToolSwitches,
  output: Output,
): Promise<void> {
  if (json || !canAsk()) {
    throw new CommandError(
      'MISSING_ANSWERS',
      'no terminal to ask for confirmation',
      'Add --yes to remove without confirmation.',
    );
  }
  for (const path of change.removed) output.line(`  ${singleLine(path)}`);
  const { Asker } = await import('../prompts/asker.ts');
  const { Cancelled } = await import('../prompts/leaving.ts');
  if (!(await new Asker().confirm('Remove these files?', false))) throw new Cancelled();
}

function contents(names: readonly string[], { change, drift }: Removal) {
  return { tools: names, removed: change.removed, refresh: drift };
}
