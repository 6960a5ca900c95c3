import { describe, expect, it } from 'vitest';
import { selector } from '../../packages/contract/src/check/select.ts';
import { baselineOf, evaluateReport } from '../../packages/contract/src/check/verdict.ts';
import type { Report } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { mergeLive } from '../../packages/contract/src/rules/cases.ts';
import { must } from '../../packages/contract/src/rules/rule.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { invented } from '../../packages/contract/src/wire/curl-line.ts';
import { missing, NotRun } from '../../packages/contract/src/wire/not-run.ts';
import { Probe } from '../../packages/contract/src/wire/probe.ts';
import { failuresOf } from '../broken/check.ts';
import { serving, signer } from '../broken/trust.ts';
import { instead, type Variant } from '../broken/variant.ts';
import { lenient } from '../check/report.ts';

/** Answers a request with this kind of session id by 500. */
const failing = (isMeant: (session: string) => boolean): Variant =>
  instead(({ method, headers }) => {
    const session = String(headers['mcp-session-id'] ?? '');
    return method === 'POST' && isMeant(session) ? { status: 500 } : undefined;
  });
const failsOnLong = failing((session) => session.length > 1_000);
const failsOnBoth = failing((session) => session.length > 1_000 || session === invented.unknown);

interface Checked {
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly overrides?: PlatformProfile['rules']['overrides'];
  readonly hasKey?: boolean;
}

function check(
  variant: Variant,
  { only = [], skip = [], overrides = {}, hasKey = true }: Checked,
): Promise<Report> {
  const selected = selector({ only, skip });
  if (!selected.ok) throw new Error(JSON.stringify(selected.errors));
  const profile = { ...context, rules: { ...context.rules, overrides } };
  return serving(variant, (url) =>
    runContract({ url, profile, ...(hasKey && { signer }) }, { selects: selected.value }),
  );
}

const rule = 'session.unknown-post';
const cases = [rule, 'session.tampered', 'session.long'];

describe('a merged rule', () => {
  it('names the case of each problem, and the cases that were run', async () => {
    const [result] = (await check(failsOnBoth, { only: [rule] })).rules;
    expect(result?.problems.map((problem) => problem.case)).toEqual([rule, 'session.long']);
    expect(result?.cases).toEqual(cases);
  });

  it('runs only the cases that --only names', async () => {
    const { rules } = await check(failsOnBoth, { only: ['session.long'] });
    expect(rules.map(({ id, cases }) => ({ id, cases }))).toEqual([{ id: rule, cases: ['session.long'] }]);
    expect(failuresOf(rules)).toEqual(['session.long']);
  });

  it('does not run the cases that --skip names', async () => {
    const { rules } = await check(failsOnBoth, { only: [rule], skip: ['session.long'] });
    expect(failuresOf(rules)).toEqual([rule]);
  });

  it('is skipped as a whole by its id', async () => {
    const { rules } = await check({}, { only: ['session'], skip: [rule] });
    expect(rules.map(({ id }) => id)).not.toContain(rule);
    expect(rules.map(({ id }) => id)).toContain('session.unknown-get');
  });

  it('has the level of its failed cases, which a profile may override by their ids', async () => {
    const overrides = { 'session.long': 'should' } as const;
    const levelOf = async (variant: Variant) =>
      (await check(variant, { only: [rule], overrides })).rules[0]?.level;
    expect(await levelOf(failsOnLong)).toBe('should');
    expect(await levelOf(failsOnBoth)).toBe('must');
    const [result] = (await check(failsOnLong, { only: [rule], overrides: { 'session.long': 'off' } })).rules;
    expect([result?.status, result?.cases]).toEqual(['pass', [rule, 'session.tampered']]);
  });

  it('does not pass if a case was not run for lack of a key', async () => {
    const [result] = (await check({}, { only: ['gate.wrong-issuer'], hasKey: false })).rules;
    expect([result?.status, result?.cause]).toEqual(['not-run', 'missing']);
  });

  it('does not pass if one case lacks a key, but if one does not apply', async () => {
    const passing = { ...must('a.general', 'C§1'), title: 'x', fix: 'y', check: async () => [] };
    const keyless = {
      ...passing,
      id: 'a.keyless',
      check: async () => {
        throw NotRun.without('forgery');
      },
    };
    const idle = {
      ...passing,
      id: 'a.idle',
      check: async () => {
        throw NotRun.because('inapplicable', 'nothing to test');
      },
    };
    const unrunCases: string[] = [];
    const onUnrunCase = (id: string) => unrunCases.push(id);
    const probe = new Probe({ url: 'http://127.0.0.1:9/mcp', profile: context });
    const title = 'a merged rule';
    const merged = mergeLive({ title }, [passing, idle, keyless]);
    await expect(merged.check(probe, undefined, onUnrunCase)).rejects.toThrow(missing.forgery);
    expect(unrunCases).toEqual(['a.idle', 'a.keyless']);
    await expect(mergeLive({ title }, [passing, idle]).check(probe)).resolves.toEqual([]);
    await probe.close();
  });
});

describe('a baseline', () => {
  const evaluated = (report: Report, known: readonly { rule: string }[]) =>
    evaluateReport(report, lenient, { file: 'known.json', known });

  it('with the id of a case excuses only this case', async () => {
    const report = await check(failsOnBoth, { only: [rule] });
    expect(evaluated(report, [{ rule: 'session.long' }]).ok).toBe(false);
    expect(evaluated(report, [{ rule }]).ok).toBe(false);
    expect(evaluated(report, [{ rule: 'session.long' }, { rule }]).ok).toBe(true);
    expect(baselineOf(report)).toEqual([{ rule }, { rule: 'session.long' }]);
  });

  it('reports the id of a case that passes now, unless the case was not run', async () => {
    const known = [{ rule }, { rule: 'session.long' }];
    const passing = await check(failsOnLong, { only: [rule] });
    expect(evaluated(passing, known).baseline?.stale).toEqual([{ rule }]);
    const skipped = await check(failsOnLong, { only: [rule], skip: [rule.replace('unknown-post', 'long')] });
    expect(evaluated(skipped, [{ rule: 'session.long' }]).baseline?.stale).toEqual([]);
  });
});
