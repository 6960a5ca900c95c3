import { describe, expect, test } from 'vitest';
import { doublingSchema } from '../../../packages/contract/src/json/recursion.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';

const self = { $ref: '#/definitions/node' };
const object = (properties: JsonObject, more: JsonObject = {}) => ({ type: 'object', properties, ...more });
const placeOf = (node: JsonObject, definitions: JsonObject = {}) => {
  const schema = { ...object({ root: self }), definitions: { ...definitions, node } };
  return doublingSchema(schema, 'inputSchema')?.path;
};

describe('a schema that refers to itself in two ways for the same part of a value', () => {
  test.each<[string, JsonObject, JsonObject?]>([
    ['alternatives', { anyOf: [object({ not: self, a: {} }), object({ not: self, b: {} })] }],
    [
      'kinds',
      { oneOf: [object({ op: { const: 'and' }, of: { items: self } }), object({ of: { items: self } })] },
    ],
    ['a condition', { if: object({ not: self }), else: object({ not: self }) }],
    ['a negation', { ...object({ not: self }), not: object({ not: self }) }],
    ['all of it', { allOf: [object({ not: self }), object({ not: self })] }],
    [
      'a declared and any other member',
      { anyOf: [object({ a: self }), object({ b: {} }, { additionalProperties: self })] },
    ],
    [
      'any other member twice',
      { anyOf: [{ additionalProperties: self }, { additionalProperties: self, properties: {} }] },
    ],
    ['patterns', { anyOf: [{ patternProperties: { '^a': self } }, { patternProperties: { '^a': self } }] }],
    ['items and contains', { type: 'array', items: self, contains: self }],
    ['an item and all items', { anyOf: [{ items: [{}, self] }, { items: self }] }],
    ['dependencies', { ...object({ not: self }), dependencies: { a: object({ not: self }) } }],
    [
      'two references',
      { anyOf: [{ $ref: '#/definitions/other' }, { $ref: '#/definitions/other' }] },
      { other: object({ not: self }) },
    ],
    [
      'a longer way',
      { anyOf: [object({ a: object({ b: self }) }), object({ a: { $ref: '#/definitions/other' } })] },
      { other: object({ b: self }) },
    ],
    ['the root', object({ of: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } })],
  ])('is found: %s', (_, node, definitions) => {
    expect(placeOf(node, definitions)).toMatch(/^inputSchema/);
  });

  test.each<[string, JsonObject, JsonObject?]>([
    [
      'any JSON',
      {
        anyOf: [
          { type: ['string', 'null'] },
          { type: 'array', items: self },
          { type: 'object', additionalProperties: self },
        ],
      },
    ],
    ['a tree', { anyOf: [object({ left: self, right: self }), { type: 'null' }] }],
    ['a list', { anyOf: [object({ next: self }), { type: 'null' }] }],
    [
      'filters with names',
      { anyOf: [object({ and: { items: self } }), object({ or: { items: self } }), object({ not: self })] },
    ],
    ['a member and all others', object({ a: self }, { additionalProperties: self })],
    ['the first and the other items', { items: [self], additionalItems: self }],
    [
      'two ways that part',
      { anyOf: [object({ a: object({ b: self }) }), object({ a: object({ c: self }) })] },
    ],
    ['alternatives that end', { anyOf: [object({ a: self }), object({ a: { type: 'string' } })] }],
    [
      'no recursion',
      { anyOf: [object({ a: { $ref: '#/definitions/x' } }), object({ a: { $ref: '#/definitions/x' } })] },
      { x: object({}) },
    ],
    ['an endless reference', { anyOf: [self, self] }],
    [
      'a reference to nothing',
      { anyOf: [object({ a: { $ref: '#/definitions/y' } }), { $ref: 'https://tools.example/x' }] },
    ],
  ])('is not found: %s', (_, node, definitions) => {
    expect(placeOf(node, definitions)).toBeUndefined();
  });

  test('is searched for with a limit', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 4_000 }, (_, index) => {
        const next = { $ref: `#/definitions/n${index + 1}` };
        return [`n${index}`, { allOf: [next, next], properties: { a: next } }];
      }),
    );
    expect(placeOf({ $ref: '#/definitions/n0' }, chain)).toBeUndefined();
  });
});
