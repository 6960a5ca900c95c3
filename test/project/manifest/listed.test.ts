import { expect, it } from 'vitest';
import { driftOf, listedOf } from '../../../src/project/manifest/listed.ts';
import { gasPrice } from '../../plan/prepared.ts';

// test/check/drift.test.ts and test/cli/tools/list.test.ts compare with what was recorded.
it('a recorded listing ignores definitions that cannot be read, then and now', () => {
  const { definition } = gasPrice;
  const [read, hidden] = [
    [{ name: definition.name, definition }],
    [{ name: definition.name, definition: null }],
  ];
  expect(driftOf(hidden, listedOf(read)).refreshNeeded).toBe(false);
  expect(driftOf(read, listedOf(hidden)).refreshNeeded).toBe(false);
});
