import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import type { Report } from '../../../packages/contract/src/model.ts';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { conclusionOf } from '../../../packages/contract/src/report/summary.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { now } from '../../../packages/contract/src/wire/clock.ts';
import { type Breaks, createSteps, serve } from '../../broken/good-server.ts';
import { signer, trust } from '../../broken/trust.ts';

async function reportOf(
  { onTestFinished }: TestContext,
  breaks: Breaks,
  bounds: { timeoutMs: number; deadlineMs?: number },
): Promise<Report> {
  const server = await serve(createSteps(trust, breaks));
  onTestFinished(() => server.stop());
  const { timeoutMs, deadlineMs } = bounds;
  return runContract({
    url: server.url,
    profile: context,
    signer,
    timeoutMs,
    ...(deadlineMs !== undefined && { deadlineAt: now() + deadlineMs }),
  });
}

const forever: Breaks = { call: () => () => new Promise(() => {}) };

describe('the deadline of a check', () => {
  it.concurrent.for([1, 8_000])(
    'of %s ms ends one that would wait much longer, and blames nobody',
    async (deadlineMs, context) => {
      const report = reportOf(context, forever, { timeoutMs: 100_000, deadlineMs });
      if (deadlineMs === 1) {
        await expect(report).rejects.toThrow('did not answer before the deadline of the check');
        return;
      }
      const { rules, ...rest } = await report;
      const late = rules.filter(({ cause }) => cause === 'deadline').map(({ id }) => id);
      expect(late).toEqual(
        expect.arrayContaining(['result.content', 'outcome.client', 'submission.calls', 'endpoint.stays-up']),
      );
      expect(rules.filter(({ status }) => status === 'fail')).toEqual([]);
      expect(rules.find(({ id }) => id === 'discovery.tools-list')?.status).toBe('pass');
      expect(conclusionOf({ ...rest })).toBe('unanswered');
    },
  );
});

describe('the timeout of a request', () => {
  const patient = { ...context, limits: { ...context.limits, initializeMs: 1 } };

  it.concurrent("is extended beyond the profile's and the check's timeout", async ({ onTestFinished }) => {
    const slow: Breaks = {
      health: (good) => good,
      initialize: (good) => good,
      answer: (good) => async (request) => {
        if (request.path === '/health') await setTimeout(11_000);
        return good(request);
      },
    };
    const server = await serve(createSteps(trust, slow));
    onTestFinished(() => server.stop());
    const run = (timeoutMs?: number) =>
      runContract(
        { url: server.url, profile: patient, ...(timeoutMs !== undefined && { timeoutMs }) },
        { selects: ({ id }) => id === 'health.status' },
      );
    const [short, long] = await Promise.all([run(), run(30_000)]);
    expect([short, long].map(({ rules }) => rules[0]?.status)).toEqual(['fail', 'pass']);
  });
});
