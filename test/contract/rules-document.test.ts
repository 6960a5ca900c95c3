import { describe, expect, it } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import { rulesDocument, rulesOf } from './rules-document.ts';
import { sentences } from './sentences/index.ts';

describe('the contract, sentence by sentence', () => {
  it('names only rules that exist', () => {
    const ids = new Set(rules.map(({ id }) => id));
    expect(sentences.flatMap(rulesOf).filter((id) => !ids.has(id))).toEqual([]);
  });

  it('has rules or a reason for every sentence', () => {
    expect(
      sentences.filter((sentence) => rulesOf(sentence).length > 0 === (sentence.untested !== undefined)),
    ).toEqual([]);
  });

  it('covers every rule that claims a section of the contract', () => {
    const tested = new Set(sentences.flatMap(rulesOf));
    expect(
      rules.filter(({ id, source }) => source.includes('C§') && !tested.has(id)).map(({ id }) => id),
    ).toEqual([]);
  });
});

describe('docs/rules.md', () => {
  it('is generated from the catalogue', async () => {
    await expect(await rulesDocument()).toMatchFileSnapshot('../../docs/rules.md');
  });
});
