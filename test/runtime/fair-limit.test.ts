import { describe, expect, test, vi } from 'vitest';
import { createFairLimit, networkOf } from '../../packages/runtime/src/server/fair-limit.ts';
import { createResponseBatch } from '../../packages/runtime/src/server/response-sender.ts';
import fc from '../fast-check.ts';

test('answers wait for those of the same turn, but not for long work', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const setResult = createResponseBatch();
  let isOver = false;
  const immediate = setImmediate(() => {
    isOver = true;
  });
  const first = setResult();
  now.mockReturnValue(2);
  expect(setResult()).toBe(first);
  await first;
  expect(isOver).toBe(false);
  clearImmediate(immediate);
  const next = setResult();
  expect(next).not.toBe(first);
  await next;
  expect(setResult()).not.toBe(next);
  now.mockRestore();
});

describe('the network of an address', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
    ['1::2:3:4:5:203.0.113.7', '1:0:2:3::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test('is the same for all addresses of a /64, however they are written, and differs between two', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const half = fc.tuple(group, group, group, group);
    const padded = (groups: readonly number[]) =>
      groups.map((one) => one.toString(16).padStart(4, '0')).join(':');
    const compressed = (groups: readonly number[]) =>
      new URL(`http://[${padded(groups)}]/`).hostname.slice(1, -1);
    fc.assert(
      fc.property(half, half, half, half, (first, one, other, second) => {
        expect(networkOf(compressed([...first, ...one]))).toBe(networkOf(padded([...first, ...other])));
        fc.pre(first.join() !== second.join());
        expect(networkOf(padded([...first, ...one]))).not.toBe(networkOf(compressed([...second, ...one])));
      }),
    );
  });
});

describe('items of a limited total size', () => {
  const holdings = (most: number, rankOf?: (item: string, held: number) => number) => {
    const ended: string[] = [];
    const { add } = createFairLimit<string>(
      most,
      (item) => !item.endsWith('!'),
      (item) => ended.push(item),
      rankOf,
    );
    return { add, ended };
  };

  test('one more of the owner with the most ends its oldest', () => {
    const { add, ended } = holdings(4);
    for (const item of ['a1', 'b1', 'b2', 'b3', 'a2', 'a3']) add(item.charAt(0), item);
    expect(ended).toEqual(['b1', 'a1']);
  });

  test('a new owner is admitted when all others hold equally much: the oldest of all ends', () => {
    const { add, ended } = holdings(3);
    for (const owner of ['a', 'b', 'c', 'd', 'e']) add(owner, owner);
    expect(ended).toEqual(['a', 'b']);
  });

  test('an item ends itself if no other may end: those of owners with less may not', () => {
    const { add, ended } = holdings(3);
    for (const item of ['a1!', 'a2!', 'b1']) add(item.charAt(0), item);
    expect(add('a', 'a3')).toBe(false);
    expect(ended).toEqual(['a3']);
  });

  test('an item of a lower rank ends first, whatever its owner holds', () => {
    const { add, ended } = holdings(4, (item) => (item.includes('silent') ? 0 : 1));
    for (const item of ['a1', 'b-silent', 'a2', 'a3']) add(item.charAt(0), item);
    add('a', 'a4');
    add('a', 'a5');
    expect(ended).toEqual(['b-silent', 'a1']);
  });

  test('an item of a higher rank ends last', () => {
    const { add, ended } = holdings(3, (item) => (item.includes('paid') ? 2 : 1));
    for (const item of ['a-paid', 'b1', 'c1', 'd1', 'e1', 'f1']) add(item.charAt(0), item);
    expect(ended).toEqual(['b1', 'c1', 'd1']);
  });

  test('the size that an item grows by counts for its owner, and removed items free theirs', () => {
    const ended: string[] = [];
    const { add, remove } = createFairLimit<string>(
      100,
      () => true,
      (item) => ended.push(item),
    );
    add('a', 'a1', 30);
    add('b', 'b1', 40);
    remove('b', 'b1');
    add('b', 'b2', 40);
    expect(add('a', 'a1', 30)).toBe(true);
    expect(add('b', 'b3', 1)).toBe(false);
    expect(ended).toEqual(['a1']);
  });

  test('never exceed it, and end nothing of an owner that holds less than the new one', () => {
    const item = fc.record({
      owner: fc.constantFrom('a', 'b', 'c', 'd'),
      size: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 60 }), (items) => {
        const held = new Map<number, { owner: string; size: number }>();
        const sizeOf = (owner: string) =>
          [...held.values()].reduce((sum, one) => sum + (one.owner === owner ? one.size : 0), 0);
        let adding = '';
        const { add } = createFairLimit<number>(
          20,
          () => true,
          (index) => {
            const { owner = '' } = held.get(index) ?? {};
            expect(sizeOf(owner)).toBeGreaterThanOrEqual(sizeOf(adding));
            held.delete(index);
          },
        );
        for (const [index, one] of items.entries()) {
          adding = one.owner;
          held.set(index, one);
          add(one.owner, index, one.size);
          const all = [...held.values()].reduce((sum, { size }) => sum + size, 0);
          expect(all).toBeLessThanOrEqual(20);
        }
      }),
    );
  });
});
