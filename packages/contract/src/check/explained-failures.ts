import type { Problem, RuleResult } from '../model.ts';
import { isOtherRefusal } from '../rules/answer-problems.ts';
import { steadyId } from '../rules/answers.ts';
import { NotRun } from '../wire/not-run.ts';
import { skippedRule } from './skipped-rule.ts';

/**
 * Skips the failures that another failed rule explains. Rule A explains the failure of rule B if A failed, and all problems of B quote
 * answers that fail A. It also does if all problems of both are the same 4xx refusal, which differs from C§7.
 *
 * @param ruleExplaining the rule that an answer fails, by the text of a problem
 */
export function skipExplainedFailures(
  rules: readonly RuleResult[],
  ruleExplaining: (quotedAnswer: string) => string | undefined,
): readonly RuleResult[] {
  const failed = rules.filter(({ status }) => status === 'fail');
  const ids = new Set(failed.map(({ id }) => id));
  const byRefusal = new Map<string, string>();
  for (const { id, problems } of failed.toSorted((left, right) => rank(left) - rank(right))) {
    const refusal = sharedValue(problems, refusalIn);
    if (refusal !== undefined && !byRefusal.has(refusal)) byRefusal.set(refusal, id);
  }
  const explained = rules.map((rule) => {
    if (rule.status !== 'fail')
      return ids.has(steadyId) ? withSteadyCause(rule, rules, ruleExplaining) : rule;
    // A rule that compares two answers quotes one of them in `expected`.
    const ownCause = sharedValue(
      rule.problems,
      ({ actual, expected }) => ruleExplaining(actual) ?? ruleExplaining(expected),
    );
    const cause = ownCause ?? byRefusal.get(sharedValue(rule.problems, refusalIn) ?? '');
    if (cause === undefined || cause === rule.id || !ids.has(cause)) return rule;
    return skippedRule(rule, NotRun.explained(cause));
  });
  const byId = new Map(explained.map((rule) => [rule.id, rule]));
  return explained.map((rule) => {
    const problems = rule.problems.map((problem) => withValidFix(problem, byId));
    const because = failedCause(rule, byId);
    if (because === undefined) return { ...rule, problems };
    return { ...rule, problems, because };
  });
}

/** Removes a fix that names a rule which has not failed. */
function withValidFix(problem: Problem, rules: ReadonlyMap<string, RuleResult>): Problem {
  const first = /^Fix (\S+) first: /.exec(problem.fix ?? '')?.[1];
  if (first === undefined || rules.get(first)?.status === 'fail') return problem;
  const { fix: _, ...problemWithoutFix } = problem;
  return problemWithoutFix;
}

/** The failed rule because of which a rule was skipped, directly or through other skipped rules. */
function failedCause(
  { see = [] }: RuleResult,
  rules: ReadonlyMap<string, RuleResult>,
  visited: readonly string[] = [],
): string | undefined {
  const causes = see.filter((id) => !visited.includes(id)).flatMap((id) => rules.get(id) ?? []);
  const failed = causes.find(({ status }) => status === 'fail');
  if (failed) return failed.id;
  return causes.map((rule) => failedCause(rule, rules, [...visited, ...see])).find((id) => id !== undefined);
}

/**
 * Names `answers.steady` as the reason of a skipped rule if the answer that prevented it was intermittent: it is counted as such, or
 * all rules in `see` passed.
 */
function withSteadyCause(
  rule: RuleResult,
  rules: readonly RuleResult[],
  ruleExplaining: (quotedAnswer: string) => string | undefined,
): RuleResult {
  const { see = [], reason = '', cause } = rule;
  if (cause === 'unanswered' && ruleExplaining(reason) === steadyId)
    return skippedRule(rule, NotRun.explained(steadyId));
  const explainingRules = rules.filter(({ id }) => see.includes(id));
  if (explainingRules.length === 0 || explainingRules.some(({ status }) => status !== 'pass')) return rule;
  const reasonWithoutRules = reason.replace(/ \(see [^()]*\)$/, '');
  return { ...rule, reason: `${reasonWithoutRules} (see ${steadyId})`, see: [steadyId] };
}

function rank({ level }: RuleResult): number {
  return level === 'must' ? 0 : 1;
}

/** The value that all problems share; undefined if they differ. */
function sharedValue(
  problems: readonly Problem[],
  of: (problem: Problem) => string | undefined,
): string | undefined {
  const [first, ...otherValues] = new Set(problems.map(of));
  if (otherValues.length === 0) return first;
  return undefined;
}

/** The expected and the actual refusal of a problem, as text; undefined for any other problem. */
function refusalIn(problem: Problem): string | undefined {
  if (isOtherRefusal(problem))
    return `${problem.expected} ${problem.actual.slice(problem.actual.indexOf('HTTP 4'))}`;
  return undefined;
}
