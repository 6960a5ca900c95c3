import { describe, expect, it } from 'vitest';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import { readConfig } from '../../packages/runtime/src/config.ts';
import { serverPlatform } from '../../src/plan/plan-project.ts';
import { shutdownTimes } from '../../src/plan/shutdown-times.ts';
import { targetNames } from '../../src/questions/targets.ts';

describe('the times of the end of a server', () => {
  it.each([
    [generic, { drainMs: 2_500, graceMs: 63_000, limitSeconds: 68 }, [65_000, 70]],
    [context, { drainMs: 2_500, graceMs: 33_000, limitSeconds: 38 }, [35_000, 40]],
  ] as const)('follow the time of a call on $name', ({ limits }, expected, [graceMs, limitSeconds]) => {
    const { kubernetes, ...others } = shutdownTimes(limits.callMs);
    for (const [name, times] of Object.entries(others)) expect(times, name).toEqual(expected);
    expect(kubernetes).toEqual({ drainMs: 5_000, graceMs, limitSeconds });
  });

  it('exist for each target whose host kills the process', () => {
    const withoutLimit = ['vercel', 'workers', 'redis', 'watch'];
    const expected = targetNames.filter((name) => !withoutLimit.includes(name));
    expect(Object.keys(shutdownTimes(60_000)).toSorted()).toEqual(expected.toSorted());
  });

  it.each([20, 900, 3_999, 4_001, 30_000, 59_900, 290_000])(
    'leave two seconds after the default time of a call where the platform waits %i ms',
    (callMs) => {
      for (const [name, { drainMs, graceMs }] of Object.entries(shutdownTimes(callMs))) {
        const env = { DRAIN_MS: String(drainMs), SHUTDOWN_GRACE_MS: String(graceMs), CALL_TIMEOUT_MS: '' };
        const platform = { ...serverPlatform(context), limits: { callMs } };
        const result = readConfig(env, platform);
        const callTimeoutMs = result.ok ? result.config.callTimeoutMs : expect.fail(result.errors.join());
        expect(graceMs - drainMs, name).toBeGreaterThanOrEqual(callTimeoutMs + 2_000);
      }
    },
  );

  it.each(['render', 'fly'] as const)('stay within the 300 seconds of %s', (name) => {
    expect(shutdownTimes(292_500)[name]).toMatchObject({ graceMs: 295_000, limitSeconds: 300 });
    expect(shutdownTimes(292_501)[name]).toMatchObject({ graceMs: 295_000, limitSeconds: 300 });
    expect(shutdownTimes(600_000)[name]).toMatchObject({ graceMs: 295_000, limitSeconds: 300 });
  });

  it('stay within the maximum of SHUTDOWN_GRACE_MS', () => {
    expect(shutdownTimes(602_000).compose).toMatchObject({ graceMs: 600_000, limitSeconds: 605 });
  });
});
