import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { RpcAnswer } from '../../packages/contract/src/wire/rpc.ts';
import { type AskWorld, ask, rank, thresholds, type UserQuestion } from '../../src/marketplace/core/ask.ts';
import type { BuyerTool } from '../../src/marketplace/core/model.ts';
import { callVerdict } from '../../src/marketplace/core/verdict.ts';
import { cardText, logCard } from '../../src/marketplace/pages/ask.tsx';
import { goodTools } from '../broken/good-tools.ts';

const tools: readonly BuyerTool[] = goodTools.map(({ definition }) => ({
  listing: 'one',
  endpoint: 'http://127.0.0.1:1/mcp',
  name: definition.name,
  definition: { ...definition } as unknown as JsonObject,
}));
const question = (more: Partial<UserQuestion> = {}): UserQuestion => ({
  question: 'What is the price of a coin?',
  mode: 'manual',
  picked: ['get_price'],
  arguments: {},
  ...more,
});

const result = (data: JsonObject, more: JsonObject = {}): JsonObject => ({
  content: [{ type: 'text', text: JSON.stringify(data) }],
  structuredContent: data,
  ...more,
});
const found = result({ symbol: 'BTC', price: 1 });
const mismatch = result({ symbol: 'BTC', price: '1' });
const failure = (error: string, message: string) =>
  result({ symbol: null, price: null, error, message }, { isError: true });

/** A platform whose calls get these results in turn; the last one repeats. A number is an HTTP status. */
function world(...answers: readonly (JsonObject | number)[]): AskWorld & { readonly asked: Json[] } {
  const asked: Json[] = [];
  return {
    asked,
    tools,
    pauseMs: 0,
    sample: () => ({ symbol: 'BTC' }),
    async call({ endpoint, tool, arguments: args, definition }) {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? 0;
      asked.push(args);
      const given = typeof answer === 'number' ? undefined : answer;
      const status = typeof answer === 'number' ? answer : 200;
      const http = { status, headers: {}, body: '', values: [], open: false, ms: 1 };
      const rpc: RpcAnswer = { http, response: undefined, result: given, error: undefined };
      return {
        id: asked.length,
        endpoint,
        tool,
        arguments: args,
        deliberate: null,
        status,
        ms: 1,
        verdict: callVerdict(definition, rpc),
        result: given ?? null,
        error: given ? null : 'ECONNRESET',
        expected: null,
        cause: null,
      };
    },
  };
}

test.each<[string, readonly (JsonObject | number)[], string, number]>([
  ['data ends in an answer', [found], 'answered', 1],
  ['a schema mismatch is tried again', [mismatch, found], 'answered', 2],
  ['a lasting mismatch is given up', [mismatch], 'capability-miss', thresholds.attempts],
  ['a recoverable error is tried again', [failure('UPSTREAM', 'rate limit reached'), found], 'answered', 2],
  [
    'a lasting recoverable error is given up',
    [failure('TIMEOUT', 'no answer')],
    'capability-miss',
    thresholds.attempts,
  ],
  [
    'any other error is not tried again',
    [failure('NO_SUCH_COIN', 'There is no such coin.')],
    'capability-miss',
    1,
  ],
  [
    'an explicit empty result is the answer',
    [result({ symbol: null, price: null, searchExhausted: true })],
    'explicit-empty',
    1,
  ],
  [
    'an empty result without a signal is called again, up to fan-out',
    [result({ symbol: null, price: null })],
    'fan-out',
    thresholds.fanOut,
  ],
  ['no answer is an upstream abort', [0], 'upstream-abort', 1],
  ['HTTP 502 is an upstream abort', [502], 'upstream-abort', 1],
  ['a refused token is a capability miss', [401], 'capability-miss', 1],
])('%s', async (_what, answers, ending, calls) => {
  const run = await ask(question(), world(...answers));
  expect({ ending: run.ending, calls: run.calls.length }).toEqual({ ending, calls });
});

test('ranks the tool first whose name and description contain the words of the question', async () => {
  const ranked = rank('Which coins are there? List them', tools, 'auto');
  expect(ranked.map(({ tool }) => tool)).toEqual(['list_coins', 'get_price']);
  const run = await ask(question({ mode: 'auto', question: 'latest currency?' }), world(found));
  expect(run.selected).toEqual(['get_price']);
  const none = await ask(question({ mode: 'auto', question: 'weather in Oslo' }), world(found));
  expect(none).toMatchObject({ selected: [], calls: [], ending: 'capability-miss' });
});

test.each<[string, JsonObject]>([
  ['queryEligible', { _meta: { queryEligible: false } }],
  ['change something', { annotations: { readOnlyHint: false } }],
  ['change something', { name: 'cancel_price', annotations: {} }],
  ['change something', { name: 'price', annotations: {} }],
])('the modes auto and query call no tool with "%s": %j', async (why, more) => {
  const hidden = tools.map((tool) => ({ ...tool, definition: { ...tool.definition, ...more } }));
  for (const mode of ['auto', 'query'] as const) {
    const platform = { ...world(found), tools: hidden };
    const ran = await ask(question({ question: 'price', mode, picked: [] }), platform);
    expect(platform.asked).toEqual([]);
    expect(ran.ranking).toMatchObject(
      hidden.map(() => ({ score: 0, excluded: expect.stringContaining(why) })),
    );
  }
});

test('the mode query alone excludes tools for execution', () => {
  const execute = tools.map((tool) => ({
    ...tool,
    definition: { ...tool.definition, _meta: { surface: 'execute' } },
  }));
  expect(rank('price', execute, 'query')[0]?.excluded).toContain('surface');
  expect(rank('price', execute, 'auto')[0]?.excluded).toBeUndefined();
});

test('a picked tool that may change something is called once, whatever it answers', async () => {
  const writing = tools.map((tool) => ({
    ...tool,
    definition: { ...tool.definition, annotations: { readOnlyHint: false } },
  }));
  const platform = { ...world(mismatch), tools: writing };
  const ran = await ask(question(), platform);
  expect(platform.asked).toHaveLength(1);
  expect(ran.calls[0]?.decision).toContain('called once');
});

test('sends arguments that the user edited', async () => {
  const platform = world(found);
  await ask(question({ arguments: { get_price: { symbol: 'ETH' } } }), platform);
  expect(platform.asked).toEqual([{ symbol: 'ETH' }]);
});

test('the log card has the parts of the appendix, each with content', async () => {
  const run = await ask(question(), world(mismatch, found));
  const parts = logCard(run, tools);
  expect(parts.map(({ title }) => title)).toEqual([
    'User question',
    'Execution summary',
    'Orchestration selection',
    'Planner query',
    'Tool-registry diagnostics',
    'Tool call history',
    'Execution trace',
    'Verification results',
    'Handshake note',
    'Sandbox image artifacts',
    'Final result',
  ]);
  expect(parts.every(({ lines }) => lines.length > 0)).toBe(true);
  expect(cardText(parts)).toContain('mode manual · success true · 1 steps · 2 MCP calls');
  expect(cardText(parts)).toContain('the result does not match its schema: try again (1 of 4 attempts)');
});
