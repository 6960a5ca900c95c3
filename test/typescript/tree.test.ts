import { expect, it } from 'vitest';
import { moduleReferences } from '../../src/typescript/imports.ts';
import { readToolSource, renamedSource } from '../../src/typescript/tool-source.ts';
import { meaningOf } from '../../src/typescript/tree.ts';

it.each([
  ["import { a, b } from './x.ts';", 'import {a, b} from "./x.ts"'],
  ["const x = { 'a': 1, b: ['c',] };", 'const x = {a: 1,\n\tb: ["c"]}'],
  ['const f = (a) => a;', 'const f = a => (a)'],
  ['return a && b;', 'return (\n  a &&\n  b\n)'],
  ['type A = B | C;', 'type A =\n  | B\n  | C'],
  ['x = y as B | C;', 'x = y as\n | B | C'],
  ['x = (a as B) || c;', 'x = a as B || c;'],
  ['type A = (B | C)[] | (D);', 'type A = (B | C)[] | D'],
  ["class A { 'b' = 1 }", 'class A { b = 1; }'],
  ['/** One.\n * Two. */', '/** One.\n   * Two. */'],
  ['type A = B<C<D>>;', 'type A = B<C<D> >'],
  ['{"a": [1, 2]}', '{\n    "a": [\n1, 2]\n}'],
])('%s is the same after a formatter', (before, after) => {
  expect(meaningOf(after)).toEqual(meaningOf(before));
});

it.each([
  ['x = (1 + 2) * 3;', 'x = 1 + 2 * 3;'],
  ['x = a * (b, c);', 'x = a * b, c;'],
  ['x = (a ?? b).c;', 'x = a ?? b.c;'],
  ["x = 'a b';", "x = 'a  b';"],
  ["x = y ? 'a' : b;", 'x = y ? a : b;'],
  ['x = a | b;', 'x = a & b;'],
  ['f(() => a);', 'f(a);'],
  ['// one', '// two'],
  ['`a  b`', '`a b`'],
])('%s is edited', (before, after) => {
  expect(meaningOf(after)).not.toEqual(meaningOf(before));
});

it.each(['x = (', '{{#if a}}', 'const a = 1; const a = 2;', `x = ${'['.repeat(100_000)}`])(
  'a text that is not valid has only itself as meaning: %.20s',
  (text) => {
    expect(meaningOf(text)).toBe(text);
    expect(meaningOf(`${text} `)).not.toBe(text);
  },
);

it('deep nesting ends no program', () => {
  for (const depth of [500, 1_000, 2_000, 4_000, 100_000]) {
    const nested = `x = ${'['.repeat(depth)}1${']'.repeat(depth)}`;
    expect(meaningOf(nested)).toBe(meaningOf(nested));
    expect(() => [moduleReferences(nested), readToolSource(nested)]).not.toThrow();
    const joined = `export default defineTool({ name: ${'"a" + '.repeat(depth)}"b" })`;
    expect([null, `${'a'.repeat(depth)}b`]).toContain(readToolSource(joined).name);
  }
});

it('a text that cannot be parsed is not renamed, and has no imports', () => {
  const text = `import a from './a.ts';\nexport default defineTool({ name: 'a' `;
  expect(renamedSource(text, 'a', 'b')).toBeUndefined();
  expect(moduleReferences(text)).toEqual([]);
});

it('imports are found in TSX, types and assignments', () => {
  const text = `import b = require('b');\nconst d = <p>{c}</p>;\nimport type { X } from 'x';\nlet y: import('y').Y;`;
  expect(moduleReferences(text).map(({ specifier }) => specifier)).toEqual(['b', 'x', 'y']);
});
