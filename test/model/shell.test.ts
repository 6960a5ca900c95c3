import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellLine } from '../../packages/contract/src/command/shell.ts';
import fc from '../fast-check.ts';

/** The words that a POSIX shell parses from a line. */
function wordsOf(line: string): string[] {
  const script = `for word in ${line}; do printf '%s\\0' "$word"; done`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

const odd = [
  'a\tb',
  'two\nlines',
  '\n\nat the start',
  'at the end\n',
  "it's\t100% \\n \\\\ $HOME $(id) `id`",
  '-\t-n',
  '!!\u0007',
  '\u001b]0;x\u0007$(id)\n\n',
  '\u001b]52;c;x\u0007',
  'a\u009bb',
  '\u202egnp.exe',
  'e\u200dmoji 👩\u200d🚀',
  '',
  ' ',
  '~',
  '#x',
];

describe('shellLine', () => {
  it('gives the same arguments, and contains nothing that a terminal would interpret', () => {
    const line = shellLine(odd);
    expect(wordsOf(line)).toEqual(odd);
    expect(line.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    // bash expands it there: outside of a pair of single quotes that are not within double quotes.
    expect(shellLine(['!!\u0007'])).not.toContain('!');
  });

  it('does so for all texts', () => {
    const piece = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(piece, { minLength: 40, maxLength: 40 }), (pieces) => {
        expect(wordsOf(shellLine(pieces))).toEqual(pieces);
      }),
      { numRuns: 20 },
    );
  });
});
