import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { formatMeta, metaFromSettings, parseMeta } from '../../src/tools/meta-settings.ts';
import fc from '../fast-check.ts';

function read(texts: readonly string[], toolMeta = context.toolMeta) {
  return metaFromSettings(unwrap(parseMeta(texts, '--meta')), toolMeta);
}

describe('settings of _meta', () => {
  it("are converted to the platform's types", () => {
    const texts = [
      'surface=both',
      'latencyClass=fast',
      'queryEligible=true',
      'pricing.executeUsd=0.01',
      'rateLimit.maxRequestsPerMinute=60',
      'rateLimit.notes=1 a second',
      'rateLimit.recommendedBatchTools=a|b',
      'own=text=with equals',
    ];
    expect(read(texts)).toEqual({
      surface: 'both',
      latencyClass: 'fast',
      queryEligible: true,
      pricing: { executeUsd: '0.01' },
      rateLimit: { maxRequestsPerMinute: 60, notes: '1 a second', recommendedBatchTools: ['a', 'b'] },
      own: 'text=with equals',
    });
  });

  it('are JSON without a schema', () => {
    expect(read(['a.b=1', 'a.c=[1,"x"]', 'a.d=word', 'constructor=null'], null)).toEqual({
      a: { b: 1, c: [1, 'x'], d: 'word' },
      constructor: null,
    });
  });

  it.each([
    ['surface'],
    ['=x'],
    ['a..b=1'],
    ['a b=1'],
    ['__proto__.x=1'],
    ['a=1', 'a=2'],
    ['a=1', 'a.b=2'],
    ['a.b=1', 'a=2'],
  ])('%s is refused', (...texts) => {
    expect(parseMeta(texts, '--meta').ok).toBe(false);
  });

  it('are formatted as they were given', () => {
    const name = fc.stringMatching(/^[a-z][a-zA-Z0-9_-]{0,8}$/);
    const path = fc.array(name, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(path, fc.string(), (names, text) => {
        const given = { path: names, text: text.trim() };
        expect(parseMeta([formatMeta(given)], '--meta')).toEqual({ ok: true, value: [given] });
      }),
    );
  });
});
