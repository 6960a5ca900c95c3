import type { NotRunCause, Report, RuleResult } from './model.ts';

/** The count of each verdict. `ms` is the duration of the whole run. */
export function summaryOf(rules: readonly RuleResult[], ms: number): Report['summary'] {
  const count = (holds: (rule: RuleResult) => boolean): number => rules.filter(holds).length;
  return {
    passed: count(({ status }) => status === 'pass'),
    failed: count(({ status, level }) => status === 'fail' && level === 'must'),
    advice: count(({ status, level }) => status === 'fail' && level === 'should'),
    notRun: count(({ status }) => status === 'not-run'),
    unanswered: count(
      ({ cause, level }) => (cause === 'unanswered' || cause === 'deadline') && level === 'must',
    ),
    errors: count(({ cause }) => cause === 'error'),
    ms,
  };
}

/**
 * The outcome of a run. `error`: the check itself failed. `unanswered`: a MUST could not be judged because the server did
 * not answer. `failed`: a rule that counts failed.
 */
export type Conclusion = 'ok' | 'failed' | 'unanswered' | 'error';

/** The outcome of a report. Rules that could not be judged take precedence over failed ones. */
export function conclusionOf({ ok, summary }: Pick<Report, 'ok' | 'summary'>): Conclusion {
  if (summary.errors > 0) return 'error';
  if (summary.unanswered > 0) return 'unanswered';
  return ok ? 'ok' : 'failed';
}

/** The verdict of a rule that could not be judged. */
export function notRun(result: RuleResult, reason: string, cause: NotRunCause): RuleResult {
  return { ...result, status: 'not-run', reason, cause, problems: [] };
}
