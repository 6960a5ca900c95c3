import { describe, expect, it } from 'vitest';
import { commentText, markdownCode, markdownText } from '../../src/render/helpers.ts';
import fc from '../fast-check.ts';
import { hostile } from '../plan/prepared.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(...'`*/\\<>&[]()#|_~\n\r \u2028') }),
  fc.constant(hostile),
);

describe('text in other languages', () => {
  it('cannot end a comment', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(commentText(text)).not.toMatch(/\*\/|[\n\r\u2028\u2029]/);
      }),
    );
  });

  it('is one line of Markdown without markup', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const markdown = markdownText(text);
        expect(markdown).not.toMatch(/[\n\r<>]/);
        expect(markdown.replace(/\\[^\n]/g, '')).not.toMatch(/[`*_[\]|]/);
      }),
    );
  });

  it.each([
    ['plain', '`plain`'],
    ['a`b', '``a`b``'],
    ['`', '`` ` ``'],
    ['', '`  `'],
  ])('%j as Markdown code', (text, code) => {
    expect(markdownCode(text)).toBe(code);
  });
});
