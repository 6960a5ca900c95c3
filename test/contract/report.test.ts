import { describe, expect, it } from 'vitest';
import type { RuleResult } from '../../src/contract/model.ts';
import { NotRun } from '../../src/contract/not-run.ts';
import { printable, textReport } from '../../src/contract/report.ts';
import { notRun, summaryOf } from '../../src/contract/summary.ts';
import { reportOf as anyReportOf } from '../check/report.ts';

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

const reportOf = (rules: readonly RuleResult[]) => ({
  ...anyReportOf(rules),
  target: 'http://127.0.0.1:1/mcp',
});

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

describe('textReport', () => {
  it('prints tool, path, expected, actual, fix and source of a failure', () => {
    expect(textReport(reportOf([rule, failed, advised])).join('\n')).toMatchInlineSnapshot(`
      "Contract check of http://127.0.0.1:1/mcp (platform generic)

      ✗ output.holds-failure  tools/call without a token is refused
          get\\u{1b}[31m · outputSchema
          expected  null
          actual    a\\u{a}b
          fix       Add "null".
          source    C§5.4
      ! input.sample  tools/call without a token is refused
          p0
          expected  x
          actual    y
          p1
          expected  x
          actual    y
          p2
          expected  x
          actual    y
          p3
          expected  x
          actual    y
          p4
          expected  x
          actual    y
          … and 3 more
          fix       Verify the token.
          source    C§5.4

      ✗ failed  1 rules passed, 1 failed, 1 advised in 1.2 s"
    `);
  });

  it('lists passed rules on request', () => {
    expect(textReport(reportOf([rule]), { verbose: true })).toContain(
      '✓ gate.no-token  tools/call without a token is refused',
    );
    expect(textReport(reportOf([rule])).join('\n')).not.toContain('gate.no-token');
  });

  it('uses colours only on request', () => {
    expect(textReport(reportOf([failed])).join('')).not.toContain('\u001b');
    expect(textReport(reportOf([rule]), { color: true }).join('')).toContain('\u001b[32m');
  });
});

describe('printable', () => {
  it('makes control sequences of a terminal visible', () => {
    expect(printable('a\u001b]0;title\u0007b\u202ec\nd é 🧠')).toBe(
      'a\\u{1b}]0;title\\u{7}b\\u{202e}c\\u{a}d é 🧠',
    );
  });
});
