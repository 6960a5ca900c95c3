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
 * What a run comes to. `error`: the check itself failed. `unanswered`: a MUST could not be judged because the server did
 * not answer. `failed`: a rule that counts failed.
 */
export type Conclusion = 'ok' | 'failed' | 'unanswered' | 'error';

/** What a report comes to; what keeps rules from being judged comes before what was found. */
export function conclusionOf({ ok, summary }: Pick<Report, 'ok' | 'summary'>): Conclusion {
  if (summary.errors > 0) return 'error';
  if (summary.unanswered > 0) return 'unanswered';
  return ok ? 'ok' : 'failed';
}

/** A verdict withdrawn: the rule could not be judged. */
export function notRun(result: RuleResult, reason: string, cause: NotRunCause): RuleResult {
  return { ...result, status: 'not-run', reason, cause, problems: [] };
}
