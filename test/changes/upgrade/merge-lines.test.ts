import { describe, expect, it } from 'vitest';
import { hasMarkers, mergeLines } from '../../../src/changes/upgrade/merge-lines.ts';
import fc from '../../fast-check.ts';

const label = 'create-market-mcp 9.9.9';
const merge = (base: string, ours: string, theirs: string) => mergeLines(base, ours, theirs, label);
/** Few different lines, so that they repeat. */
const text = fc.array(fc.constantFrom<string>('a', 'b', 'c', '', 'constructor', '__proto__'), {
  maxLength: 12,
});

describe('merging lines', () => {
  it('takes the changes of only one side', () => {
    expect(merge('a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\n')).toEqual({
      text: 'A\nb\nc\nD\n',
      conflicts: [],
    });
  });

  it('marks conflicting changes without the common lines', () => {
    const { text, conflicts } = merge('x\nb\ny\n', 'x\nsame\nours\ny\n', 'x\nsame\ntheirs\ny\n');
    expect(text).toBe(
      ['x', 'same', '<<<<<<< yours', 'ours', '=======', 'theirs', `>>>>>>> ${label}`, 'y', ''].join('\n'),
    );
    expect(conflicts).toEqual([3]);
    expect(hasMarkers(text)).toBe(true);
    expect(hasMarkers(text.replaceAll('\n', '\r\n'))).toBe(true);
    expect(hasMarkers('a heading\n=======\n')).toBe(false);
  });

  it('gives one conflict if thousands of equal lines would take too long', () => {
    const lines = (count: number) => 'same\n'.repeat(count);
    const { conflicts } = merge(`${lines(2_000)}a\n`, `x\n${lines(2_001)}b\n`, `y\n${lines(2_002)}c\n`);
    expect(conflicts).toEqual([1]);
  });

  it('returns the changed side if the other one is unchanged, for any texts', () => {
    const property = fc.property(text, text, (one, other) => {
      const [base, changed] = [one.join('\n'), other.join('\n')];
      expect(merge(base, changed, base)).toEqual({ text: changed, conflicts: [] });
      expect(merge(base, base, changed)).toEqual({ text: changed, conflicts: [] });
      expect(merge(base, changed, changed)).toEqual({ text: changed, conflicts: [] });
    });
    fc.assert(property);
  });

  it('loses no line that an author added', () => {
    const property = fc.property(text, text, fc.nat(), (base, theirs, at) => {
      const place = at % (base.length + 1);
      const ours = base.toSpliced(place, 0, 'the line of the author');
      const { text } = merge(base.join('\n'), ours.join('\n'), theirs.join('\n'));
      expect(text.split('\n')).toContain('the line of the author');
    });
    fc.assert(property);
  });
});
