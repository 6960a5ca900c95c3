import type { Problem, Report, RuleResult } from '../model.ts';
import type { CheckedRule, CheckReport, Demands, Drift, KnownFailure } from './check-report.ts';
import { isComplete, summarizeRules } from './summary.ts';

/** The contents of a baseline file. */
export interface Baseline {
  readonly file: string;
  readonly known: readonly KnownFailure[];
}

/** The demands of the contract: a failed MUST is a failure, and so is a MUST without an answer. */
export const demandsOfContract: Demands = { level: 'must', requireAll: false };

/** Whether the results of a run meet the demands. `evaluateReport` also considers the baseline and the drift. */
export function meetsDemands(
  rules: readonly CheckedRule[],
  { unanswered }: Pick<Report['summary'], 'unanswered'>,
  demands: Demands,
): boolean {
  return unanswered === 0 && !rules.some((rule) => countsAsFailure(rule, demands));
}

/** Adds to the report of a run whether it meets the demands, with its baseline and drift. */
export function evaluateReport(
  report: Report,
  demands: Demands,
  baseline?: Baseline,
  drift?: Drift,
): CheckReport {
  const knownFailures = baseline?.known ?? [];
  const rules = report.rules.map((rule) =>
    isInBaseline(rule, knownFailures) ? { ...rule, known: true as const } : rule,
  );
  const staleEntries = knownFailures.filter((entry) => isStaleEntry(entry, report.rules));
  const { ms } = report.summary;
  const knownCount = rules.filter((rule) => 'known' in rule).length;
  const summary = {
    ...summarizeRules(
      rules.filter((rule) => !('known' in rule)),
      ms,
      rules.filter((rule) => 'known' in rule),
    ),
    known: knownCount,
  };
  return {
    ...report,
    ok: meetsDemands(rules, summary, demands) && staleEntries.length === 0 && !driftFails(drift, demands),
    complete: isComplete(rules),
    rules,
    ...(drift && { drift }),
    ...(baseline && { baseline: { file: baseline.file, stale: staleEntries } }),
    demands,
    summary,
  };
}

/**
 * Whether a check failed: a rule, an entry of the baseline, or the drift. A check that is not `ok` without such a failure lacks answers, or
 * had an error.
 */
export function hasFailure({ rules, demands, baseline, drift }: CheckReport): boolean {
  const hasFailedRule = rules.some(
    (rule) => (rule.status === 'fail' || demands.requireAll) && countsAsFailure(rule, demands),
  );
  const staleCount = baseline?.stale.length ?? 0;
  return hasFailedRule || staleCount > 0 || driftFails(drift, demands);
}

function driftFails(drift: Drift | undefined, { level }: Demands): boolean {
  return level === 'should' && drift?.changes.some(({ breaks }) => breaks) === true;
}

/** Whether the verdict of a rule makes the check fail. */
export function countsAsFailure(rule: CheckedRule, { level, requireAll }: Demands): boolean {
  const isMust = rule.level === 'must';
  if (rule.status === 'pass') return false;
  if (rule.status === 'fail') return !rule.known && (isMust || level === 'should');
  if (rule.cause === 'inapplicable') return false;
  return requireAll || rule.cause === 'error' || (isMust && rule.cause === 'unanswered');
}

/** A baseline that excuses all failures of a report. */
export function baselineOf(report: Report): readonly KnownFailure[] {
  return report.rules
    .filter(({ status }) => status === 'fail')
    .flatMap((result) => {
      const entries = result.problems.map((problem): KnownFailure => {
        const rule = excusingId(result, problem);
        if (problem.tool === undefined) return { rule };
        return { rule, tool: problem.tool };
      });
      return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
    });
}

/** The id under which a baseline excuses a problem: the id of its case, or the id of its rule. */
function excusingId({ id }: RuleResult, problem: Problem): string {
  return problem.case ?? id;
}

function isInBaseline(result: RuleResult, knownFailures: readonly KnownFailure[]): boolean {
  return (
    result.status === 'fail' &&
    result.problems.every((problem) => knownFailures.some((entry) => excuses(entry, result, problem)))
  );
}

function excuses({ rule, tool }: KnownFailure, result: RuleResult, problem: Problem): boolean {
  return rule === excusingId(result, problem) && (tool === undefined || tool === problem.tool);
}

/** Whether the rule or the case of an entry was run and no longer finds the failure that the entry excuses. */
function isStaleEntry(entry: KnownFailure, results: readonly RuleResult[]): boolean {
  const result = results.find(({ id, cases = [id] }) => cases.includes(entry.rule));
  if (!result || result.status === 'not-run') return false;
  return !result.problems.some((problem) => excuses(entry, result, problem));
}
