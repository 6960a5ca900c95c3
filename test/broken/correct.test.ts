import { expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { examples, failuresOf } from './check.ts';
import { correctServers } from './correct-servers.ts';
import { signer, trust } from './trust.ts';
import { Clock } from './variant.ts';

/** Reasons that hold for every URL, or for a server with a limit of the rate, without the stateless revision, pages of others, or refusals as results. */
const known =
  /no way to start another instance|not belong to a project|does not speak MCP 2026-07-28|admits no page|no wrong argument was refused|the server limits the rate/;

it.concurrent.each(correctServers)(
  'a correct server that is made otherwise is blamed for nothing: $name',
  async ({ serve, advised, clock = new Clock() }) => {
    const { url, stop } = await serve(trust);
    try {
      const target = { url, profile: context, signer, examples, timeoutMs: 60_000, responseClock: clock.now };
      const report = await runContract({ ...target, wait: async (ms) => clock.advance(ms) });
      const { unanswered, errors } = report.summary;
      expect({ failed: failuresOf(report.rules), unanswered, errors }).toEqual({
        failed: advised,
        unanswered: 0,
        errors: 0,
      });
      const unjudged = report.rules.filter(
        ({ status, reason = '' }) => status === 'not-run' && !known.test(reason),
      );
      expect(unjudged.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([]);
    } finally {
      await stop();
    }
  },
);
