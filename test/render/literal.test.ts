import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../packages/contract/src/json/value.ts';
import {
  Code,
  lineWidth,
  mapEntries,
  memberAccess,
  printLiteral,
  propertyText,
  stringLiteral,
} from '../../src/render/literal.ts';
import fc from '../fast-check.ts';
import { hostile } from '../plan/prepared.ts';

const evaluate = (code: string): unknown => new Function(`'use strict'; return (${code});`)();
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'\'"`\\$ {}*/\n\r\u2028\u2029\ud800\u202e🚀') }),
);
const anyJson = fc
  .letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      anyText,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'a', '1')), tie('value'), {
        maxKeys: 5,
      }),
    ),
  }))
  .value.map((value) => value);

describe('a literal', () => {
  it('evaluates to its value', () => {
    fc.assert(
      fc.property(anyJson, fc.nat(40), (value, indent) => {
        const copy = evaluate(printLiteral(value, { indent }));
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        assert.deepStrictEqual(copy, plain(value));
      }),
    );
  });

  it('escapes line terminators and invisible characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(stringLiteral(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/u);
      }),
    );
    expect(evaluate(stringLiteral(hostile))).toBe(hostile);
  });

  it('keeps lines short if its strings allow it', () => {
    const short = fc.oneof(
      fc.integer(),
      fc.boolean(),
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 20 }),
    );
    const rows = fc.array(
      fc.dictionary(fc.string({ unit: fc.constantFrom('x', 'y', 'z'), minLength: 1, maxLength: 8 }), short),
    );
    fc.assert(
      fc.property(rows, (value) => {
        for (const line of printLiteral(value).split('\n'))
          expect(line.length).toBeLessThanOrEqual(lineWidth);
      }),
    );
  });

  it.each<[Json, string]>([
    [{}, '{}'],
    [[], '[]'],
    [{ a: 1, 'b c': ["it's"] }, `{ a: 1, 'b c': ["it's"] }`],
    [{ ['__proto__']: 1 }, "{ ['__proto__']: 1 }"],
    [-0, '-0'],
    [1e21, '1e21'],
    ['both \' and "', "'both \\' and \"'"],
    [
      [
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ],
      '[\n  { a: 1, b: 2 },\n  { a: 3, b: 4 },\n]',
    ],
    [{ a: { b: { c: 1 } } }, '{\n  a: { b: { c: 1 } },\n}'],
  ])('formats %j like a person', (value, text) => {
    expect(printLiteral(value)).toBe(text);
  });

  it('fills lines with numbers', () => {
    const lines = printLiteral(Array.from({ length: 60 }, (_, index) => 100 + index)).split('\n');
    expect(lines.map((line) => line.length)).toEqual([1, 106, 106, 91, 1]);
  });

  it('puts a spread first and omits the members it replaces', () => {
    const spread = { path: ['properties'], code: new Code('...signals'), replaces: new Set(['error']) };
    expect(printLiteral({ properties: { price: {}, error: {} } }, { spread })).toBe(
      '{\n  properties: { ...signals, price: {} },\n}',
    );
  });

  it('puts a long string on its own line', () => {
    expect(propertyText('description', 'x'.repeat(100), 2)).toBe(`description:\n    '${'x'.repeat(100)}'`);
    expect(propertyText('description', 'short', 2)).toBe("description: 'short'");
  });

  it('throws for values that are not JSON', () => {
    expect(() => printLiteral(Number.NaN)).toThrow(TypeError);
    expect(() => printLiteral({ a: undefined } as never)).toThrow('no value at a');
  });
});

describe('code around a literal', () => {
  it('uses undefined as the key of an absent argument', () => {
    expect(mapEntries('samples', [[null, { a: 1 }]])).toBe('samples.set(undefined, { a: 1 });');
  });

  it('puts each entry into a map within the line width', () => {
    const entries: [Json, Json][] = [
      ['BTC', { price: 1 }],
      ['k'.repeat(lineWidth - 32), { price: 1, a: 1 }],
      ['k'.repeat(lineWidth - 31), { price: 1, a: 1 }],
      ['k'.repeat(lineWidth - 10), { price: 1 }],
      [`'"\n\u2028`, { deep: { deeper: { deepest: 1 } } }],
    ];
    const code = mapEntries('samples', entries);
    for (const line of code.split('\n')) expect(line.length).toBeLessThanOrEqual(lineWidth);
    const samples = new Function(`const samples = new Map(); ${code} return samples;`)();
    expect([...samples]).toEqual(entries);
  });

  it.each([
    ['symbol', 'input.symbol'],
    ['constructor', 'input.constructor'],
    ['a b', "input['a b']"],
    ["'];process.exit()//", `input["'];process.exit()//"]`],
  ])('accesses the member %j', (name, text) => {
    expect(memberAccess('input', name)).toBe(text);
  });
});

/** fast-check creates objects with and without a prototype; a literal always has one. */
function plain(value: Json): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}
