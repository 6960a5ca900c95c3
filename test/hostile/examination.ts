import { expect } from 'vitest';
import { evaluateReport } from '../../packages/contract/src/check/verdict.ts';
import type { Report } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { type ReporterName, reporters } from '../../packages/contract/src/report/reporters.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { Unreachable } from '../../packages/contract/src/wire/reach.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import type { HostileServer } from './hostile-server.ts';

/** Seconds of processor time that an examination may take, the server included: a busy machine does not change them. */
const bound = 30;

/** Examines a server, alone in this process, within the bound. */
export async function examineBounded(server: HostileServer): Promise<void> {
  const before = process.cpuUsage();
  await examine(server);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(bound);
}

const audience = 'https://tools.example.com/mcp';
const signer = await createSigner(context.token, audience);
const trust = { publicKey: signer.publicKey, issuer: signer.issuer, audience };

/** Control and direction characters, except the line breaks of the report itself. */
const unprintable = /[^\P{C}\n]/u;

/** Examines a server with every rule. It must fail the rules it breaks, and must not control any report. */
export async function examine(server: HostileServer): Promise<void> {
  if (server.finds.length === 0) {
    await expect(reportOn(server)).rejects.toThrow(Unreachable);
    return;
  }
  const report = await reportOn(server);
  const failed = report.rules.filter(({ status }) => status === 'fail').map(({ id }) => id);
  expect(failed).toEqual(expect.arrayContaining([...server.finds]));
  const weighed = evaluateReport(report, { level: 'must', requireAll: false });
  for (const name of Object.keys(reporters) as ReporterName[]) {
    expect(reporters[name](weighed, { color: false, verbose: true, explain: (rule) => rule })).not.toMatch(
      unprintable,
    );
  }
}

async function reportOn({ breaks, attach, timeoutMs = 5_000 }: HostileServer): Promise<Report> {
  const { url, stop } = await serve(createSteps(trust, breaks), 0, attach);
  try {
    return await runContract({ url, profile: context, signer, timeoutMs });
  } finally {
    await stop();
  }
}
