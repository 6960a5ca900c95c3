import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mcp } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { checkServer } from '../broken/check.ts';
import { started } from './examine.ts';
import { sdkServers } from './servers.ts';

const place = () => mkdtempSync(join(tmpdir(), 'market-mcp-test-'));

test.each(sdkServers)('$name breaks no MUST of the protocol', async (server) => {
  const { url, stop } = await started(server, place(), await server.start(place()));
  try {
    const report = await runContract({
      url,
      profile: mcp,
      calls: { named: [], decide: async ({ withheld }) => withheld.map(({ tool }) => tool) },
    });
    const failed = report.rules.filter(({ status, level }) => status === 'fail' && level === 'must');
    expect(failed.map(({ id, problems }) => [id, problems])).toEqual([]);
    expect(report.summary).toMatchObject({ unanswered: 0, errors: 0 });
    const judged = report.rules.filter(({ status }) => status !== 'not-run').map(({ id }) => id);
    expect(judged).toEqual(
      expect.arrayContaining(['discovery.client', 'protocol.envelope', 'call.answered']),
    );
    expect(judged.filter((id) => /^(gate|health|submission)\./.test(id))).toEqual([]);
  } finally {
    await stop();
  }
});

test('a server that breaks the protocol fails', async () => {
  expect((await checkServer({ profile: () => mcp })).ok).toBe(true);
  const broken = await checkServer({
    breaks: {
      respond: (good) => async (message) => ({ ...(await good(message)), jsonrpc: '1.0' }),
    },
    profile: () => mcp,
  });
  expect(broken.rules.find(({ id }) => id === 'protocol.envelope')?.status).toBe('fail');
  expect(broken.ok).toBe(false);
});
