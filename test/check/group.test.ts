import { expect, test } from 'vitest';
import { groupsOf } from '../../packages/contract/src/report/group.ts';

const problem = { tool: 'get_price', expected: 'a text', actual: 'nothing', at: 'src/tools/get-price.ts' };

test('problems that differ only in their path are one group, in the order of the first', () => {
  const other = { ...problem, path: 'b', tool: 'list_coins' };
  const groups = groupsOf([
    { ...problem, path: 'a' },
    other,
    { ...problem, path: 'c' },
    { ...problem, path: 'd', actual: '5' },
  ]);
  expect(groups).toMatchObject([
    { problem: { tool: 'get_price', actual: 'nothing' }, paths: ['a', 'c'] },
    { problem: { tool: 'list_coins' }, paths: ['b'] },
    { problem: { actual: '5' }, paths: ['d'] },
  ]);
});

test('other arguments, another place or another fix is another group', () => {
  const groups = groupsOf([
    { ...problem, path: 'a', arguments: { symbol: 'BTC' } },
    { ...problem, path: 'a', arguments: { symbol: 'ETH' } },
    { ...problem, path: 'a', at: 'src/tools/get-price.ts:7' },
    { ...problem, path: 'a', fix: 'Write it.' },
  ]);
  expect(groups).toHaveLength(4);
});

test('a problem without a path has no place', () => {
  expect(groupsOf([problem, problem])).toEqual([{ problem, paths: [] }]);
});
