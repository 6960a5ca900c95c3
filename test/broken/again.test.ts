import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { createLauncher } from '../../src/check/launch.ts';
import { buildProgram, checkServer, failuresOf, type Program, trusting } from './check.ts';
import type { Breaks } from './good-server.ts';
import { serving, signer } from './trust.ts';
import { instead, methodOf } from './variant.ts';

const again = ({ rules }: Report) =>
  rules.flatMap(({ id, status, again }) => (again === undefined ? [] : [{ id, status, again }]));

/** Resets the connection instead of answering a message in a session, also on the new connection on which it is sent again. */
function resetting(isMeant: (method: string | undefined, session: string) => boolean): Breaks {
  const resetBodies = new Set<string>();
  return instead((request) => {
    const session = request.headers['mcp-session-id']?.toString();
    const { body = '' } = request;
    if (session === undefined) return undefined;
    if (!resetBodies.has(body) && !isMeant(methodOf(request), session)) return undefined;
    if (body !== '') resetBodies.add(body);
    return { status: 0 };
  });
}

describe('a rule that failed by silence', () => {
  it('is asked again alone, and passes if the silence was that of a busy machine', async () => {
    const uses = new Map<string, number>();
    const others = new Set<string>();
    let isPast = false;
    const breaks = resetting((method, session) => {
      if (method !== 'prompts/list' && method !== 'notifications/initialized') others.add(session);
      if (method !== 'prompts/list' || others.has(session)) return false;
      uses.set(session, (uses.get(session) ?? 0) + 1);
      // The fifth in one session, with nothing else in it: only session.lasting sends so many.
      if (uses.get(session) !== 5 || isPast) return false;
      isPast = true;
      return true;
    });
    const report = await checkServer(breaks);
    expect(failuresOf(report.rules)).toEqual([]);
    expect(again(report)).toEqual([
      { id: 'session.lasting', status: 'pass', again: expect.stringContaining('ECONNRESET') },
    ]);
  });

  it('fails if it is silent again, and its finding says that it was asked', async () => {
    const report = await checkServer(resetting((method) => method === 'ping'));
    expect(failuresOf(report.rules)).toEqual(['protocol.ping']);
    expect(again(report)).toEqual([{ id: 'protocol.ping', status: 'fail', again: expect.any(String) }]);
  });

  it('is asked when the sessions of the check have ended', async () => {
    const open = new Set<string>();
    let atLastPing: number | undefined;
    let pings = 0;
    const report = await checkServer({
      ...resetting((method) => {
        if (method !== 'ping') return false;
        pings += 1;
        atLastPing = open.size;
        return pings === 1;
      }),
      open: (good) => () => {
        const id = good();
        open.add(id);
        return id;
      },
      close: (good) => (id) => {
        open.delete(id);
        good(id);
      },
    });
    expect(failuresOf(report.rules)).toEqual(['answers.steady']); // the ping was also lost on a new connection
    expect(atLastPing).toBe(1);
  });
});

describe('a list of tools that got no answer', () => {
  it('is asked for again with the rule about it', async () => {
    let lists = 0;
    const breaks = resetting((method) => method === 'tools/list' && ++lists === 1);
    const report = await serving(breaks, (url) =>
      runContract({ url, profile: context }, { selects: ({ id }) => id === 'discovery.tools-list' }),
    );
    expect(again(report)).toEqual([
      { id: 'discovery.tools-list', status: 'pass', again: expect.stringContaining('ECONNRESET') },
    ]);
  });
});

describe('answers.steady', () => {
  it('counts what came before, though a further request gets no answer', async () => {
    let lists = 0;
    let starts = 0;
    const breaks = instead((request) => {
      const method = methodOf(request);
      // After the run's own and the two of session.two-at-once, which fails: its next one is that of answers.steady.
      if (method === 'initialize' && ++starts > 4) return { status: 0 };
      return method === 'tools/list' && ++lists % 2 === 1
        ? { status: 500, body: { error: 'Internal error' } }
        : undefined;
    });
    const selected = ['session.two-at-once', 'answers.steady'];
    const report = await serving(breaks, (url) =>
      runContract({ url, profile: context }, { selects: ({ id }) => selected.includes(id) }),
    );
    expect(failuresOf(report.rules)).toEqual(['answers.steady']);
    expect(starts).toBeGreaterThan(4);
  });
});

describe('process.default-port', () => {
  let program: Program;
  beforeAll(async () => {
    program = await buildProgram();
  });
  afterAll(() => program.remove());

  it('is asked again if the server did not start in time', async () => {
    const usual = createLauncher(program.entry, trusting, { startMs: 120_000 });
    const hurried = createLauncher(program.entry, trusting, { startMs: 1 });
    let starts = 0;
    const instance = await usual({});
    const report = await runContract(
      {
        url: instance.url,
        profile: context,
        signer,
        launch: (given) => {
          const isFirst = 'PORT' in given && given.PORT === undefined && ++starts === 1;
          return (isFirst ? hurried : usual)(given);
        },
      },
      { selects: ({ id }) => id === 'process.default-port' },
    );
    await instance.stop();
    expect(report.rules.map(({ id, status }) => ({ id, status }))).toEqual([
      { id: 'process.default-port', status: 'pass' },
    ]);
    expect(again(report)).toHaveLength(1);
    expect(starts).toBe(2);
  });

  it.each(['HANGS_AT', 'DIES_AT'])('passes though the tools do not answer (%s)', async (fault) => {
    const launch = createLauncher(program.entry, { ...trusting, [fault]: '"get_price"' });
    const instance = await launch({});
    const report = await runContract(
      { url: instance.url, profile: context, signer, launch },
      { selects: ({ id }) => id === 'process.default-port' },
    );
    await instance.stop();
    expect(report.rules.map(({ status }) => status)).toEqual(['pass']);
  });
});
