import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conclusionOf } from '../../../packages/contract/src/check/summary.ts';
import { evaluateReport } from '../../../packages/contract/src/check/verdict.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import type { Era, Report } from '../../../packages/contract/src/model.ts';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { type Prevention, preventions } from '../../../packages/contract/src/wire/not-run.ts';
import { buildProgram, checkServer, type Program } from '../../broken/check.ts';
import { type Breaks, resultOf } from '../../broken/good-server.ts';
import { failsOnPageTwo, lateHealth, withoutTools } from '../../broken/servers/discovery.ts';
import { brokenPrograms } from '../../broken/servers/process.ts';
import { serving, signer } from '../../broken/trust.ts';
import { instead, methodOf, type Variant, where, withAnswer } from '../../broken/variant.ts';
import type { Request } from '../../broken/wire.ts';
import { lenient, reportOf } from '../../check/report.ts';

const isModern = ({ body = '' }: Request) => body.includes('io.modelcontextprotocol/');
const isRealCall = (request: Request) =>
  methodOf(request) === 'tools/call' && /"(get_price|list_coins)"/.test(request.body ?? '');

function answersRealCalls(
  change: (request: Request) => { status: number; body: unknown } | undefined,
): Breaks {
  return {
    answer: (good, steps) => async (request) =>
      isRealCall(request) && (await steps.authorized(request.headers.authorization))
        ? (change(request) ?? good(request))
        : good(request),
  };
}

const idOf = ({ body = '' }: Request) => JSON.parse(body).id;

/** For each answer that prevents rules, a server that gives it. */
const servers: { readonly [what in Prevention]: Variant } = {
  initialize: where((request) => methodOf(request) === 'initialize', { status: 404 }),
  initializeAgain: firstOnly(() => ({ status: 500, body: { error: 'Already connected' } })),
  session: withAnswer((answer, request) =>
    methodOf(request) === 'initialize' ? { ...answer, headers: {} } : answer,
  ),
  sessionAgain: firstOnly((answer) => ({ ...answer, headers: {} })),
  disturbed: {
    // The id of two requests in two sessions: the second one gets no answer.
    respond: (good) => async (message) =>
      message.id === 424_242 && message.method !== 'tools/list' ? new Promise(() => {}) : good(message),
  },
  ping: where(
    (request) => !isModern(request) && /^(ping|(prompts|resources).list)$/.test(methodOf(request) ?? ''),
    {
      status: 202,
    },
  ),
  identity: { health: () => () => ({ status: 200, body: 'ok' }) },
  health: { health: () => () => ({ status: 200, body: {} }) },
  slowHealth: lateHealth,
  list: failsOnPageTwo,
  noTools: withoutTools,
  large: { list: (good) => () => [...good(), { name: 'deep', inputSchema: nested(120) }] },
  clientList: { list: (good) => () => good().map((tool) => ({ ...tool, annotations: 5 })) },
  noTool: { list: () => () => [] },
  ungated: { authorized: () => async () => true },
  unrefused: withAnswer((answer) => (answer.status === 401 ? { status: 200, body: 'ok' } : answer)),
  refused: { authorized: () => async () => false },
  noPaidResponse: answersRealCalls(() => ({ status: 200, body: 'ok' })),
  noResponse: answersRealCalls(() => ({ status: 503, body: 'busy' })),
  noResult: answersRealCalls((request) => ({
    status: 200,
    body: { jsonrpc: '2.0', id: idOf(request), error: { code: -32603, message: 'Internal error' } },
  })),
  noSuccess: {
    result: () => () => ({ ...resultOf({ error: 'DOWN', message: 'Nothing works.' }), isError: true }),
  },
  unreadableResult: { result: () => () => ({ content: [{ type: 'text', text: 'The price is 64000.' }] }) },
  noRehearsal: answersRealCalls((request) =>
    /"purpose":"smoke-test"/.test(claimsOf(request)) ? { status: 500, body: 'no' } : undefined,
  ),
  noOutputSchema: { list: (good) => () => good().map(({ outputSchema: _, ...tool }) => tool) },
  modernCall: answersRealCalls((request) => (isModern(request) ? { status: 500, body: 'no' } : undefined)),
  modernList: where((request) => isModern(request) && methodOf(request) === 'tools/list', {
    status: 404,
    body: 'no',
  }),
  modernUngated: instead(async (request, steps) =>
    isModern(request) && methodOf(request) === 'tools/call' && !request.headers.authorization
      ? {
          status: 200,
          body: {
            jsonrpc: '2.0',
            id: idOf(request),
            result: await steps.call(JSON.parse(request.body ?? '').params),
          },
        }
      : undefined,
  ),
  instance: brokenPrograms['process.port'] as Variant,
  production: { environment: { AUTH: 'off' } },
};

/** A server that answers the first initialize well, and changes the answers to the others. */
function firstOnly(change: Parameters<typeof withAnswer>[0]): Breaks {
  let count = 0;
  return withAnswer((answer, request) => {
    if (methodOf(request) !== 'initialize' || isModern(request)) return answer;
    count += 1;
    return count === 1 ? answer : change(answer, request);
  });
}

function nested(levels: number): JsonObject {
  return levels === 0 ? { type: 'object' } : { type: 'object', properties: { a: nested(levels - 1) } };
}

function claimsOf({ headers }: Request): string {
  return Buffer.from(headers.authorization?.split('.')[1] ?? '', 'base64url').toString();
}

describe('a rule that an answer of the server prevents', () => {
  let program: Program;
  beforeAll(async () => {
    program = await buildProgram();
  });
  afterAll(() => program.remove());

  it.concurrent.each(Object.keys(servers) as Prevention[])(
    'has a failed rule that explains it: %s',
    async (what) => {
      const server = servers[what];
      const programRules = { instance: 'process.port', production: 'none' } as const;
      const report = await (what === 'instance' || what === 'production'
        ? program.check(server, programRules[what])
        : checkServer(server));
      const [reason, see] = preventions[what];
      const prevented = report.rules.filter((rule) => rule.reason?.startsWith(`${reason} (see `));
      expect(prevented.map(({ id }) => id)).not.toEqual([]);
      expect(prevented.every((rule) => rule.cause === 'missing' && rule.see === see)).toBe(true);
      const failed = report.rules.filter(({ status }) => status === 'fail').map(({ id }) => id);
      expect(see.some((id) => failed.includes(id))).toBe(true);
      const isAdvice = what === 'slowHealth';
      const conclusion = conclusionOf(evaluateReport(report, lenient));
      expect([what, conclusion]).toEqual([what, isAdvice ? 'ok' : 'failed']);
    },
  );
});

const check = (breaks: Breaks, era: Era): Promise<Report> =>
  serving(breaks, (url) => runContract({ url, profile: context, signer, era }));

it('a tools/list whose second page fails is no reason to leave out the rules that need no tool', async () => {
  const unpaid = { ...failsOnPageTwo, authorized: () => async () => true };
  const statuses = async (breaks: Breaks) =>
    new Map((await check(breaks, 'both')).rules.map(({ id, status }) => [id, status]));
  const [gated, open] = [await statuses(failsOnPageTwo), await statuses(unpaid)];
  const of = (prefix: string) =>
    [...gated].filter(([id]) => id.startsWith(prefix) && !/^health\.ready-|^gate\.every-tool/.test(id));
  for (const prefix of ['gate.', 'session.', 'health.', 'http.', 'protocol.', 'call.unknown-']) {
    expect(of(prefix).filter(([, status]) => status !== 'pass')).toEqual([]);
  }
  expect([open.get('gate.no-token'), open.get('modern.no-token')]).toEqual(['fail', 'not-run']);
  expect(gated.get('result.fits')).toBe('not-run');
});

it('fails a server that does not speak the era that was asked for', async () => {
  const report = await check(where(isModern, { status: 400, body: 'no' }), 'modern');
  expect(report.rules.find(({ id }) => id === 'modern.served')).toMatchObject({
    level: 'must',
    status: 'fail',
  });
});

it('has no verdict if a rule fails to run and no failed rule explains it', () => {
  const rule = { level: 'must', title: '', source: '', fix: '', problems: [], ms: 1 } as const;
  const failed = {
    ...rule,
    id: 'session.unique',
    status: 'fail',
    problems: [{ expected: '', actual: '' }],
  } as const;
  const prevented = {
    ...rule,
    id: 'session.lasting',
    status: 'not-run',
    cause: 'missing',
    see: ['session.unique'],
  } as const;
  const passed = { ...failed, status: 'pass', problems: [] } as const;
  const conclusion = (rules: Report['rules'], known: readonly { rule: string }[] = []) => {
    const baseline = { file: 'known.json', known };
    return conclusionOf(evaluateReport({ ...reportOf([]), rules: [prevented, ...rules] }, lenient, baseline));
  };
  expect(conclusion([passed])).toBe('unanswered');
  expect(conclusion([failed])).toBe('failed');
  expect(conclusion([failed], [{ rule: failed.id }])).toBe('ok');
  expect(conclusion([])).toBe('ok'); // the caller selected neither
});

/** The places in the source where a rule is left out for a reason that is no fault of the server. */
const excepted = {
  'because inapplicable': 20,
  'because example': 2,
  'because withheld': 5,
  'because unanswered': 13,
  'because deadline': 1,
  'because error': 1,
  'without forgery': 1,
  'without launch': 1,
  'without signer': 1,
};

it('counts every other cause in the source', () => {
  const folder = join(import.meta.dirname, '../../../packages/contract/src');
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('not-run.ts'))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n');
  const counted: Record<string, number> = {};
  for (const [, how, what] of text.matchAll(/NotRun\.(because|without)\(\s*'(\w+)'/g)) {
    counted[`${how} ${what}`] = (counted[`${how} ${what}`] ?? 0) + 1;
  }
  expect(counted).toEqual(excepted);
  expect(Object.keys(preventions).filter((what) => !text.includes(`'${what}'`))).toEqual([]);
});
