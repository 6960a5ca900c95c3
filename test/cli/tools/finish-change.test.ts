import { describe, expect, it } from 'vitest';
import { evaluateReport } from '../../../packages/contract/src/check/verdict.ts';
import type { RuleResult } from '../../../packages/contract/src/model.ts';
import { unrecordedFix } from '../../../packages/contract/src/wire/unrecorded.ts';
import { hasPassed, requirePassed } from '../../../src/cli/tools/finish-change.ts';
import { failed, lenient, reportOf, ruleResult } from '../../check/report.ts';
import { outputTo } from '../sinks.ts';

const passes = (...rules: readonly RuleResult[]) => hasPassed(evaluateReport(reportOf(rules), lenient));

const unrecorded = failed('outcome.found', [{ expected: 'data', actual: 'isError', fix: unrecordedFix }]);
const unchecked = { status: 'not-run', reason: 'no answer', cause: 'unanswered' } as const;

describe('a change of the tools of a project', () => {
  it('passes if rules fail only because recordings are missing', () => {
    expect(passes(ruleResult('tool.name'), unrecorded)).toBe(true);
  });

  it('passes although an advised rule got no answer on a busy machine', () => {
    expect(passes(unrecorded, ruleResult('answers.soon', { level: 'should', ...unchecked }))).toBe(true);
  });

  it('does not pass if a MUST got no answer', () => {
    expect(passes(unrecorded, ruleResult('gate.no-token', unchecked))).toBe(false);
  });

  it('does not pass if another rule fails, too', () => {
    expect(passes(unrecorded, failed('tool.name', [{ expected: 'a name', actual: 'none' }]))).toBe(false);
  });

  it('whose check got no answer is not said to fail rules', () => {
    const report = evaluateReport(reportOf([ruleResult('gate.no-token', unchecked)]), lenient);
    const { output } = outputTo();
    expect(() => requirePassed(report, 'get_price was added', 'git stash', output)).toThrow(
      'get_price was added, but the self-check is not decided: 1 MUST rule not checked',
    );
  });
});
