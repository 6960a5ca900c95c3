import type { Report, RuleResult } from './model.ts';

/** The count of each verdict. `ms` is the duration of the whole run. */
export function summaryOf(rules: readonly RuleResult[], ms: number): Report['summary'] {
  const count = (holds: (rule: RuleResult) => boolean): number => rules.filter(holds).length;
  return {
    passed: count(({ status }) => status === 'pass'),
    failed: count(({ status, level }) => status === 'fail' && level === 'must'),
    advice: count(({ status, level }) => status === 'fail' && level === 'should'),
    notRun: count(({ status }) => status === 'not-run'),
    ms,
  };
}

/** A verdict withdrawn: the rule could not be judged. */
export function notRun(result: RuleResult, reason: string): RuleResult {
  return { ...result, status: 'not-run', reason, problems: [] };
}
