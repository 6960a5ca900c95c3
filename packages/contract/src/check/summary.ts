import { createHash } from 'node:crypto';
import { type ExitCode, exitCodes } from '../command/command-error.ts';
import type { Report, RuleResult } from '../model.ts';
import { version } from '../version.ts';

/**
 * The count of each verdict. `unanswered` counts each MUST that was not checked for lack of an answer, of time, or without an explanation.
 *
 * @param ms the duration of the whole run.
 * @param knownFailures further rules that failed and are not counted.
 */
export function summarizeRules(
  rules: readonly RuleResult[],
  ms: number,
  knownFailures: readonly RuleResult[] = [],
): Report['summary'] {
  const statuses = new Map([...rules, ...knownFailures].map(({ id, status }) => [id, status]));
  const count = (holds: (rule: RuleResult) => boolean): number => rules.filter(holds).length;
  const isUnanswered = ({ cause, see = [] }: RuleResult): boolean =>
    cause === 'unanswered' || cause === 'deadline' || haveAllPassed(see, statuses);
  return {
    passed: count(({ status }) => status === 'pass'),
    failed: count(({ status, level }) => status === 'fail' && level === 'must'),
    advice: count(({ status, level }) => status === 'fail' && level === 'should'),
    notRun: count(({ status }) => status === 'not-run'),
    unanswered: count((rule) => rule.level === 'must' && isUnanswered(rule)),
    withheld: count(({ cause }) => cause === 'withheld'),
    errors: count(({ cause }) => cause === 'error'),
    ms,
  };
}

/** Whether all rules passed that could explain a skipped rule, so that none explains it. Rules that were not selected do not count. */
function haveAllPassed(
  ruleIds: readonly string[],
  statuses: ReadonlyMap<string, RuleResult['status']>,
): boolean {
  const reportedStatuses = ruleIds.flatMap((id) => statuses.get(id) ?? []);
  return reportedStatuses.length > 0 && reportedStatuses.every((status) => status === 'pass');
}

/** The members that tell two reports apart: version, time and hash of the verdicts. */
export function reportIdentity(rules: readonly RuleResult[]) {
  const verdicts = rules.map(({ id, status }) => `${id} ${status}\n`).toSorted();
  const hash = createHash('sha256').update(verdicts.join('')).digest('hex');
  return { version, time: new Date().toISOString(), hash };
}

/** Whether every rule was run, except those that are about something that the server or its examples do not have. */
export function isComplete(rules: readonly RuleResult[]): boolean {
  return rules.every(({ cause }) => cause === undefined || cause === 'inapplicable' || cause === 'example');
}

/**
 * The outcome of a run. `error`: the check itself failed. `unanswered`: `summary.unanswered` is not 0. `failed`: a rule that counts failed.
 */
export type Conclusion = 'ok' | 'failed' | 'unanswered' | 'error';

/** The outcome of a report. Rules that could not be checked take precedence over failed ones. */
export function conclusionOf({ ok, summary }: Pick<Report, 'ok' | 'summary'>): Conclusion {
  if (summary.errors > 0) return 'error';
  if (summary.unanswered > 0) return 'unanswered';
  return ok ? 'ok' : 'failed';
}

const exitCodesByConclusion: { readonly [conclusion in Conclusion]: ExitCode } = {
  ok: exitCodes.ok,
  failed: exitCodes.checkFailed,
  unanswered: exitCodes.notStarted,
  error: exitCodes.internal,
};

/** The exit code with which the check of a report ends. */
export function exitCodeOf(report: Pick<Report, 'ok' | 'summary'>): ExitCode {
  return exitCodesByConclusion[conclusionOf(report)];
}
