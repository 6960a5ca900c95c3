import { describe, expect, it } from 'vitest';
import { driftOf, listedOf } from '../../../src/project/manifest/listed.ts';
import { gasPrice, listChains } from '../../plan/prepared.ts';

const named = ({ definition }: { definition: (typeof gasPrice)['definition'] }) => ({
  name: definition.name,
  definition,
});
const both = [gasPrice, listChains].map(named);

describe('the recorded listing', () => {
  it('equals the tools right after it was recorded, in any order', () => {
    const turned = Object.fromEntries(Object.entries(gasPrice.definition).toReversed());
    const drift = driftOf([named(listChains), named({ definition: turned as never })], listedOf(both));
    expect(drift).toEqual({ refreshNeeded: false, added: [], changed: [], removed: [] });
  });

  it('differs by added, removed and changed tools', () => {
    const changed = { ...gasPrice.definition, description: 'Other words.' };
    const now = [named({ definition: changed }), { name: 'new', definition: null }];
    expect(driftOf(now, listedOf(both))).toEqual({
      refreshNeeded: true,
      added: ['new'],
      changed: ['get_gas_price'],
      removed: ['list_chains'],
    });
  });

  it('ignores definitions that cannot be read', () => {
    const hidden = [{ name: 'get_gas_price', definition: null }];
    expect(driftOf(hidden, listedOf([named(gasPrice)])).refreshNeeded).toBe(false);
    expect(driftOf([named(gasPrice)], listedOf(hidden)).refreshNeeded).toBe(false);
  });
});
