import { describe, expect, it } from 'vitest';
import { runtimeRules } from '../../packages/contract/src/rules/runtime.ts';
import type { Target } from '../../packages/contract/src/target.ts';
import { compareVersions, securityFixes } from '../../packages/contract/src/versions.ts';
import { version } from '../../src/plan/package-versions.ts';
import { checkServer } from '../broken/check.ts';

const [outdated] = runtimeRules;
const levelAt = (own: string, newest: string) =>
  outdated?.levelOf?.({ runtime: { version: own, newest, differences: [] } } as unknown as Target);

describe('runtime.outdated', () => {
  it('is a MUST if a version in between fixes a security issue', () => {
    const fixed = securityFixes.map((fix) => fix.version);
    for (const version of fixed) expect(levelAt('0.0.9', version)).toBe('must');
    expect(levelAt(fixed.at(-1) ?? '', '9.9.9')).toBe('should');
    expect(levelAt('0.0.1', '0.0.2')).toBe('should');
  });

  it('names the missing fix', async () => {
    const { rules, runtime } = await checkServer({ runtime: { version: '0.0.9' } });
    const result = rules.find(({ id }) => id === 'runtime.outdated');
    expect(runtime).toBe('0.0.9');
    expect(result).toMatchObject({ level: 'must', status: 'fail', problems: [{ actual: '0.0.9' }] });
    expect(result?.problems[0]?.expected).toContain(securityFixes[0]?.what);
  });

  it('ignores fixes that this program does not have', () => {
    const later = securityFixes.filter((fix) => compareVersions(fix.version, version) > 0);
    expect(later).toEqual([]);
  });
});

it.each([
  ['0.3.0', '0.4.0', -1],
  ['0.10.0', '0.9.9', 1],
  ['1.0.0', '1.0.0', 0],
  ['1.0.0-rc.1', '1.0.0', 0],
])('compares %s with %s', (a, b, order) => {
  expect(Math.sign(compareVersions(a, b))).toBe(order);
});
