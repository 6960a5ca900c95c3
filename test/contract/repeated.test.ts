import { expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import type { OwnedServer } from '../../packages/contract/src/target.ts';
import { examples, failuresOf } from '../broken/check.ts';
import { resultOf } from '../broken/good-server.ts';
import { serving, signer } from '../broken/trust.ts';
import type { Variant } from '../broken/variant.ts';

/** A server whose second list of coins is a failure. */
function failingOnce(): Variant {
  let count = 0;
  return {
    call: (good) => async (params) => {
      const isWhole = params.name === 'list_coins' && JSON.stringify(params.arguments) === '{}';
      if (isWhole) count += 1;
      const data = { coins: [], error: 'SOURCE_DOWN', message: 'The exchange is closed.' };
      return isWhole && count === 2 ? { ...resultOf(data), isError: true } : good(params);
    },
  };
}

const owned: OwnedServer = {
  instance: () => {
    throw new Error('The server has not ended.');
  },
  restart: async () => {
    throw new Error('The server has not ended.');
  },
  ending: async () => ({}),
};

it.each([
  ['advice at a URL', {}, 'should', 'outcome.repeatable'],
  ['advice if the source is live', { owned, mayCallLiveApis: true }, 'should', 'outcome.repeatable'],
  ['a failed MUST if the responses are recorded', { owned }, 'must', 'outcome.alternates'],
])('a failure that comes once is %s', async (_title, target, level, failedCase) => {
  const report = await serving(failingOnce(), (url) =>
    runContract(
      { url, profile: context, examples, signer, ...target },
      { selects: ({ id }) => ['outcome.repeatable', 'outcome.alternates'].includes(id) },
    ),
  );
  expect(failuresOf(report.rules)).toEqual([failedCase]);
  expect(report.rules[0]?.level).toBe(level);
  expect(report.rules[0]?.times?.failed).toBe(1);
});
