import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conclusionOf } from '../../../packages/contract/src/check/summary.ts';
import type { Report } from '../../../packages/contract/src/model.ts';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import type { Environment } from '../../../packages/contract/src/target.ts';
import { createLauncher } from '../../../src/check/launch.ts';
import { ownedBy } from '../../../src/check/start-server.ts';
import { buildProgram, examples, type Program, trusting } from '../../broken/check.ts';
import { signer } from '../../broken/trust.ts';

let program: Program;
beforeAll(async () => {
  program = await buildProgram();
});
afterAll(() => program.remove());

describe('an owned server that dies', () => {
  it('is restarted once; the other rules are judged, and the report names the rule, the message and the place', async () => {
    const { report, starts } = await checked({ DIES_AT: '"no_such_tool"' });
    expect(starts).toBe(2);
    const failed = report.rules.filter(({ status }) => status === 'fail');
    expect(failed.map(({ id }) => id)).toEqual(['endpoint.stays-up']);
    expect(failed[0]?.problems).toEqual([
      {
        path: 'not answered: tools/call',
        request: expect.stringMatching(/^curl .*"name":"no_such_tool"/),
        expected: 'answers from the first request to the last',
        actual: expect.stringMatching(
          /^the server died while (gate|call)\.unknown-tool ran: TypeError: the price feed is gone at main\.mjs:\d+$/,
        ),
        cause: {
          message: 'TypeError: the price feed is gone',
          at: expect.stringMatching(/^main\.mjs:\d+$/),
          stack: [expect.stringMatching(/^at Timeout\._onTimeout main\.mjs:\d+$/)],
        },
        at: expect.stringMatching(/^main\.mjs:\d+$/),
      },
    ]);
    const open = report.rules.filter(({ cause }) => cause === 'unanswered');
    expect(open.map(({ id }) => id)).toContain('call.unknown-tool');
    const notRun = report.rules.filter(
      ({ id, status, cause }) =>
        status === 'not-run' && cause !== 'inapplicable' && !id.startsWith('health.ready-'),
    );
    expect(notRun.filter(({ id }) => !/^(gate|outcome|call|process)\./.test(id))).toEqual([]);
    expect(conclusionOf(report)).toBe('unanswered');
  });

  it('again after its restart keeps the verdicts so far', async () => {
    const { report } = await checked({ DIES_AT: '"tools/list"' });
    const verdict = (id: string) => report.rules.find((rule) => rule.id === id);
    expect(verdict('health.status')?.status).toBe('pass');
    expect(verdict('discovery.initialize')?.status).toBe('pass');
    expect(verdict('tool.name')).toMatchObject({ status: 'not-run', cause: 'unanswered' });
    expect(report.rules.filter(({ status }) => status === 'fail').map(({ id }) => id)).toEqual([
      'endpoint.stays-up',
    ]);
  });
});

async function checked(environment: Record<string, string>): Promise<{ report: Report; starts: number }> {
  const launch = createLauncher(program.entry, { ...trusting, ...environment });
  let starts = 0;
  const counted = (variables: Environment) => {
    starts += 1;
    return launch(variables);
  };
  const owned = ownedBy(await counted({}), counted, dirname(program.entry));
  const { url } = owned.instance();
  try {
    const target = { url, profile: context, examples, signer, owned, timeoutMs: 60_000 };
    return { report: await runContract(target), starts };
  } finally {
    await owned.instance().stop();
  }
}
