import { expect } from 'vitest';
import { evaluateReport } from '../../packages/contract/src/check/verdict.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { type ReporterName, reporters } from '../../packages/contract/src/report/reporters.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { Unreachable } from '../../packages/contract/src/wire/reach.ts';
import { serving, signer } from '../broken/trust.ts';
import type { HostileServer } from './hostile-server.ts';

/** Seconds of processor time that an examination may take, the server included: a busy machine does not change them. */
const bound = 120;

/** Control and direction characters, except the line breaks of the report itself. */
const unprintable = /[^\P{C}\n]/u;

/** Examines a server with every rule. It must fail the rules it breaks, and must not control any report. */
export async function examine({ variant, finds }: HostileServer, timeoutMs: number): Promise<void> {
  const examined = serving(variant, (url) => runContract({ url, profile: context, signer, timeoutMs }));
  if (finds.length === 0) return expect(examined).rejects.toThrow(Unreachable);
  const report = await examined;
  const failed = report.rules.filter(({ status }) => status === 'fail').map(({ id }) => id);
  expect(failed).toEqual(expect.arrayContaining([...finds]));
  const weighed = evaluateReport(report, { level: 'must', requireAll: false });
  const options = { color: false, verbose: true, explain: (rule: string) => rule };
  for (const name of Object.keys(reporters) as ReporterName[])
    expect(reporters[name](weighed, options)).not.toMatch(unprintable);
}

/** Examines a server, alone in this process, within the bound. No request reaches its timeout. */
export async function examineBounded(server: HostileServer): Promise<void> {
  const before = process.cpuUsage();
  await examine(server, 60_000);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(bound);
}
