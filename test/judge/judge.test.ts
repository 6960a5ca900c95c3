import { describe, expect, it } from 'vitest';
import { brokenGates, brokenTokenReaders } from './broken/access.ts';
import { brokenDescriptions } from './broken/descriptions.ts';
import { brokenDiscoveries } from './broken/discovery.ts';
import { brokenMessages, brokenSessions } from './broken/messages.ts';
import { brokenResults } from './broken/results.ts';
import { correctServers } from './correct.ts';
import { failuresOf, judge, trust } from './judge.ts';
import { serve } from './reference.ts';

const brokenServers = [
  ...brokenDescriptions,
  ...brokenResults,
  ...brokenGates,
  ...brokenSessions,
  ...brokenMessages,
  ...brokenTokenReaders,
  ...brokenDiscoveries,
];

/** What the reference server lacks: the contract does not ask for it. */
const lacking = ['modern.served'];

describe('a correct server is blamed for nothing', () => {
  it.concurrent.each(correctServers)('$name', async ({ serve, advised }) => {
    const report = await judge(serve(trust));
    const { unanswered, errors } = report.summary;
    expect({ failed: failuresOf(report), unanswered, errors }).toEqual({
      failed: advised,
      unanswered: 0,
      errors: 0,
    });
    const unjudged = report.rules.filter(
      ({ status, reason = '' }) => status === 'not-run' && !known.test(reason),
    );
    expect(unjudged.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([]);
  });
});

/** Reasons that hold for every URL, or for a server without the stateless revision. */
const known = /no way to start another instance|not belong to a project|does not speak MCP 2026-07-28/;

describe('a broken server is blamed for its fault, and for nothing else', () => {
  it.concurrent.each(brokenServers)('$source: $name', async ({ change, fails }) => {
    const report = await judge(serve(trust, change));
    const failed = failuresOf(report).filter((id) => !lacking.includes(id));
    const expected = fails.map((rules) => rules.split('|'));
    expect(failed.filter((id) => !expected.flat().includes(id))).toEqual([]);
    expect(expected.filter((rules) => !rules.some((id) => failed.includes(id)))).toEqual([]);
    expect(report.summary.errors).toBe(0);
  });
});
