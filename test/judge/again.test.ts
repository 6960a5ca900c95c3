import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { createLauncher } from '../../src/check/launch.ts';
import { buildProgram, type Program, trust as programTrust, signer } from '../broken/check.ts';
import { failuresOf, judge, trust } from './judge.ts';
import { type Message, type Parts, serve } from './reference.ts';

const again = ({ rules }: Report) => rules.filter((rule) => rule.again !== undefined);

/** Resets the connection instead of answering, each time that `isMeant` says so. */
const resetting = (isMeant: (message: Message, session: string | undefined) => boolean) => (parts: Parts) => {
  const { answer, send } = parts;
  parts.answer = async (message, asked, headers) =>
    isMeant(message, parts.sessionOf(asked)) ? { status: 0 } : answer(message, asked, headers);
  parts.send = (response, reply) => {
    if (reply.status === 0) response.socket?.resetAndDestroy();
    else send(response, reply);
  };
};

describe('a rule that failed by silence', () => {
  it('is asked again alone, and passes if the silence was that of a busy machine', async () => {
    const uses = new Map<string | undefined, number>();
    const others = new Set<string | undefined>();
    const first = { isPast: false };
    const report = await judge(
      serve(
        trust,
        resetting(({ method }, session) => {
          if (method !== 'prompts/list' && method !== 'notifications/initialized') others.add(session);
          if (method !== 'prompts/list' || others.has(session)) return false;
          uses.set(session, (uses.get(session) ?? 0) + 1);
          // The fifth in one session, with nothing else in it: only session.lasting sends so many.
          if (uses.get(session) !== 5 || first.isPast) return false;
          first.isPast = true;
          return true;
        }),
      ),
    );
    expect(failuresOf(report)).toEqual(['modern.served']);
    expect(again(report).map(({ id, status }) => ({ id, status }))).toEqual([
      { id: 'session.lasting', status: 'pass' },
    ]);
    expect(again(report)[0]?.again).toContain('ECONNRESET');
  });

  it('fails if it is silent again, and its finding says that it was asked', async () => {
    const report = await judge(
      serve(
        trust,
        resetting(({ method }) => method === 'ping'),
      ),
    );
    expect(failuresOf(report)).toEqual(['modern.served', 'protocol.ping']);
    expect(again(report).map(({ id, status }) => ({ id, status }))).toEqual([
      { id: 'protocol.ping', status: 'fail' },
    ]);
  });

  it('is asked when the sessions of the check have ended', async () => {
    const open = new Set<string>();
    let atSecondPing: number | undefined;
    let pings = 0;
    const report = await judge(
      serve(trust, (parts) => {
        const { sessions } = parts;
        parts.sessions = {
          ...sessions,
          open: () => {
            const id = sessions.open();
            open.add(id);
            return id;
          },
          end: (id) => {
            open.delete(id);
            sessions.end(id);
          },
        };
        resetting(({ method }) => {
          if (method !== 'ping') return false;
          pings += 1;
          if (pings === 2) atSecondPing = open.size;
          return pings === 1;
        })(parts);
      }),
    );
    expect(failuresOf(report)).toEqual(['modern.served']);
    expect(atSecondPing).toBe(1);
  });
});

describe('process.default-port', () => {
  let program: Program;
  beforeAll(async () => {
    program = await buildProgram();
  });
  afterAll(() => program.remove());

  it('is asked again if the server did not start in time', async () => {
    const environment = {
      NODE_ENV: 'test',
      PLATFORM_PUBLIC_KEY: programTrust.publicKey,
      PLATFORM_ISSUER: programTrust.issuer,
      PLATFORM_AUDIENCE: programTrust.audience,
    };
    const usual = createLauncher(program.entry, environment, { startMs: 30_000 });
    const hurried = createLauncher(program.entry, environment, { startMs: 1 });
    let starts = 0;
    const instance = await usual.launch({});
    const report = await runContract(
      {
        url: instance.url,
        profile: context,
        signer,
        launch: (given) => {
          const isFirst = 'PORT' in given && given.PORT === undefined && ++starts === 1;
          return (isFirst ? hurried : usual).launch(given);
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
});
