import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { liveRules } from '../../packages/contract/src/catalogue.ts';
import { isObject } from '../../packages/contract/src/json/json.ts';
import type { Report } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { staticRules } from '../../packages/contract/src/static-rules.ts';
import { mapConcurrently } from '../../packages/contract/src/wire/concurrency.ts';
import { Unreachable } from '../../packages/contract/src/wire/require-reachable.ts';
import { examples } from '../broken/check.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import { signer, trust } from '../broken/trust.ts';
import { methodOf } from '../broken/variant.ts';
import { defaultRules } from '../default-rules.ts';
import { type MuteServer, muteServers } from './servers.ts';

/** Timeout of each request. A silent server has less time, because the check waits for many requests one after the other. */
const timeoutMs = { answering: 60_000, silent: 20_000 };
/** The rules that declare that they test whether an answer comes. */
const aboutSilence = new Set(liveRules.filter(({ mustAnswer }) => mustAnswer).map(({ id }) => id));
const isStatic = new Set(staticRules.map(({ id }) => id));
const blamed: string[] = [];
const unproven: string[] = [];

describe(`every rule on ${muteServers.length} servers that are silent, dead, hanging or send garbage`, () => {
  const all = new Map<MuteServer, Awaited<ReturnType<typeof examined>>>();
  // They wait most of the time.
  beforeAll(() =>
    mapConcurrently(muteServers, 12, async (server) => {
      all.set(server, await examined(server));
    }),
  );

  it.each(muteServers)('$name', (server) => {
    const { report, answered = new Map() } = all.get(server) ?? {};
    expect(report === undefined).toBe(server.fails === undefined);
    if (!report) return;
    expect(report.rules.map(({ id }) => id)).toEqual(defaultRules.map(({ id }) => id));
    const having = (status: string) =>
      report.rules.filter((rule) => rule.status === status).map(({ id }) => id);
    const failed = having('fail');
    const falseBlames = failed.filter((id) => !server.fails?.includes(id) && !server.mayFail?.includes(id));
    const falsePasses = having('pass').filter((id) => !isEvident(id, answered, server));
    blamed.push(...falseBlames);
    unproven.push(...falsePasses);
    expect({ falseBlames, falsePasses }).toEqual({ falseBlames: [], falsePasses: [] });
    expect(failed).toEqual(expect.arrayContaining([...(server.fails ?? [])]));
    if (server.isSilent) expect(failed.filter((id) => !aboutSilence.has(id))).toEqual([]);
    expect(report.ok).toBe(false);
    expect(report.rules.filter(({ status, reason }) => status === 'not-run' && !reason)).toEqual([]);
    expect(report.summary.errors).toBe(0);
  });

  afterAll(() => {
    console.log(
      `verdict matrix: ${defaultRules.length} rules x ${muteServers.length} servers, ${unproven.length} passes without evidence, ${blamed.length} false blames`,
    );
  });
});

/** How often the server answered correctly, by kind: `initialize`, `/health`, `refusal of tools/call`. */
type Answered = ReadonlyMap<string, number>;

async function examined(server: MuteServer): Promise<{ report?: Report; answered: Answered }> {
  const answered = new Map<string, number>();
  const note = (what: string) => answered.set(what, (answered.get(what) ?? 0) + 1);
  const steps = createSteps(trust, server);
  const { url, stop } = await serve(
    {
      ...steps,
      async answer(request) {
        const answer = await steps.answer(request);
        const { body } = answer;
        if (request.path === '/health') note(isObject(body) && 'status' in body ? '/health' : 'any /health');
        else if (isObject(body) && ('result' in body || 'error' in body)) note(String(methodOf(request)));
        return answer;
      },
    },
    0,
    server.attach,
  );
  if (server.isGone) await stop();
  const limit = server.isSilent ? timeoutMs.silent : timeoutMs.answering;
  try {
    const report = await runContract({ url, profile: context, examples, signer, timeoutMs: limit });
    return { report, answered };
  } catch (error) {
    if (error instanceof Unreachable) return { answered };
    throw error;
  } finally {
    await stop();
  }
}

/** Whether the server has given an answer of the kind that a rule judges, as far as the rule's group tells. */
function isEvident(id: string, answered: Answered, server: MuteServer): boolean {
  const times = (what: string) => answered.get(what) ?? 0;
  const group = id.slice(0, id.indexOf('.'));
  if (isStatic.has(id) || id === 'discovery.tools') return times('tools/list') > 0;
  if (id === 'endpoint.stays-up') return server.lasts;
  if (id === 'health.status') return times('/health') + times('any /health') > 0;
  const list = /^discovery\.(tools|resources|prompts)-list$/.exec(id)?.[1];
  if (list !== undefined) return times(`${list}/list`) > 0;
  switch (group) {
    case 'endpoint':
      return true; // the rule reads only the URL
    case 'health':
      return times('/health') > 0;
    case 'identity':
      return times('initialize') > 0;
    case 'discovery':
      return times('initialize') > (id === 'discovery.client' ? 1 : 0);
    case 'gate':
    case 'result':
    case 'outcome':
    case 'call':
    case 'submission':
    case 'fit':
      return times('tools/call') > 0;
    case 'modern':
      return times('server/discover') > 0;
    case 'process':
      return false; // no instance was started
    default:
      return times('initialize') > 0 && [...answered.values()].reduce((sum, count) => sum + count, 0) > 1;
  }
}
