import { expect, it } from 'vitest';
import { calledLines } from '../../src/check/read-built-project.ts';

it('the line of a failed example has the reason that the API gives', () => {
  const called = {
    tool: 'get_price',
    arguments: { symbol: 'BTC' },
    expect: 'found',
    outcome: 'fail',
  } as const;
  const line = '✘ get_price {"symbol":"BTC"}: expected found, got fail SOURCE_REJECTED';
  expect(calledLines({ ...called, error: 'SOURCE_REJECTED', detail: 'No such symbol' })).toEqual([
    `${line}: No such symbol`,
  ]);
  expect(calledLines({ ...called, error: 'SOURCE_REJECTED' })).toEqual([line]);
});
