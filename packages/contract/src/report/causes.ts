import type { RuleResult } from '../model.ts';
import { NotRun } from '../wire/not-run.ts';
import { notRun } from './summary.ts';

/**
 * Verdicts without those that another rule explains: a failed rule that got nothing but answers which are the fault of another
 * failed rule is not run, because of that one.
 *
 * @param causeOf the rule whose fault is in what a problem got
 */
export function withCauses(
  rules: readonly RuleResult[],
  causeOf: (actual: string) => string | undefined,
): readonly RuleResult[] {
  const failed = new Set(rules.filter(({ status }) => status === 'fail').map(({ id }) => id));
  return rules.map((rule) => {
    if (rule.status !== 'fail') return rule;
    const causes = new Set(rule.problems.map(({ actual }) => causeOf(actual)));
    const [cause] = causes;
    if (cause === undefined || causes.size > 1 || cause === rule.id || !failed.has(cause)) return rule;
    return notRun(rule, NotRun.explained(cause));
  });
}
