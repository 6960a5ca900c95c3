import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../../packages/contract/src/json/compile.ts';
import { present, shorten } from '../../../packages/contract/src/json/json.ts';
import { typesOf } from '../../../packages/contract/src/json/keywords.ts';
import { mismatches, mismatchesIn } from '../../../packages/contract/src/json/schema.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import fc from '../../fast-check.ts';

/** The options of the marketplace's dispute route. */
const marketplace = { allErrors: true, strict: false, validateFormats: false, logger: false } as const;

/** The verdict of a schema on a value: true, false, or the error of its compilation. */
function verdict(compile: () => (value: unknown) => unknown, value: unknown): unknown {
  try {
    return compile()(value);
  } catch (error) {
    return (error as Error).message;
  }
}

const keyword = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'null', 'text', 5) }),
  fc.record({ minimum: fc.constantFrom(0, 'low') }),
  fc.record({ required: fc.constantFrom(['a'], [], 'a', ['a', 'a']) }),
  fc.record({ enum: fc.constantFrom([1, 'a'], []) }),
  fc.record({ pattern: fc.constantFrom('^a', '(') }),
  fc.record({ $ref: fc.constantFrom('#/properties/a', '#/nowhere', 'https://example.com/schema') }),
  fc.record({
    $schema: fc.constantFrom(
      'http://json-schema.org/draft-07/schema#',
      'http://json-schema.org/draft-07/schema',
      'https://json-schema.org/x',
      '',
      5,
    ),
  }),
  fc.record({ nullable: fc.boolean() }),
);
const schema = fc.array(keyword, { maxLength: 3 }).chain((keywords) =>
  fc
    .record({ properties: fc.dictionary(fc.constantFrom('a', 'b'), keyword) }, { requiredKeys: [] })
    .map((nested) => ({
      ...Object.assign({}, ...keywords),
      ...nested,
    })),
);

describe('compileSchema', () => {
  it("agrees with the marketplace's own validator", () => {
    fc.assert(
      fc.property(schema, fc.jsonValue({ maxDepth: 2 }), (candidate, value) => {
        const theirs = verdict(() => new Ajv(marketplace).compile(candidate), value);
        expect(verdict(() => compileSchema(candidate), value)).toEqual(theirs);
      }),
      { numRuns: 100 },
    );
  });

  it('keeps two schemas with the same $id apart', () => {
    const first = compileSchema({ $id: 'https://example.com/x', type: 'string' });
    const second = compileSchema({ $id: 'https://example.com/x', type: 'number' });
    expect([first('a'), second('a')]).toEqual([true, false]);
  });

  it('fills in defaults on request', () => {
    const value = {};
    const schema = { type: 'object', properties: { limit: { type: 'integer', default: 10 } } };
    expect(compileSchema(schema, { useDefaults: true })(value)).toBe(true);
    expect(value).toEqual({ limit: 10 });
  });

  it('keeps validators with and without defaults apart', () => {
    const schema = { type: 'object', properties: { limit: { type: 'integer', default: 10 } } };
    const value = {};
    compileSchema(schema, { useDefaults: true });
    compileSchema({ ...schema })(value);
    expect(value).toEqual({});
  });

  it('refuses $async, whose validator would return a promise', () => {
    expect(() => compileSchema({ $async: true, type: 'object' })).toThrow('$async');
  });
});

it('problemsOf gives the path, the expected and the actual value', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      items: { type: 'array', items: { type: 'object', properties: { 'a/b': { type: 'number' } } } },
      kind: { enum: ['spot', 'future'] },
    },
    required: ['kind', 'price'],
    additionalProperties: false,
  };

  const validate = compileSchema(schema);
  const value = { items: [{ 'a/b': '12' }], kind: 'other', extra: 1 };
  validate(value);
  expect(mismatchesIn(validate, value, 'result')).toEqual(
    expect.arrayContaining([
      { path: 'result.price', expected: 'a value (the property is required)', actual: 'nothing' },
      { path: 'result.extra', expected: 'no property with this name', actual: '1' },
      { path: 'result.items[0].a/b', expected: 'type number', actual: '"12"' },
      { path: 'result.kind', expected: 'one of ["spot","future"]', actual: '"other"' },
    ]),
  );
});

describe('mismatches', () => {
  it('is empty if the schema does not compile', () => {
    expect(mismatches({ type: 'nonsense' }, 1, 'x')).toEqual([]);
  });

  it('reports a $ref to itself', () => {
    expect(mismatches({ $ref: '#' }, 1, 'x')).toMatchObject([{ path: 'x', actual: 'endless recursion' }]);
  });
});

describe('small helpers', () => {
  it('shorten limits every text', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => shorten(value, 20).length <= 20));
    expect(shorten(undefined)).toBe('nothing');
    expect(shorten(JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`))).toBe(
      'a value that is cyclic or too deep',
    );
  });

  it('typesOf counts the nullable keyword as null', () => {
    expect(typesOf({ type: 'number', nullable: true })).toEqual(['number', 'null']);
    expect(typesOf({ type: ['number', 'null'], nullable: true })).toEqual(['number', 'null']);
    expect(typesOf({})).toEqual([]);
  });

  it('present drops undefined and keeps null', () => {
    expect(present({ a: 1, b: undefined, c: null })).toEqual({ a: 1, c: null });
  });
});
