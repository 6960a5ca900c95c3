import { describe, expect, it } from 'vitest';
import { listingChange } from '../../packages/contract/src/check/drift.ts';
import { baselineOf, evaluateReport } from '../../packages/contract/src/check/verdict.ts';
import { failed, lenient, reportOf, ruleResult } from './report.ts';

const must = failed('gate.no-token', [{ expected: 'x', actual: 'y' }]);
const should = failed(
  'input.sample',
  [
    { tool: 'a', expected: 'x', actual: 'y' },
    { tool: 'b', expected: 'x', actual: 'y' },
  ],
  { level: 'should' },
);
const notRun = ruleResult('gate.expired', { status: 'not-run', reason: 'no key' });
const strict = { level: 'should', requireAll: false } as const;

function okOf(rules: Parameters<typeof reportOf>[0], demands: Parameters<typeof evaluateReport>[1]): boolean {
  return evaluateReport(reportOf(rules), demands).ok;
}

describe('a check', () => {
  it('fails on a MUST, and on a SHOULD only on request', () => {
    expect(okOf([ruleResult('tool.name')], strict)).toBe(true);
    expect(okOf([must], lenient)).toBe(false);
    expect(okOf([should], lenient)).toBe(true);
    expect(okOf([should], strict)).toBe(false);
  });

  it('never counts skipped rules as passed', () => {
    const { ok, summary } = evaluateReport(reportOf([notRun]), lenient);
    expect([ok, summary.passed, summary.notRun]).toEqual([true, 0, 1]);
    expect(okOf([notRun], { level: 'must', requireAll: true })).toBe(false);
  });

  it('passes without the rules that do not apply to a server, even if every rule is required', () => {
    const inapplicable = ruleResult('modern.unknown-method', { status: 'not-run', cause: 'inapplicable' });
    expect(okOf([inapplicable], { level: 'must', requireAll: true })).toBe(true);
  });

  it('fails on drift if a SHOULD counts', () => {
    const drift = {
      against: 'x',
      refreshNeeded: true,
      changes: [listingChange('output.member.gone', 'a')],
    };
    expect(evaluateReport(reportOf([]), lenient, undefined, drift).ok).toBe(true);
    expect(evaluateReport(reportOf([]), strict, undefined, drift).ok).toBe(false);
    const harmless = { ...drift, changes: [listingChange('output.member.new', 'a')] };
    expect(evaluateReport(reportOf([]), strict, undefined, harmless).ok).toBe(true);
  });
});

describe('a baseline', () => {
  const weighed = (known: readonly { rule: string; tool?: string }[], rules = [must, should, notRun]) =>
    evaluateReport(reportOf(rules), strict, { file: 'known.json', known });

  it('excuses its failures, of all tools or of one', () => {
    const { ok, summary, rules } = weighed([{ rule: 'gate.no-token' }, { rule: 'input.sample' }]);
    expect([ok, summary.failed, summary.advice, summary.known]).toEqual([true, 0, 0, 2]);
    expect(rules.map(({ status, known }) => [status, known])).toEqual([
      ['fail', true],
      ['fail', true],
      ['not-run', undefined],
    ]);
    const half = weighed([{ rule: 'gate.no-token' }, { rule: 'input.sample', tool: 'a' }]);
    expect([half.ok, half.summary.advice, half.summary.known]).toEqual([false, 1, 1]);
  });

  it('reports an entry that passes now as an error', () => {
    const stale = weighed(
      [{ rule: 'gate.no-token' }, { rule: 'input.sample' }, { rule: 'tool.name' }],
      [must, should, ruleResult('tool.name')],
    );
    expect([stale.ok, stale.baseline?.stale]).toEqual([false, [{ rule: 'tool.name' }]]);
    const gone = { rule: 'input.sample', tool: 'c' };
    expect(weighed([{ rule: 'gate.no-token' }, { rule: 'input.sample' }, gone]).baseline?.stale).toEqual([
      gone,
    ]);
  });

  it('ignores rules that were not run or are not in the report', () => {
    const { baseline } = weighed([{ rule: 'gate.expired' }, { rule: 'gate.garbage' }]);
    expect(baseline?.stale).toEqual([]);
  });

  it('made from a report excuses that report', () => {
    const report = reportOf([must, should, notRun]);
    const again = evaluateReport(report, strict, { file: 'known.json', known: baselineOf(report) });
    expect([again.ok, again.summary.known, again.baseline?.stale]).toEqual([true, 2, []]);
  });
});
