import { expect, it } from 'vitest';
import type { Report, RuleResult } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { serving, signer } from '../broken/trust.ts';
import { methodOf, type Variant, where, withAnswer } from '../broken/variant.ts';
import type { Request } from '../broken/wire.ts';

/** Every server has this time to answer, also on a busy machine. */
const timeoutMs = 60_000;

function check(variant: Variant, profile: PlatformProfile, ids: readonly string[]): Promise<Report> {
  const calls = { named: ['get_price', 'list_coins'], decide: async () => [] };
  return serving(variant, (url) =>
    runContract(
      { url, profile, signer, calls, timeoutMs, wait: async () => {} },
      { selects: ({ id }) => ids.includes(id) },
    ),
  );
}

function ruleOf({ rules }: Report, id: string): RuleResult | undefined {
  return rules.find((rule) => rule.id === id);
}

/** The client of the SDK sends this header; the check's other requests keep their connections. */
const isOfClient = ({ headers }: Request) =>
  headers.connection === 'close' && headers.accept === 'application/json, text/event-stream';

it('names Connection: close as the cause if only the events for the SDK’s client end without a response', async () => {
  const events = { 'content-type': 'text/event-stream' };
  const endsEarly = withAnswer((answer, request) =>
    isOfClient(request) && methodOf(request) === 'initialize'
      ? { ...answer, headers: { ...answer.headers, ...events }, body: '' }
      : answer,
  );
  const report = await check(endsEarly, context, ['discovery.client']);
  expect(ruleOf(report, 'discovery.client')).toMatchObject({
    status: 'fail',
    problems: [
      {
        path: 'initialize with Connection: close',
        actual: 'a stream of events that ended before it',
        fix: expect.stringContaining('End the stream after the response'),
      },
    ],
  });
});

it('does not blame the tool definitions for a rate limit that the SDK’s client gets', async () => {
  const limits = where(isOfClient, { status: 429, body: { error: 'Too many requests' } });
  const report = await check(limits, context, ['discovery.client']);
  expect(ruleOf(report, 'discovery.client')).toMatchObject({
    status: 'not-run',
    reason: 'the server limits the rate of requests (HTTP 429)',
  });
});
