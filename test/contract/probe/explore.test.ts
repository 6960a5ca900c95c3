import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { type CallVariant, deriveVariants } from '../../../packages/contract/src/wire/generated-calls.ts';
import { Probe } from '../../../packages/contract/src/wire/probe.ts';
import { examples } from '../../broken/check.ts';
import { type Breaks, createSteps, serve } from '../../broken/good-server.ts';
import { signer, trust } from '../../broken/trust.ts';

const schema = {
  type: 'object',
  properties: {
    network: { type: 'string', enum: ['main', 'test', 'dev'] },
    limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
    note: { type: ['string', 'null'], maxLength: 100 },
  },
  required: ['network'],
};
const base = { network: 'main', limit: 5 };

function valuesOf(variants: readonly CallVariant[], name: string): readonly unknown[] {
  return variants.flatMap(({ changes }) =>
    changes.filter((change) => change.name === name).map(({ value }) => value),
  );
}

describe('generated calls', () => {
  it('have at most 200 values of an enum, which are compared in pairs', () => {
    const large = {
      type: 'object',
      properties: { code: { enum: Array.from({ length: 2_000 }, (_, i) => i) } },
    };
    const { variants, total } = deriveVariants(large, {}, { limit: 6, seed: 1 });
    expect([variants.length, total > 200, total < 250]).toEqual([6, true, true]);
  });

  it('have each enum value, bound, default, null, absence, odd texts, and values beyond the bounds', () => {
    const { variants, total } = deriveVariants(schema, base, { limit: 100, seed: 1 });
    expect(variants.length).toBe(total);
    expect(valuesOf(variants, 'network')).toEqual(expect.arrayContaining(['test', 'dev', null]));
    expect(new Set(valuesOf(variants, 'limit'))).toEqual(new Set([1, 50, 10, undefined, 0, 51, null]));
    const notes = valuesOf(variants, 'note');
    expect(notes).toEqual(expect.arrayContaining([null, '', 'x'.repeat(100), 'x'.repeat(1_000)]));
    expect(notes.some((note) => /\p{Script=Arabic}/u.test(String(note)))).toBe(true);
    expect(variants.filter(({ omitsArguments, meta }) => omitsArguments ?? meta).length).toBe(2);
    const refused = variants.filter(({ expectedEnding }) => expectedEnding === 'refusal');
    const lengths = refused.flatMap(({ changes }) => changes.map(({ value }) => String(value).length));
    expect(new Set(lengths)).toEqual(new Set([1, 14, 1_000, 2]));
  });

  it('always have an undeclared argument, no arguments and a text of ten times the maxLength', () => {
    const closed = { ...schema, additionalProperties: false };
    const seeds = [1, 2, 3, 4, 5, 6];
    for (const seed of seeds) {
      const { variants } = deriveVariants(closed, base, { limit: 4, seed });
      expect(valuesOf(variants, 'zq7_undeclared')).toEqual(['x']);
      expect(valuesOf(variants, 'note')).toContain('x'.repeat(1_000));
      expect(variants.filter(({ omitsArguments }) => omitsArguments)).toHaveLength(1);
    }
  });

  it('may not have an undeclared argument only if the schema forbids it', () => {
    const demandOf = (forSchema: JsonObject) =>
      deriveVariants(forSchema, base, { limit: 100, seed: 1 }).variants.find(({ changes }) =>
        changes.some(({ name }) => name === 'zq7_undeclared'),
      )?.expectedEnding;
    expect([schema, { ...schema, additionalProperties: false }].map(demandOf)).toEqual(['answer', 'refusal']);
  });

  it('are the same for the same seed, and as many as were asked for', () => {
    const calls = (seed: number) => deriveVariants(schema, base, { limit: 6, seed }).variants;
    expect(calls(7)).toEqual(calls(7));
    expect(calls(7)).toHaveLength(6);
    expect(new Set([1, 2, 3, 4].map((seed) => JSON.stringify(calls(seed)))).size).toBeGreaterThan(1);
  });
});

/** Runs the rules about generated calls, and returns the calls that the server ran. */
async function explore(
  breaks: Breaks,
  target: { readonly explore?: number; readonly live?: boolean; readonly timeoutMs?: number },
) {
  const executed: string[] = [];
  const server = await serve(
    createSteps(trust, {
      ...breaks,
      call: (good) => async (params) => {
        executed.push(`${params.name} ${JSON.stringify(params.arguments)}`);
        return (breaks.call?.(good, createSteps(trust)) ?? good)(params);
      },
    }),
  );
  const all = { url: server.url, profile: context, examples, signer };
  const before = await runContract(all, { selects: ({ id }) => id === 'outcome.found' });
  const ordinary = executed.splice(0);
  const report = await runContract({ ...all, ...target }, { selects: ({ id }) => id.startsWith('explore.') });
  expect(before.ok).toBe(true);
  return { report, server, calls: executed, ordinary };
}

function countOf(calls: readonly string[], tool: string): number {
  return calls.filter((call) => call.startsWith(tool)).length;
}

/** Each tool gets a call with a made-up text. */
const madeUp = 1;

describe('the rules about generated calls', () => {
  it.each([
    [{ explore: 5 }, 5 + 32 + madeUp],
    [{ explore: 1, mayCallLiveApis: true }, 1 + 4 + madeUp],
  ])('call each tool no more often than they say: %j', async (target, most) => {
    const { report, server, calls, ordinary } = await explore({}, target);
    await server.stop();
    expect(report.rules.filter(({ status }) => status !== 'pass')).toEqual([]);
    for (const tool of ['get_price', 'list_coins']) {
      const further = countOf(calls, tool) - countOf(ordinary, tool);
      expect(further).toBeGreaterThan(2);
      expect(further).toBeLessThanOrEqual(most);
    }
  });

  it('generate no calls if none were asked for', async () => {
    const { report, server } = await explore({}, { explore: 0 });
    await server.stop();
    expect(new Set(report.rules.map(({ cause }) => cause))).toEqual(new Set(['withheld']));
  });

  it.concurrent.each([
    [1, 'pass'],
    [100, 'fail'],
  ])('ask again for an answer that was late %i times: %s', async (times, status) => {
    let late = 0;
    const { report, server } = await explore(
      {
        call: (good) => async (params) => {
          if (JSON.stringify(params).includes('zq7_undeclared') && late++ < times)
            return new Promise(() => {});
          return good(params);
        },
      },
      { timeoutMs: times === 1 ? 10_000 : 5_000 },
    );
    await server.stop();
    expect(report.rules.find(({ id }) => id === 'explore.answered')?.status).toBe(status);
  });

  it.concurrent('say that only the end of an answer is missing, and how to end it', async () => {
    const { report, server } = await explore(
      {
        answer: (good) => async (request) =>
          request.body?.includes('zq7_undeclared')
            ? { status: 200, body: '{"jsonrpc":', stream: true }
            : good(request),
      },
      { timeoutMs: 5_000 },
    );
    await server.stop();
    expect(report.rules.find(({ id }) => id === 'explore.answered')?.problems[0]).toMatchObject({
      actual: expect.stringMatching(/^11 bytes of the body came, its end did not within 5000 ms/),
      fix: expect.stringContaining('call res.end()'),
    });
  });

  it('report the smallest call that fails, with lines that send it again', async () => {
    const { report, server } = await explore(
      {
        call: (good) => async (params) => {
          const failing = JSON.stringify(params).length > 1_000;
          if (failing) throw new Error('too long');
          return good(params);
        },
        answer: (good) => (request) =>
          good(request).catch(() => ({ status: 500, body: 'Internal Server Error' })),
      },
      { explore: 30 },
    );
    const problem = report.rules.find(({ id }) => id === 'explore.answered')?.problems[0];
    expect(problem?.arguments).toEqual({ symbol: 'x'.repeat(2_000) });
    const { request: curl = '', repeat: [call = ''] = [] } = problem ?? {};
    expect(call).toContain("npx market-mcp call get_price '");
    expect(curl.length).toBeLessThan(500);
    const probe = new Probe({ url: server.url, profile: context, signer });
    const env = { ...process.env, SESSION: await probe.session(), TOKEN: await probe.token() };
    const { stdout } = await promisify(execFile)('sh', ['-c', curl], { env });
    await probe.close();
    await server.stop();
    expect(stdout).toBe('Internal Server Error');
  });
});
