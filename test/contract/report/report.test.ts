import { expect, it } from 'vitest';
import { skippedRule } from '../../../packages/contract/src/check/skipped-rule.ts';
import { summarizeRules } from '../../../packages/contract/src/check/summary.ts';
import { printable } from '../../../packages/contract/src/command/paint.ts';
import { NotRun } from '../../../packages/contract/src/wire/not-run.ts';
import { failed, ruleResult } from '../../check/report.ts';

it('a summary counts each verdict once', () => {
  const problems = Array.from({ length: 8 }, () => ({ expected: 'x', actual: 'y' }));
  const rules = [
    ruleResult('tool.name'),
    failed('gate.no-token', problems),
    failed('input.sample', problems, { level: 'should' }),
    skippedRule(ruleResult('gate.expired'), NotRun.without('signer')),
  ];
  const counts = { passed: 1, failed: 1, advice: 1, notRun: 1, unanswered: 0, withheld: 0, errors: 0 };
  expect(summarizeRules(rules, 10)).toEqual({ ...counts, ms: 10 });
});

it('control sequences of a terminal become visible', () => {
  expect(printable('a\u001b]0;title\u0007b\u202ec\nd é 🧠')).toBe(
    'a\\u{1b}]0;title\\u{7}b\\u{202e}c\\u{a}d é 🧠',
  );
});
