import type { CheckReport } from '../../check/model.ts';
import { CommandError } from '../../model/command-error.ts';
import type { Drift } from '../../project/manifest/listed.ts';
import { marketCommand } from '../../system/command-line.ts';
import { detectPackageManager } from '../../system/detect.ts';
import { SystemError } from '../../system/errors.ts';
import { shortReport, showReport } from '../create/format.ts';
import type { ProjectContext } from '../create/steps.ts';
import { toCommandError } from '../errors.ts';
import type { Output } from '../output.ts';

/** Prints that the marketplace has to read the tools again, if it has to (C§9.3). */
export function showDrift({ refreshNeeded, added, changed, removed }: Drift, output: Output): void {
  if (!refreshNeeded) return;
  const parts = Object.entries({ new: added, changed, gone: removed })
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what} ${nameList(names)}`);
  output.note(`tools/list differs from what the marketplace last read: ${parts.join('; ')}`);
  const record = marketCommand('list', '--mark-listed');
  output.line(`    After the deployment, press "Refresh Skills" there and run: ${record}`);
}

/** Further names are counted. */
const shownNames = 5;

/** Names in a sentence: `a, b`, or the first few and the number of the others. */
export function nameList(names: readonly string[]): string {
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : '';
  return `${names.slice(0, shownNames).join(', ')}${more}`;
}

/**
 * Builds a changed project and runs its self-check.
 *
 * @param done what was done: `get_x was added`
 * @param undo the command that undoes it
 * @throws CommandError that says what failed, that the change was made, and how to undo it.
 */
export async function checkChange(
  context: ProjectContext,
  done: string,
  undo: string,
  output: Output,
): Promise<CheckReport> {
  const { checkStep } = await import('../create/steps.ts');
  try {
    return await checkStep(context, output);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const { code, message, hint, details } = toCommandError(error);
    throw new CommandError(code, `${done}, but ${message}`, `${hint}. To undo: ${undo}`, details);
  }
}

/** Prints the findings of a report. @throws CommandError `SELF_CHECK_FAILED` if a rule failed. */
export function requirePassed(report: CheckReport | null, done: string, undo: string, output: Output): void {
  if (report === null) return;
  showReport(report, output);
  if (report.ok) return;
  const message = `${done}, but the server fails rules of the marketplace`;
  const hint = `Fix the failed rules above and run: ${marketCommand('check')}. To undo: ${undo}`;
  throw new CommandError('SELF_CHECK_FAILED', message, hint);
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

/** Builds and checks a changed project, if `check` is set, and prints the result. @throws as `checkChange` and `requirePassed`. */
export async function finishChange(
  { directory, done, undo, contents }: Made,
  { check }: { readonly check: boolean },
  output: Output,
): Promise<void> {
  const context = { directory, packageManager: detectPackageManager(directory, process.env) };
  const report = check ? await checkChange(context, done, undo, output) : null;
  output.result({ ok: report?.ok ?? true, directory, ...contents, selfCheck: shortReport(report) });
  requirePassed(report, done, undo, output);
}

/** The command that removes the tools that were just added. */
export function removeCommand(names: readonly string[]): string {
  return marketCommand('remove-tool', ...names, '--yes', '--no-check');
}
