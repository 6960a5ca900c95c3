import { describe, expect, it } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import { rulesDocument, sentences } from './rules-document.ts';

describe('the contract, sentence by sentence', () => {
  const tested = new Set(sentences.flatMap((sentence) => sentence.rules));

  it('has rules that exist, or a reason, for every sentence', () => {
    const ids = new Set(rules.map(({ id }) => id));
    expect([...tested].filter((id) => !ids.has(id))).toEqual([]);
    expect(sentences.length).toBeGreaterThan(70);
    expect(sentences.filter((one) => one.rules.length === 0 && !one.reason.endsWith('.'))).toEqual([]);
  });

  it('covers every rule that claims a section of the contract', () => {
    expect(
      rules.filter(({ id, source }) => source.includes('C§') && !tested.has(id)).map(({ id }) => id),
    ).toEqual([]);
  });
});

it('docs/rules.md is generated from the catalogue', async () => {
  await expect(await rulesDocument()).toMatchFileSnapshot('../../docs/rules.md');
});
