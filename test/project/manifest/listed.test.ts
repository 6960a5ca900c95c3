import { expect, it } from 'vitest';
import { driftOf, listOfFingerprints } from '../../../src/project/manifest/listed.ts';
import { gasPrice } from '../../plan/prepared.ts';

// test/check/drift.test.ts and test/cli/tools/list.test.ts compare with what was recorded.
it('a recorded list ignores definitions that cannot be read, then and now', () => {
  const { definition } = gasPrice;
  const { name } = definition;
  const recorded = { file: 'listing.json', tools: [{ ...definition }] };
  expect(driftOf([{ name, definition: null }], recorded).refreshNeeded).toBe(false);
  const unread = listOfFingerprints('market-mcp.json', { [name]: '' });
  expect(driftOf([{ name, definition }], unread).refreshNeeded).toBe(false);
});
