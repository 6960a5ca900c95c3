import { expect } from 'vitest';
import { evaluateReport } from '../../packages/contract/src/check/verdict.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { type ReporterName, reporters } from '../../packages/contract/src/report/reporters.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { Unreachable } from '../../packages/contract/src/wire/require-reachable.ts';
import { serving, signer } from '../broken/trust.ts';
import type { HostileServer } from './hostile-server.ts';

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
  const options = { color: false, verbose: true, explainCommand: (rule: string) => rule };
  for (const name of Object.keys(reporters) as ReporterName[])
    expect(reporters[name](weighed, options)).not.toMatch(unprintable);
}
