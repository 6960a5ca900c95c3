import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { wordsOf, writingVerbs } from '../../../packages/contract/src/definition/effect.ts';
import { isObject } from '../../../packages/contract/src/json/json.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import type { CallPlan, Report, ToolExample } from '../../../packages/contract/src/model.ts';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { permissionOf, signOfHarm } from '../../../packages/contract/src/wire/safety.ts';
import { type Breaks, createSteps, serve } from '../../broken/good-server.ts';
import { goodTools } from '../../broken/good-tools.ts';
import { signer, trust } from '../../broken/trust.ts';

it.each([
  ['delete_database', ['delete', 'database']],
  ['deleteDatabase', ['delete', 'database']],
  ['DELETE-DATABASE', ['delete', 'database']],
  ['HTTPSend2', ['http', 'send', '2']],
  ['undeleted', ['undeleted']],
])('the words of %s', (name, words) => expect(wordsOf(name)).toEqual(words));

describe('permissionOf', () => {
  const readOnly = { annotations: { readOnlyHint: true } };
  it.each<[JsonObject, string[], boolean]>([
    [{ name: 'get_price', ...readOnly }, [], true],
    [{ name: 'get_price' }, [], false],
    [{ name: 'get_price', annotations: { readOnlyHint: 'true' } }, [], false],
    [{ name: 'get_price' }, ['get_price'], true],
    [{ name: 'get_price' }, ['*'], true],
    [{ name: 'get_price', execution: { taskSupport: 'required' } }, ['get_price'], false],
    [{ name: 'deletePrice', ...readOnly }, ['*'], false],
    [{ name: 'deletePrice', ...readOnly }, ['deletePrice'], true],
    [{ name: 'get_price', annotations: { readOnlyHint: true, destructiveHint: true } }, ['*'], false],
    [{ name: 'get_price', ...readOnly, _meta: { surface: 'execute' } }, ['*'], false],
    [{ name: 'get_price', ...readOnly, _meta: { surface: 'both' } }, [], true],
    [{ name: 'undeleted_rows', ...readOnly }, [], true],
    [{ name: 'get_order_book', ...readOnly }, [], true],
    [{ name: 'get_order_book' }, ['*'], true],
    [{ name: 'get_or_create_user', ...readOnly }, ['*'], false],
    [{ name: 'quote', ...readOnly }, [], true],
    [{ name: 'quote' }, ['*'], false],
    [{ name: 'quote' }, ['quote'], true],
  ])('for %j with %j named: %s', (tool, named, isCalled) => {
    expect(permissionOf(tool, new Set(named)).isCalled).toBe(isCalled);
  });

  it('uses exactly the words that docs/check-reference.md lists', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../docs/check-reference.md'), 'utf8');
    const [, quoted = ''] = /<!-- verbs of writing -->\n((?:> .*\n)+)/.exec(text) ?? [];
    expect(quoted.replaceAll('> ', '').trim().split(/\s+/)).toEqual([...writingVerbs]);
  });

  it('gives the reason why a tool is not called', () => {
    expect(signOfHarm({ name: 'transferFunds' })).toBe('its name contains "transfer"');
  });
});

/** A tool without annotations. */
const [good] = goodTools.map(({ definition: { annotations: _, ...silent } }) => silent);
const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  ...(good as unknown as JsonObject),
  name,
  ...more,
});
const readOnly = { annotations: { readOnlyHint: true } };
const risky = [
  tool('get_price'),
  tool('delete_database', readOnly),
  tool('quote', { annotations: { readOnlyHint: true, destructiveHint: true } }),
  tool('trade_now', { _meta: { surface: 'execute' }, ...readOnly }),
];

interface Ran {
  readonly report: Report;
  readonly plan: CallPlan | undefined;
  /** How often each tool was executed. */
  readonly executed: ReadonlyMap<unknown, number>;
}

/** Runs every rule on a server with these tools, which counts executions. */
async function run(
  tools: readonly JsonObject[],
  {
    isOpen,
    named = [],
    allow = [],
    examples,
    breaks,
  }: {
    readonly breaks?: Breaks;
    readonly isOpen: boolean;
    readonly named?: readonly string[];
    readonly allow?: readonly string[];
    readonly examples?: ReadonlyMap<string, readonly ToolExample[]>;
  },
): Promise<Ran> {
  const executed = new Map<unknown, number>();
  let plan: CallPlan | undefined;
  const server = await serve(
    createSteps(trust, {
      list: () => () => tools,
      call: (call) => async (params) => {
        if (!tools.some(({ name }) => name === params.name)) return call(params);
        if (!plan) throw new Error('a call came before the plan');
        executed.set(params.name, (executed.get(params.name) ?? 0) + 1);
        return call({ ...params, name: 'get_price' });
      },
      ...(isOpen && { authorized: () => async () => true }),
      ...breaks,
    }),
  );
  onTestFinished(() => server.stop());
  const report = await runContract({
    url: server.url,
    profile: context,
    ...(!isOpen && { signer }),
    ...(examples && { examples }),
    callPolicy: {
      named,
      decide: async (planned) => {
        plan = planned;
        return allow;
      },
    },
  });
  return { report, plan, executed };
}

const statusOf = ({ report }: Ran, id: string) => report.rules.find((rule) => rule.id === id)?.status;

describe('a run on a server of somebody else', () => {
  it.each([true, false])('executes no tool that may be harmful (authentication off: %s)', async (isOpen) => {
    const ran = await run(risky, { isOpen });
    expect([...ran.executed]).toEqual([]);
    expect(ran.plan?.called).toEqual([]);
    expect(ran.plan?.withheld.map(({ tool }) => tool)).toEqual(risky.map(({ name }) => name));
    // Authentication is judged too, by calling a tool that does not exist.
    expect(statusOf(ran, 'gate.no-token')).toBe(isOpen ? 'fail' : 'pass');
    expect(statusOf(ran, 'gate.garbage')).toBe(isOpen ? 'not-run' : 'pass');
    const tokenRules = ['gate.every-call', 'gate.tampered-after-success'];
    for (const id of ['gate.batch', 'gate.session-state', 'gate.request-form', ...tokenRules]) {
      expect([id, statusOf(ran, id)]).toEqual([id, isOpen ? 'not-run' : 'pass']);
    }
    for (const id of ['call.unknown-tool', 'http.deep-body', 'session.missing-call']) {
      expect([id, statusOf(ran, id)]).toEqual([id, 'pass']);
    }
    for (const id of ['result.content', 'submission.calls', 'call.wrong-arguments']) {
      expect([id, statusOf(ran, id)]).toEqual([id, 'not-run']);
    }
    const causes = ran.report.rules.flatMap(({ cause }) => cause ?? []);
    expect(causes).toContain('withheld');
    expect(causes).not.toContain('error');
  });

  it.each([
    ['by a result', undefined],
    ['by an error', { code: -32602, message: 'Tool no_such_tool not found' }],
  ])('finds a batch that runs unpaid, where an unknown tool is answered %s', async (_, error) => {
    const ran = await run(risky, {
      isOpen: false,
      breaks: {
        respond: (good) => async (message) =>
          error && message.method === 'tools/call' ? { error } : good(message),
        answer: (good, steps) => async (request) => {
          const body = request.body?.startsWith('[{') ? JSON.parse(request.body) : undefined;
          if (body?.[0]?.method !== 'tools/call') return good(request);
          return { status: 200, body: [{ jsonrpc: '2.0', id: 1, ...(await steps.respond(body[0])) }] };
        },
      },
    });
    expect([...ran.executed]).toEqual([]);
    const { problems = [] } = ran.report.rules.find(({ id }) => id === 'gate.batch') ?? {};
    expect(problems.map((problem) => problem.case)).toEqual(['gate.batch']);
  });

  it.each([true, false])(
    'what is read-only is called as often as was said (authentication off: %s)',
    async (isOpen) => {
      const ran = await run([...risky, tool('list_prices', readOnly), tool('find_price', readOnly)], {
        isOpen,
      });
      expect(ran.plan?.called.map(({ tool }) => tool)).toEqual(['list_prices', 'find_price']);
      expect([...ran.executed.keys()].toSorted()).toEqual(['find_price', 'list_prices']);
      for (const { tool, atMost } of ran.plan?.called ?? []) {
        const times = ran.executed.get(tool) ?? 0;
        expect(times).toBeGreaterThan(0);
        expect(times).toBeLessThanOrEqual(atMost);
      }
      expect(statusOf(ran, 'result.content')).toBe('pass');
    },
  );

  it('executes every tool that is named by flag, in examples or at the terminal', async () => {
    const examples = new Map([['quote', [{ arguments: { symbol: 'BTC' }, expect: 'found' as const }]]]);
    const ran = await run(risky, {
      isOpen: false,
      named: ['delete_database'],
      allow: ['trade_now'],
      examples,
    });
    expect([...ran.executed.keys()].toSorted()).toEqual(['delete_database', 'quote', 'trade_now']);
    expect(statusOf(ran, 'outcome.found')).toBe('pass');
  });

  it('judges authentication by the least harmful tool, whatever else is named', async () => {
    const tools = [tool('delete_database', readOnly), tool('list_prices', readOnly)];
    const ran = await run(tools, { isOpen: true, named: ['delete_database'] });
    const [harmful, harmless] = ['delete_database', 'list_prices'].map((name) => ran.executed.get(name) ?? 0);
    expect(harmful).toBeGreaterThan(0);
    expect(harmless).toBeGreaterThan(harmful ?? 0);
    for (const { tool, atMost } of ran.plan?.called ?? [])
      expect(ran.executed.get(tool)).toBeLessThanOrEqual(atMost);
  });

  it.each([
    ['get_price', []],
    ['delete_database', []],
    ['quote', []],
    ['get_price', ['delete_database']],
    ['quote', ['delete_database']],
  ])(
    '%s, allowed at the terminal with %j named, is called at most as often as was said',
    async (name, named) => {
      const ran = await run(risky, { isOpen: false, named, allow: [name] });
      const said = ran.plan?.withheld.find(({ tool }) => tool === name)?.atMost;
      expect(ran.executed.get(name)).toBeGreaterThan(0);
      expect(ran.executed.get(name)).toBeLessThanOrEqual(said ?? 0);
    },
  );

  it('calls a tool that is listed twice only if both entries allow it', async () => {
    const ran = await run([tool('get_a', readOnly), tool('get_a'), tool('get_b', readOnly)], {
      isOpen: false,
    });
    expect([...ran.executed.keys()]).toEqual(['get_b']);
  });
});

describe('a run on a project', () => {
  const writes = { annotations: { readOnlyHint: false } };
  const example = (symbol: string) => ({ arguments: { symbol }, expect: 'found' as const });

  /** The arguments that reach a tool of a project, in a run of every rule. */
  async function sent(
    how: 'runs' | 'replays',
    examples: readonly ToolExample[],
    answers: (args: unknown) => boolean = () => true,
  ) {
    const reached = new Set<string>();
    const unrecorded = new Set<string>();
    const server = await serve(
      createSteps(trust, {
        list: () => () => [tool('reserve_price', writes), tool('get_price', readOnly)],
        call: (call) => async (params) => {
          if (params.name !== 'reserve_price') return call(params);
          const symbol = isObject(params.arguments) ? params.arguments.symbol : undefined;
          if (typeof symbol === 'string') reached.add(symbol);
          if (typeof symbol === 'string' && !answers(symbol)) {
            const data = {
              symbol: null,
              price: null,
              error: 'SOURCE_NOT_RECORDED',
              message: 'No recording.',
            };
            const content = [{ type: 'text', text: JSON.stringify(data) }];
            return { content, structuredContent: data, isError: true };
          }
          return call({ ...params, name: 'get_price' });
        },
      }),
    );
    onTestFinished(() => server.stop());
    const report = await runContract({
      url: server.url,
      profile: context,
      signer,
      examples: new Map([
        ['reserve_price', examples],
        ['get_price', [example('BTC')]],
      ]),
      writing: new Map([['reserve_price', how]]),
      onUnrecorded: (name, args) => unrecorded.add(`${name} ${JSON.stringify(args)}`),
    });
    return { report, reached: [...reached], unrecorded: [...unrecorded].sort() };
  }

  it('a writing tool that runs gets the arguments of its examples alone', async () => {
    const { report, reached } = await sent('runs', [example('ETH')]);
    expect(reached).toEqual(['ETH']);
    expect(report.rehearsal?.map((step) => step.tool)).toEqual(['get_price']);
  });

  it('the submission test calls it if its arguments are those of an example', async () => {
    const { report, reached } = await sent('runs', [example('BTC')]);
    expect(reached).toEqual(['BTC']);
    expect(report.rehearsal?.map((step) => step.tool)).toEqual(['reserve_price', 'get_price']);
  });

  it('is the reason why nothing is said about generated calls, where every tool writes', async () => {
    const server = await serve(createSteps(trust, { list: () => () => [tool('get_price', writes)] }));
    onTestFinished(() => server.stop());
    const { rules } = await runContract({
      url: server.url,
      profile: context,
      signer,
      examples: new Map([['get_price', [example('BTC')]]]),
      writing: new Map([['get_price', 'runs']]),
    });
    const { status, reason } = rules.find(({ id }) => id === 'outcome.empty-signal') ?? {};
    expect({ status, reason }).toEqual({
      status: 'not-run',
      reason: 'no tool that only reads returned data',
    });
  });

  it('a call without a recording is not judged', async () => {
    const { report, unrecorded } = await sent('replays', [example('ETH')], (symbol) => symbol === 'ETH');
    expect(unrecorded).toEqual(['reserve_price {"symbol":"BTC"}']);
    const failed = report.rules.filter(
      ({ status, id }) => status === 'fail' && /^(outcome|submission|call|result)/.test(id),
    );
    expect(failed).toEqual([]);
    expect(report.rehearsal?.map((step) => step.tool)).toEqual(['get_price']);
  });

  it('without any recording, nothing of it is judged, and it fails no rule', async () => {
    const { report, unrecorded } = await sent('replays', [example('ETH')], () => false);
    expect(unrecorded).toEqual(['reserve_price {"symbol":"BTC"}', 'reserve_price {"symbol":"ETH"}']);
    expect(report.rules.find(({ id }) => id === 'outcome.found')).toMatchObject({ status: 'pass' });
  });
});
