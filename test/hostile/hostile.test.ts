import { describe, expect, it } from 'vitest';
import { type ReporterName, reporters } from '../../src/check/report/index.ts';
import { weigh } from '../../src/check/verdict.ts';
import { createSigner, runContract, Unreachable } from '../../src/contract/index.ts';
import { context } from '../../src/contract/platforms/index.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import type { HostileServer } from './hostile-server.ts';
import { hostileContent } from './servers/content.ts';
import { hostileTransport, strayed } from './servers/transport.ts';

const servers: readonly HostileServer[] = [...hostileTransport, ...hostileContent];

/** Bound of the whole examination of a server: the test fails where it takes longer. */
const boundMs = 60_000;

const audience = 'https://tools.example.com/mcp';
const signer = await createSigner(context.token, audience);
const trust = { publicKey: signer.publicKey, issuer: signer.issuer, audience };

async function examine({ breaks, attach, timeoutMs = 5_000 }: HostileServer) {
  const server = await serve(createSteps(trust, breaks), 0, attach);
  try {
    return await runContract({
      url: server.url,
      profile: context,
      signer,
      timeoutMs,
    });
  } finally {
    await server.stop();
  }
}

/** Control and direction characters but the line breaks of the report itself. */
const unprintable = /[^\P{C}\n]/u;

describe(`${servers.length} hostile servers`, () => {
  it.each(servers)('$name', { timeout: boundMs }, async (server) => {
    if (server.finds.length === 0) {
      await expect(examine(server)).rejects.toThrow(Unreachable);
      return;
    }
    const report = await examine(server);
    const failed = report.rules.filter(({ status }) => status === 'fail').map(({ id }) => id);
    expect(failed).toEqual(expect.arrayContaining([...server.finds]));
    const weighed = weigh(report, { level: 'must', requireAll: false });
    for (const name of Object.keys(reporters) as ReporterName[]) {
      expect(reporters[name](weighed, { color: false, verbose: true })).not.toMatch(unprintable);
    }
  });

  it('send nobody to another host', () => expect(strayed).toBe(0));
});
