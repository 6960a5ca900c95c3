import { brokenBy } from '../check/change-rules.ts';
import type { CheckedRule, CheckReport, OtherError } from '../check/check-report.ts';
import { conclusionOf } from '../check/summary.ts';
import { hasFailure } from '../check/verdict.ts';
import { counted } from '../command/format-text.ts';
import { type Paint, plainPaint, printable } from '../command/paint.ts';
import type { Problem } from '../model.ts';
import { consent, missing, unexplored } from '../wire/not-run.ts';
import { firstLines } from './lines.ts';

/** How a report is written; the JSON form has no options. */
export interface ReportOptions {
  readonly color: boolean;
  /** Also lists every rule. */
  readonly verbose: boolean;
  /** The command that explains a rule, by its id. */
  readonly explainCommand: (rule: string) => string;
  /** The command line that runs these rules again; absent if there is none. */
  readonly rerunCommand?: ((rules: readonly string[]) => string) | undefined;
}

/** The finding about a target that cannot be reached. No rule of the catalogue has this id, because no rule can run. */
export const unreachable = { id: 'endpoint.reachable', title: 'the server answers' } as const;

/** A problem in one printable line: `get_price · outputSchema.type: expected "object", got "array"`. */
export function problemLine({ tool, path, expected, actual, cause, at }: Problem): string {
  const subject = [tool, path].filter((part) => part !== undefined).join(' · ');
  let line = `expected ${expected}, got ${actual}`;
  if (subject !== '') line = `${subject}: ${line}`;
  if (cause) line += `; the error: ${cause.message}`;
  if (at !== undefined) line += ` (${at})`;
  return printable(line);
}

/** The fixes of the problems of a failed rule. If they have none, the fix of the rule. */
export function fixesOf({ fix, problems }: CheckedRule): readonly string[] {
  const problemFixes = problems.map((problem) => problem.fix).filter((text) => text !== undefined);
  if (problemFixes.length === 0) return [fix];
  return [...new Set(problemFixes.map(printable))];
}

/** The details of a failed rule in printable lines: its first problems, the frames of errors, the fixes, and the command that explains it. */
export function detailLines(
  rule: CheckedRule,
  explainCommand: ReportOptions['explainCommand'],
  limit = Number.POSITIVE_INFINITY,
): readonly string[] {
  return [
    ...firstLines(rule.problems, limit, problemLine),
    ...stackLines(rule.problems),
    ...fixesOf(rule).map((fix) => `fix: ${fix}`),
    `explain: ${explainCommand(rule.id)}`,
  ];
}

/** The reason why a rule was not run, and what the user can do about it. */
export function reasonLine(reason: string): string {
  const remedy = remedies.get(reason);
  return printable(remedy === undefined ? reason : `${reason} (${remedy})`);
}

/** What the user can do to run the skipped rules of a check, in printable lines. */
export function remedyLines({ rules }: Pick<CheckReport, 'rules'>): readonly string[] {
  return [...remedies].flatMap(([reason, remedy]) => {
    const count = rules.filter((rule) => rule.reason === reason).length;
    if (count === 0) return [];
    return [`To run ${count} more: ${remedy}.`];
  });
}

const remedies = new Map<string, string>([
  [missing.signer, 'give --signing-key <pem>, or one token with --token <jwt>'],
  [
    consent,
    "name the tool with --call <tool>; --call '*' allows all without a sign of harm; or give --examples <file>",
  ],
  [unexplored, 'give --explore <n>, the generated calls of each tool, at most two a second'],
  [missing.forgery, 'give the private key with --signing-key'],
  [missing.launch, 'check the directory of a project, neither a URL nor a Worker'],
]);

/** A printable line of a report in addition to the verdicts on rules. */
export interface Remark {
  /** The subject: `drift`, or the id of a rule. */
  readonly about: string;
  readonly text: string;
  /** Whether it makes the check fail. */
  readonly fails: boolean;
}

/** The remarks of a report: skipped rules, breaking changes, stale entries of the baseline, other errors, and footnotes of rules. */
export function remarksOf(report: CheckReport): readonly Remark[] {
  const { ok, complete, demands, drift, baseline, rules, serverErrors = [] } = report;
  const remarks: Remark[] = [];
  if (ok && !complete) {
    const text = [`${verdictOf(report)}.`, ...remedyLines(report)].join(' ');
    remarks.push({ about: 'coverage', text, fails: false });
  }
  const breakingChanges = (drift?.changes ?? []).filter(({ breaks }) => breaks);
  for (const { tool, path, what: change, breaksFor } of breakingChanges) {
    const location = path === undefined ? tool : `${tool} · ${path}`;
    const text = printable(`${location}: ${change}; ${brokenBy(breaksFor)}`);
    remarks.push({ about: 'drift', text, fails: demands.level === 'should' });
  }
  for (const { rule, tool } of baseline?.stale ?? []) {
    const forTool = tool === undefined ? '' : ` for ${tool}`;
    const text = printable(`passes now${forTool}: remove it from the baseline`);
    remarks.push({ about: rule, text, fails: true });
  }
  for (const error of serverErrors)
    remarks.push({ about: 'server', text: otherErrorLine(error), fails: false });
  const ruleRemarks = rules.flatMap((rule) =>
    footnotes(rule).map((text) => ({ about: rule.id, text, fails: false })),
  );
  return [...remarks, ...ruleRemarks];
}

/** An error that the server logged and that belongs to no failed rule, in a printable line. */
export function otherErrorLine({ tool, message, at, times }: OtherError): string {
  const subject =
    tool === undefined ? 'an error outside any call' : `${tool} failed in a call that was expected to fail`;
  const location = at === undefined ? '' : ` at ${at}`;
  const frequency = times > 1 ? `, ${times} times` : '';
  return printable(`${subject}: ${message}${location}${frequency}`);
}

/** Printable lines below a verdict: a note, and the first failure of a rule that was checked again. */
export function footnotes({ again: firstFailure, note, status }: CheckedRule): readonly string[] {
  const lines: string[] = [];
  if (note !== undefined) lines.push(note);
  if (firstFailure !== undefined) {
    const result = status === 'pass' ? 'passed' : 'failed again';
    lines.push(`${result} when it was asked again alone; the first time: ${firstFailure}`);
  }
  return lines.map(printable);
}

/** Reads the file and the line of a location in a project: `src/tools/x.ts:12`. */
export function parseLocation(at: string): { readonly file: string; readonly line?: number } {
  const [, file = at, line] = /^(.*?)(?::(\d+))?$/.exec(at) ?? [];
  return { file, ...(line !== undefined && { line: Number(line) }) };
}

/** The frames of the errors that caused the problems of a rule, each error once. */
export function stackLines(problems: readonly Problem[]): readonly string[] {
  const causes = problems.map(({ cause }) => cause).filter((cause) => cause !== undefined);
  const stacks = causes.map(({ stack }) => stack.map(printable).join('\n'));
  return [...new Set(stacks)].filter((stack) => stack !== '');
}

/**
 * The verdict in words. A report with rules that could not be run does not say that the server passed, and a report without a failure does
 * not say that it failed.
 */
export function verdictOf(report: CheckReport): string {
  if (hasFailure(report)) return 'failed';
  const { complete, rules, summary } = report;
  const conclusion = conclusionOf(report);
  if (conclusion === 'error') return 'not decided: the check itself failed';
  if (conclusion === 'unanswered')
    return `not decided: ${counted(summary.unanswered, 'MUST rule')} not checked`;
  if (complete) return 'passed';
  return `nothing failed, ${summary.notRun} of ${rules.length} rules not run`;
}

/** The counts of a report in words; those that are 0 are left out, except the first two. */
export function countsOf(
  { passed, failed, advice, known, notRun }: CheckReport['summary'],
  paint: Paint = plainPaint,
): string {
  const counts = [`${counted(passed, 'rule')} passed`];
  counts.push(failed > 0 ? paint.red(`${failed} failed`) : '0 failed');
  if (advice > 0) counts.push(paint.yellow(counted(advice, 'warning')));
  if (known > 0) counts.push(`${known} known`);
  if (notRun > 0) counts.push(`${notRun} not run`);
  return counts.join(', ');
}

/** The group of a rule: `gate` of `gate.no-token`. */
export function groupOf(id: string): string {
  return id.slice(0, id.indexOf('.'));
}
