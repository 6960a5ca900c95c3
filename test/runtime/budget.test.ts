import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Budget } from '../../packages/runtime/src/source/budget.ts';
import type { SourceError } from '../../packages/runtime/src/source/source-errors.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const none = new AbortController().signal;
const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'sent',
    ({ code }: SourceError) => code,
  );

/** The maximum number of requests that arrived within any 60 seconds. */
function maxInAMinute(arrivals: readonly number[]): number {
  const sorted = arrivals.toSorted((a, b) => a - b);
  return Math.max(
    ...sorted.map((start) => sorted.filter((at) => at >= start && at <= start + 60_000).length),
  );
}

describe('a budget of requests per minute', () => {
  it.each([
    ['at once', () => [0, 0]],
    ['late at first, at once afterwards', (i: number) => (i === 0 ? [900, 10] : [0, 10])],
    ['late at first, and answered at once', (i: number) => (i < 20 ? [3_000, 0] : [0, 0])],
    ['at any time', (i: number) => [(i * 7_919) % 4_000, (i * 104_729) % 2_000]],
  ] as const)('is kept as the source counts it, if requests arrive %s', async (_, delays) => {
    const budget = new Budget({ concurrency: 8, perMinute: 20, queueMs: 2_000 });
    const arrivals: number[] = [];
    let started = 0;
    const request = async () => {
      const [before = 0, after = 0] = delays(started++);
      await later(before);
      arrivals.push(performance.now());
      await later(after);
    };
    const calls: Promise<string>[] = [];
    for (let elapsed = 0; elapsed < 300_000; elapsed += 500) {
      calls.push(codeOf(budget.run(request, none)));
      await vi.advanceTimersByTimeAsync(500);
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['sent', 'RATE_LIMITED']));
    expect(maxInAMinute(arrivals)).toBeLessThanOrEqual(20);
    // The budget must also be used: five minutes have room for at least four rounds.
    expect(arrivals.length).toBeGreaterThanOrEqual(80);
  });

  it('lets a request wait if its turn comes soon', async () => {
    const budget = new Budget({ concurrency: 1, perMinute: 1, queueMs: 2_000 });
    expect(await codeOf(budget.run(async () => {}, none))).toBe('sent');
    await vi.advanceTimersByTimeAsync(59_500);
    let isSent = false;
    const second = codeOf(
      budget.run(async () => {
        isSent = true;
      }, none),
    );
    await vi.advanceTimersByTimeAsync(1_499);
    expect(isSent).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isSent).toBe(true);
    expect(await second).toBe('sent');
    const third: SourceError = await budget.run(async () => {}, none).catch((error) => error);
    expect(third).toMatchObject({ code: 'RATE_LIMITED', hints: { retryAfterSeconds: 61 } });
  });

  it('gives the place of a caller that disconnects to the next one', async () => {
    const budget = new Budget({ concurrency: 1, perMinute: 1, queueMs: 2_000 });
    await budget.run(async () => {}, none);
    await vi.advanceTimersByTimeAsync(60_000);
    const caller = new AbortController();
    const gone = codeOf(budget.run(async () => {}, caller.signal));
    expect(await codeOf(budget.run(async () => {}, none))).toBe('RATE_LIMITED');
    caller.abort(Object.assign(new Error('gone'), { code: 'CANCELLED' }));
    expect(await gone).toBe('CANCELLED');
    const next = codeOf(budget.run(async () => {}, none));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await next).toBe('sent');
  });
});
