import { expect, it } from 'vitest';
import { unformattedTokens } from '../../src/typescript/tokens.ts';

it.each([
  ["import { a, b } from './x.ts';", 'import {a, b} from "./x.ts"'],
  ["const x = { 'a': 1, b: ['c',] };", 'const x = {a: 1,\n\tb: ["c"]}'],
  ['const f = (a) => a;', 'const f = a => (a)'],
  ['return a && b;', 'return (\n  a &&\n  b\n)'],
  ['type A = B | C;', 'type A =\n  | B\n  | C'],
  ['x = y as B | C;', 'x = y as\n | B | C'],
  ['/** One.\n * Two. */', '/** One.\n   * Two. */'],
  ['type A = B<C<D>>;', 'type A = B<C<D> >'],
  ['{"a": [1, 2]}', '{\n    "a": [\n1, 2]\n}'],
])('%s is the same after a formatter', (before, after) => {
  expect(unformattedTokens(after)).toEqual(unformattedTokens(before));
});

it.each([
  ['x = (1 + 2) * 3;', 'x = 1 + 2 * 3;'],
  ['x = a * (b, c);', 'x = a * b, c;'],
  ['x = (a ?? b).c;', 'x = a ?? b.c;'],
  ['x = (a as B) || c;', 'x = a as B || c;'],
  ["x = 'a b';", "x = 'a  b';"],
  ["x = y ? 'a' : b;", 'x = y ? a : b;'],
  ['x = a | b;', 'x = a & b;'],
  ['f(() => a);', 'f(a);'],
  ['// one', '// two'],
  ['`a  b`', '`a b`'],
])('%s is edited', (before, after) => {
  expect(unformattedTokens(after)).not.toEqual(unformattedTokens(before));
});
