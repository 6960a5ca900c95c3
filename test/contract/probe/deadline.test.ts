import { expect, it } from 'vitest';
import { liveRules } from '../../../packages/contract/src/catalogue.ts';
import { conclusionOf } from '../../../packages/contract/src/check/summary.ts';
import { LiveRun } from '../../../packages/contract/src/live-run.ts';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { nowMs } from '../../../packages/contract/src/wire/clock.ts';
import type { Breaks } from '../../broken/good-server.ts';
import { serving, signer } from '../../broken/trust.ts';
import { instead, methodOf } from '../../broken/variant.ts';

const forever: Breaks = { call: () => () => new Promise(() => {}) };

it.concurrent.for([1, 60_000])(
  'a deadline of %s ms ends a check that would wait much longer, and blames nobody',
  async (deadlineMs) => {
    const report = serving(forever, (url) =>
      runContract({ url, profile: context, signer, timeoutMs: 240_000, deadlineAt: nowMs() + deadlineMs }),
    );
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

it.concurrent("the timeout of a request is extended beyond the profile's and the check's timeout", async () => {
  const patient = { ...context, limits: { ...context.limits, initializeMs: 1 } };

  const selects = ({ id }: { readonly id: string }) => id === 'health.status';
  const mute = instead(({ path }) => (path === '/health' ? new Promise(() => {}) : undefined));
  const usual = serving(mute, (url) => runContract({ url, profile: patient }, { selects }));
  // Answers only after the usual timeout.
  const slow = instead(async ({ path }) => {
    if (path === '/health') await usual;
    return undefined;
  });
  const extended = serving(slow, (url) =>
    runContract({ url, profile: patient, timeoutMs: 240_000 }, { selects }),
  );
  const reports = await Promise.all([usual, extended]);
  expect(reports.map(({ rules }) => rules[0]?.status)).toEqual(['fail', 'pass']);
});

it.concurrent('a deadline that passes before a hung request is sent again skips the rule', async () => {
  const hanging = instead((request) =>
    methodOf(request) === 'tools/destroy' ? new Promise(() => {}) : undefined,
  );
  const leveledRules = liveRules
    .filter(({ id }) => id === 'protocol.unknown-method')
    .map((rule) => ({ rule, level: rule.level }));
  let isOver = false;
  const { results } = await serving(hanging, async (url) => {
    const target = {
      url,
      profile: context,
      timeoutMs: 10_000,
      get deadlineAt() {
        return isOver ? 0 : Number.POSITIVE_INFINITY;
      },
    };
    const liveRun = new LiveRun(target, undefined);
    try {
      return await liveRun.checkAll(leveledRules, (result) => {
        isOver = true;
        return result;
      });
    } finally {
      await liveRun.close();
    }
  });
  expect(results).toMatchObject([{ status: 'not-run', cause: 'unanswered' }]);
});
