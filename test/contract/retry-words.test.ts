import { describe, expect, it } from 'vitest';
import { retryWords } from '../../packages/contract/src/rules/call.ts';
import {
  retryWords as runtimeWords,
  withoutRetryWords,
} from '../../packages/runtime/src/server/call-result.ts';

/** The words of a pattern that consists of alternatives; a class of digits stands for one word each. */
function wordsOf({ source }: RegExp): readonly string[] {
  return source.split('|').flatMap((alternative) => {
    const [, prefix = '', digits = ''] = /^(\d+)\[(\d+)\]$/.exec(alternative) ?? [];
    return digits === '' ? [alternative] : [...digits].map((digit) => prefix + digit);
  });
}

describe('the words that make a platform retry', () => {
  it.each(wordsOf(retryWords))('the runtime removes "%s", which the contract reports', (word) => {
    expect(word).toMatch(retryWords);
    expect(withoutRetryWords(`the source said: ${word}`)).not.toMatch(retryWords);
  });

  it('the runtime removes only one more word: "econn", the start of all codes of connections', () => {
    const contractWords = wordsOf(retryWords).map((word) => word.toLowerCase());
    const added = wordsOf(runtimeWords).filter((word) => !contractWords.includes(word));
    const covered = contractWords.filter((word) => !wordsOf(runtimeWords).includes(word));
    expect(added).toEqual(['econn']);
    expect(covered).toEqual(['econnreset', 'econnrefused']);
  });
});
