import { CommandError, type ExitCode, type Output, singleLine } from 'market-mcp-contract/command';
import { type CheckReport, verdictOf } from 'market-mcp-contract/report';
import { unrecordedFix } from 'market-mcp-contract/wire';
import type { ProjectContext } from '../../changes/project-context.ts';
import type { ToolListDrift } from '../../project/manifest/listed.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import type { Project } from '../../project/opened-project.ts';
import { openProject } from '../../project/read/open.ts';
import { changeProject } from '../../project/write/change.ts';
import type { ProjectChange } from '../../project/write/transaction.ts';
import type { RenameToolSwitches } from '../../questions/add-tool.ts';
import { marketCommand } from '../../system/command-line.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { mayAsk, requireConsent } from '../ask-person.ts';
import { reportJson, showReport } from '../create/creation-lines.ts';
import { showDrift } from './tool-drift.ts';

/** A change of tools: how it is planned, confirmed and shown. */
export interface ToolsChange<Planned> extends Pick<Made, 'done'> {
  plan(project: Project): Planned | Promise<Planned>;
  /** What the author confirms. */
  readonly question: string;
  /** The files in the form above the question, and after the change behind `made`. */
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
export async function changeTools<
  Planned extends { readonly change: ProjectChange; readonly drift: ToolListDrift },
>(
  {
    plan,
    question,
    lines,
    made: prefix = '',
    notes,
    done: successText,
    undo,
    contents,
  }: ToolsChange<Planned>,
  switches: RenameToolSwitches,
  output: Output,
): Promise<ExitCode> {
  const directory = findProject(process.cwd());
  const planNow = async () => plan(await openProject(directory));
  const planned = await planNow();
  const listed = (planned: Planned) => ({ ...contents(planned), refresh: planned.drift });
  if (switches.dryRun) {
    const { showDryRun } = await import('./dry-run.ts');
    const exitCode = showDryRun(directory, planned.change, listed(planned), output);
    notes?.(planned, output);
    return exitCode;
  }
  if (!switches.yes) {
    requirePerson(switches);
    for (const line of lines(planned)) output.line(`  ${singleLine(line)}`);
    await requireConsent(question, 'no');
  }
  const plannedChange = await changeProject(directory, planNow);
  for (const line of lines(plannedChange)) output.done(`${prefix}${line}`);
  notes?.(plannedChange, output);
  showDrift(plannedChange.drift, output);
  const finished = {
    directory,
    done: successText,
    undo: undo(directory, plannedChange),
    contents: listed(plannedChange),
  };
  return finishChange(finished, switches, output);
}

function requirePerson(switches: RenameToolSwitches): void {
  if (mayAsk(switches)) return;
  const hint = 'Add --yes to change the project without confirmation.';
  throw new CommandError('MISSING_ANSWERS', 'no terminal to ask for confirmation', hint);
}

/** A change of a project that was made. */
export interface Made {
  readonly directory: string;
  /** What was done: `get_x was added`. */
  readonly done: string;
  /** The command that undoes it. */
  readonly undo: string;
  /** What `--json` prints besides. */
  readonly contents: object;
}

/** Builds and checks a changed project, if `check` is set, and prints the result. @throws as `afterChange` */
export async function finishChange(
  { directory, done: successText, undo, contents }: Made,
  { check }: { readonly check: boolean },
  output: Output,
): Promise<ExitCode> {
  const context = { directory, packageManager: detectPackageManager(directory) };
  const report = check ? await checkChange(context, successText, undo, output) : null;
  const result = { ok: true, directory, ...contents, selfCheck: reportJson(report) };
  if (report === null) return output.result(result);
  showReport(report, output);
  if (hasPassed(report)) return output.result(result);
  return output.failure(result, checkFailed(report, successText, undo));
}

/** Builds a changed project and runs its self-check. @throws as `afterChange`, with the command that undoes the change. */
export async function checkChange(
  context: ProjectContext,
  successText: string,
  undo: string,
  output: Output,
): Promise<CheckReport> {
  const { checkStep } = await import('../create/steps.ts');
  return afterChange(
    successText,
    (hint) => `${hint}. To undo: ${undo}`,
    () => checkStep(context, output),
  );
}

/**
 * Takes a step in a changed project.
 *
 * @param successText what was done: `get_x was added`
 * @param hintAfter what the author can do, given the hint of the error
 * @throws CommandError that says what failed, that the change was made, and what to do.
 */
export async function afterChange<T>(
  successText: string,
  hintAfter: (hint: string) => string,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const { code, message, hint, details } = error;
    throw new CommandError(code, `${successText}, but ${message}`, hintAfter(hint), { details });
  }
}

/** Prints the findings of a report. @throws CommandError `SELF_CHECK_FAILED` if `hasPassed` says no. */
export function requirePassed(
  report: CheckReport | null,
  successText: string,
  undo: string,
  output: Output,
): void {
  if (report === null) return;
  showReport(report, output);
  if (!hasPassed(report)) throw checkFailed(report, successText, undo);
}

function checkFailed(report: CheckReport, successText: string, undo: string): CommandError {
  const verdict = verdictOf(report);
  if (verdict !== 'failed') {
    const hint = `Run: ${marketCommand('check')}. To undo: ${undo}`;
    return new CommandError('SELF_CHECK_FAILED', `${successText}, but the self-check is ${verdict}`, hint);
  }
  const message = `${successText}, but the server fails rules of the marketplace`;
  const hint = `Fix the failed rules above and run: ${marketCommand('check')}. To undo: ${undo}`;
  return new CommandError('SELF_CHECK_FAILED', message, hint);
}

/**
 * Whether no rule failed because of a change: no change of the tools brings about that a recording is missing. As in `report.ok`, an advised
 * rule that a busy machine left unchecked does not count.
 */
export function hasPassed({ ok, rules, summary }: CheckReport): boolean {
  if (ok) return true;
  const failed = rules.filter(({ level, status }) => level === 'must' && status === 'fail');
  const lackRecordings = failed.every(({ problems }) => problems.every(({ fix }) => fix === unrecordedFix));
  return failed.length > 0 && lackRecordings && summary.unanswered === 0 && summary.errors === 0;
}
