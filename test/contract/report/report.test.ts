import { describe, expect, it } from 'vitest';
import { printable } from '../../../packages/contract/src/command/paint.ts';
import type { RuleResult } from '../../../packages/contract/src/model.ts';
import { notRun, summaryOf } from '../../../packages/contract/src/report/summary.ts';
import { NotRun } from '../../../packages/contract/src/wire/not-run.ts';

const rule: RuleResult = {
  id: 'gate.no-token',
  level: 'must',
  title: 'tools/call without a token is refused',
  source: 'C§5.4',
  fix: 'Verify the token.',
  status: 'pass',
  problems: [],
  ms: 3,
};
const failed: RuleResult = {
  ...rule,
  id: 'output.holds-failure',
  status: 'fail',
  problems: [
    { tool: 'get\u001b[31m', path: 'outputSchema', expected: 'null', actual: 'a\nb', fix: 'Add "null".' },
  ],
};
const advised: RuleResult = {
  ...rule,
  id: 'input.sample',
  level: 'should',
  status: 'fail',
  problems: Array.from({ length: 8 }, (_, index) => ({ path: `p${index}`, expected: 'x', actual: 'y' })),
};

describe('summaryOf', () => {
  it('counts each verdict once', () => {
    expect(summaryOf([rule, failed, advised, notRun(rule, NotRun.without('signer'))], 10)).toEqual({
      passed: 1,
      failed: 1,
      advice: 1,
      notRun: 1,
      unanswered: 0,
      withheld: 0,
      errors: 0,
      ms: 10,
    });
  });
});

describe('printable', () => {
  it('makes control sequences of a terminal visible', () => {
    expect(printable('a\u001b]0;title\u0007b\u202ec\nd é 🧠')).toBe(
      'a\\u{1b}]0;title\\u{7}b\\u{202e}c\\u{a}d é 🧠',
    );
  });
});
