import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { generic } from '../../../packages/contract/src/platforms/all.ts';
import { sampleArguments } from '../../../packages/contract/src/platforms/sample-arguments.ts';
import fc from '../../fast-check.ts';

const { smoke } = generic;

/** The sample of one required property. */
function sampleOf(property: JsonObject): unknown {
  return sampleArguments({ type: 'object', properties: { p: property }, required: ['p'] }, smoke).p;
}

describe('sampleArguments', () => {
  it('prefers default, then examples[0], then enum[0]', () => {
    expect(sampleOf({ type: 'string', default: 'd', examples: ['e'], enum: ['f'] })).toBe('d');
    expect(sampleOf({ type: 'string', examples: ['e'], enum: ['f'] })).toBe('e');
    expect(sampleOf({ type: 'string', examples: [], enum: ['f'] })).toBe('f');
    expect(sampleOf({ type: ['string', 'null'], default: null })).toBe(null);
  });

  it.each([
    ['string', 'test'],
    ['number', 1],
    ['integer', 1],
    ['boolean', true],
  ])('sends a fixed %s', (type, expected) => {
    expect(sampleOf({ type })).toBe(expected);
  });

  it('sends one item, and an object of its required properties', () => {
    const row = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['b'],
    };
    expect(sampleOf({ type: 'array', items: row })).toEqual([{ b: 1 }]);
    expect(sampleOf({ type: 'array' })).toEqual([]);
  });

  it('sends {} if there is no single plain type', () => {
    expect(sampleOf({ type: ['string', 'null'] })).toEqual({});
    expect(sampleOf({})).toEqual({});
  });

  it('sends the sample of the whole schema if it has one', () => {
    expect(sampleArguments({ type: 'object', properties: {}, examples: [{ a: 1 }] }, smoke)).toEqual({
      a: 1,
    });
    expect(sampleArguments({ properties: { a: { type: 'string' } }, required: ['a'] }, smoke)).toEqual({});
  });

  it('sends only required properties, or all if required is absent', () => {
    const properties = { a: { type: 'string' }, b: { type: 'boolean' } };
    expect(sampleArguments({ type: 'object', properties, required: [] }, smoke)).toEqual({});
    expect(sampleArguments({ type: 'object', properties, required: ['b', 'c', 5] }, smoke)).toEqual({
      b: true,
    });
    expect(sampleArguments({ type: 'object', properties }, smoke)).toEqual({ a: 'test', b: true });
  });

  it('treats the names of object members like any other name', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}}}',
    );
    const sample = sampleArguments(schema, smoke);
    expect(Object.keys(sample)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(sample)).toBe(Object.prototype);
  });

  it('terminates for any JSON', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('properties', 'required', 'items', 'type'), fc.jsonValue()),
        (schema) => {
          expect(sampleArguments(schema as JsonObject, smoke)).toBeTypeOf('object');
        },
      ),
    );
  });
});
