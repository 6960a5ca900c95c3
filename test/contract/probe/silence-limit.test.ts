import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { nowMs } from '../../../packages/contract/src/wire/clock.ts';
import { NotSent } from '../../../packages/contract/src/wire/receive.ts';
import { SilenceLimit } from '../../../packages/contract/src/wire/silence-limit.ts';
import { examples, failuresOf } from '../../broken/check.ts';
import type { Breaks } from '../../broken/good-server.ts';
import { serving, signer } from '../../broken/trust.ts';

const call = (tool: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}"}}`;
const answer = (result: JsonObject) => ({ values: [{ jsonrpc: '2.0', id: 1, result }] });

/** A patience with a tool whose calls stayed unanswered for so many milliseconds each. */
function tried(...waits: readonly number[]): SilenceLimit {
  const patience = new SilenceLimit();
  for (const ms of waits) patience.recordTimeout(call('slow'), nowMs() - ms);
  return patience;
}

describe('a request of a kind that stays unanswered', () => {
  it.each([
    ['once, for long', [60_000], false],
    ['twice, for 40 seconds each', [40_000, 40_000], true],
    ['twelve times at once, for ten seconds', Array.from({ length: 12 }, () => 10_000), false],
  ])('%s', (_, waits, isEnded) => {
    const send = () => tried(...waits).admit(call('slow'));
    if (isEnded) expect(send).toThrow(NotSent);
    else expect(send).not.toThrow();
  });

  it('does not end the waiting for other tools, nor after a result of the same tool', () => {
    const patience = tried(40_000, 40_000);
    expect(() => patience.admit(call('other'))).not.toThrow();
    patience.recordAnswer(call('slow'), answer({ isError: true }));
    expect(() => patience.admit(call('slow'))).toThrow('tools/call of slow');
    patience.recordAnswer(call('slow'), answer({ content: [] }));
    expect(() => patience.admit(call('slow'))).not.toThrow();
  });
});

it('a tool whose answers never end gets few calls, and the others are judged', async () => {
  let endless = 0;
  const breaks: Breaks = {
    answer: (good) => async (request) => {
      if (!/"name":"get_price"/.test(request.body ?? '')) return good(request);
      const isRefused = /"error"|isError/.test(JSON.stringify((await good(request)).body));
      if (isRefused) return good(request);
      endless += 1;
      return { status: 200, body: '{"jsonrpc":', stream: true };
    },
  };
  const report = await serving(breaks, (url) =>
    runContract({ url, profile: context, examples, signer, timeoutMs: 60_000 }),
  );
  const silent = ['outcome.in-time', 'submission.calls']; // of the second, only if it had begun before
  expect(failuresOf(report.rules).filter((id) => !silent.includes(id))).toEqual([]);
  const late = report.rules.find(({ id }) => id === 'outcome.in-time');
  expect(late?.problems[0]).toMatchObject({
    actual: '11 bytes of the body came, its end did not within 15000 ms',
    fix: expect.stringContaining('call res.end()'),
  });
  expect(endless).toBeLessThan(30);
  expect(report.rules.find(({ id }) => id === 'call.unknown-tool')?.status).toBe('pass');
});
