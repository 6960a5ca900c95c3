import type { CheckReport, Demands, Drift } from '../../packages/contract/src/check/check-report.ts';
import { listingChange } from '../../packages/contract/src/check/drift.ts';
import { summarizeRules } from '../../packages/contract/src/check/summary.ts';
import { type Baseline, evaluateReport } from '../../packages/contract/src/check/verdict.ts';
import type { Problem, Report, RuleResult } from '../../packages/contract/src/model.ts';

export const lenient: Demands = { level: 'must', requireAll: false };

/** A verdict on a rule that exists. */
export function ruleResult(id: string, change: Partial<RuleResult> = {}): RuleResult {
  return {
    id,
    level: 'must',
    title: `the title of ${id}`,
    source: 'C§5.4',
    fix: 'Fix it.',
    status: 'pass',
    problems: [],
    ms: 12,
    ...change,
  };
}

export function failed(
  id: string,
  problems: readonly Problem[],
  change: Partial<RuleResult> = {},
): RuleResult {
  return ruleResult(id, { status: 'fail', problems, ...change });
}

export function reportOf(rules: readonly RuleResult[]): Report {
  const summary = summarizeRules(rules, 1234);
  return {
    ok: summary.failed === 0,
    target: 'https://tools.example.com/mcp',
    platform: 'generic',
    version: '1.2.3',
    time: '2026-01-02T03:04:05.000Z',
    hash: '0'.repeat(64),
    era: 'both',
    seed: 1,
    rules,
    summary,
  };
}

/** Text that an untrusted server may send: terminal sequences, markup, workflow commands. */
export const hostile =
  'a\u001b[31m\u009b2J\u202e\r\n::error::x\n<b>&"]]>|`*_@octocat https://evil.example \ud800 %0A';

/** A report with every kind of verdict, and hostile text in every value from the target. */
export function everything(demands: Demands = lenient, baseline?: Baseline): CheckReport {
  const report = reportOf([
    ruleResult('tool.name'),
    failed('gate.no-token', [{ tool: hostile, path: `x.${hostile}`, expected: 'HTTP 401', actual: hostile }]),
    failed(
      'output.typed',
      [
        {
          tool: 'get_price',
          path: 'outputSchema',
          expected: 'a type',
          actual: 'nothing',
          fix: 'Add "type".',
        },
      ],
      { level: 'should' },
    ),
    ruleResult('gate.expired', { status: 'not-run', reason: `no key ${hostile}` }),
  ]);
  const rehearsal = [
    { tool: 'get_price', arguments: { symbol: 'BTC' }, ms: 3.2, status: 'pass', problems: [] },
    {
      tool: hostile,
      arguments: { [hostile]: hostile },
      ms: 30,
      status: 'fail',
      problems: [{ expected: 'JSON', actual: hostile }],
    },
  ] as const;
  const drift: Drift = {
    against: 'listing.json',
    refreshNeeded: true,
    changes: [
      listingChange('output.type.other', hostile, { path: hostile, before: hostile, after: 5 }),
      listingChange('tool.fingerprint', 'get_volume'),
      listingChange('tool.new', 'list_coins'),
    ],
  };
  return evaluateReport({ ...report, rehearsal }, demands, baseline, drift);
}
