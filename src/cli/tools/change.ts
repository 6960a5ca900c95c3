import { CommandError, type ExitCode, exitCodes } from '../../model/command-error.ts';
import type { Drift } from '../../project/manifest/listed.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import type { Project } from '../../project/model.ts';
import { openProject } from '../../project/read/open.ts';
import { changeProject } from '../../project/write/change.ts';
import type { Change } from '../../project/write/transaction.ts';
import type { RenameToolSwitches } from '../../questions/add-tool.ts';
import { canAsk } from '../answers.ts';
import type { Output } from '../output.ts';
import { singleLine } from '../single-line.ts';
import { finishChange, type Made, showDrift } from './format.ts';

/** A change of tools: how it is planned, confirmed and shown. */
export interface ToolsChange<Planned> extends Pick<Made, 'done'> {
  plan(project: Project): Planned;
  /** What the author confirms. */
  readonly question: string;
  /** The files as they are shown above the question, and after the change behind `made`. */
  lines(planned: Planned): readonly string[];
  readonly made?: string;
  /** Prints what the author has to know besides. */
  notes?(planned: Planned, output: Output): void;
  /** The command that undoes it. */
  undo(directory: string, planned: Planned): string;
  /** What `--json` prints besides. */
  contents(planned: Planned): object;
}

/** Plans, confirms, makes and checks a change of the tools of the project in the current directory. */
export async function changeTools<Planned extends { readonly change: Change; readonly drift: Drift }>(
  { plan, question, lines, made: prefix = '', notes, done, undo, contents }: ToolsChange<Planned>,
  switches: RenameToolSwitches,
  output: Output,
): Promise<ExitCode> {
  const directory = findProject(process.cwd());
  const planNow = async () => plan(await openProject(directory));
  const planned = await planNow();
  const listed = (one: Planned) => ({ ...contents(one), refresh: one.drift });
  if (switches.dryRun) {
    const { showDryRun } = await import('./dry-run.ts');
    showDryRun(directory, planned.change, listed(planned), output);
    notes?.(planned, output);
    return exitCodes.ok;
  }
  if (!switches.yes) await requireConsent(lines(planned), question, switches, output);
  const made = await changeProject(directory, planNow);
  for (const line of lines(made)) output.done(`${prefix}${line}`);
  notes?.(made, output);
  showDrift(made.drift, output);
  await finishChange(
    { directory, done, undo: undo(directory, made), contents: listed(made) },
    switches,
    output,
  );
  return exitCodes.ok;
}

async function requireConsent(
  lines: readonly string[],
  question: string,
  { json }: RenameToolSwitches,
  output: Output,
): Promise<void> {
  if (json || !canAsk()) {
    const hint = 'Add --yes to change the project without confirmation.';
    throw new CommandError('MISSING_ANSWERS', 'no terminal to ask for confirmation', hint);
  }
  for (const line of lines) output.line(`  ${singleLine(line)}`);
  const { Asker } = await import('../prompts/asker.ts');
  const { Cancelled } = await import('../prompts/leaving.ts');
  if (!(await new Asker().confirm(question, false))) throw new Cancelled();
}
