import { expect, test } from 'vitest';
import { objectionTo } from '../../src/cli/commands/call.ts';
import type { CallReport } from '../../src/marketplace/core/caller.ts';
import { type Breaks, resultOf } from '../broken/good-server.ts';
import { instead, methodOf } from '../broken/variant.ts';
import { openMarketplace, startServer } from './support.ts';

/** A call of get_price on the good server with changes. */
async function called(symbol: string, breaks: Breaks = {}, deliberate?: 'no-token'): Promise<CallReport> {
  const marketplace = await openMarketplace();
  const endpoint = await startServer(breaks);
  const definition = await definitionAt(endpoint);
  return marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol }, definition, deliberate });

  async function definitionAt(url: string) {
    const tools = await marketplace.caller.tools(url);
    return tools.find((tool) => (tool as { name?: string }).name === 'get_price') as CallReport['result'] &
      object;
  }
}

test.each([
  ['found', 'BTC', { unsaid: undefined, found: undefined, empty: 'expected the outcome empty, got found' }],
  ['empty', 'XYZ', { unsaid: undefined, empty: undefined }],
  [
    'fail',
    'DOWN',
    {
      unsaid: 'the tool reported a failure (if a failure is correct here, add --expect fail)',
      fail: undefined,
      found: 'expected the outcome found, got fail',
    },
  ],
] as const)('the outcome %s of %s is judged by the wanted one: %j', async (outcome, symbol, objections) => {
  const report = await called(symbol);
  const pass = { status: 'pass' };
  expect(report.verdict).toMatchObject({ outcome, text: pass, structuredContent: pass, same: pass });
  for (const [wanted, objection] of Object.entries(objections)) {
    const expected = wanted === 'unsaid' ? undefined : (wanted as typeof outcome);
    expect([wanted, objectionTo(report, expected)]).toEqual([wanted, objection]);
  }
});

const answers = (data: Parameters<typeof resultOf>[0]): Breaks => ({
  call: () => async () => resultOf(data),
});
const onCall = (status: number, body: object): Breaks =>
  instead((request) => (methodOf(request) === 'tools/call' ? { status, body } : undefined));

test.each<[string, Breaks, 'empty' | undefined, string]>([
  [
    'a schema mismatch',
    answers({ symbol: 'BTC', price: 'high' }),
    undefined,
    'does not match the outputSchema',
  ],
  ['an empty result without a signal', answers({ symbol: null, price: null }), 'empty', 'searchExhausted'],
  ['a refused token', onCall(401, { error: 'Unauthorized' }), undefined, 'refused the token (HTTP 401)'],
  ['an HTTP error', onCall(502, {}), undefined, 'HTTP 502 and no JSON-RPC result'],
])('%s is never a success', async (_, breaks, wanted, words) => {
  expect(objectionTo(await called('BTC', breaks), wanted)).toContain(words);
});

test('a call without a token is a success if the server refuses it', async () => {
  expect(objectionTo(await called('BTC', {}, 'no-token'), undefined)).toBeUndefined();
  const accepted = await called('BTC', { isPaid: () => () => false }, 'no-token');
  expect(objectionTo(accepted, undefined)).toContain('expected HTTP 401');
});
