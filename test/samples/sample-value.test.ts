import { Ajv } from 'ajv';
import ajvFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { sampleValue, samplingOf } from '../../src/samples/sample-value.ts';

/** A separate validator with the settings of the MCP SDK's client. */
const judge = new Ajv({ strict: false, validateSchema: false, allErrors: true, logger: false });
(ajvFormats as unknown as typeof ajvFormats.default)(judge);

const sampleOf = (schema: JsonObject, index = 0) => sampleValue(schema, samplingOf(schema, index));

describe('a sample value', () => {
  it.each<[JsonObject, Json]>([
    [{ type: 'string' }, 'sample'],
    [{ type: 'integer' }, 1],
    [{ type: 'number', minimum: 5 }, 5],
    [{ type: 'boolean' }, true],
    [{ type: ['number', 'null'] }, 1],
    [{ type: 'null' }, null],
    [{ type: 'string', default: 'd', examples: ['x', 'y'] }, 'd'],
    [{ type: 'string', examples: ['x', 'y'] }, 'x'],
    [{ type: ['string', 'null'], enum: [null, 'b'] }, 'b'],
    [{ const: 7 }, 7],
    [{ type: 'string', default: 7 as Json, examples: ['x'] }, 'x'],
    [{ type: 'array', items: { type: 'string' } }, ['sample']],
    [{ type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } }, {}],
    [{ type: 'object', propertyNames: { format: 'uri' }, additionalProperties: { type: 'number' } }, {}],
    [{ anyOf: [{ type: 'null' }, { anyOf: [{ type: 'string', format: 'date' }] }] }, '2026-01-01'],
  ])('of %j is %j', (schema, value) => {
    expect(sampleOf(schema)).toEqual(value);
  });

  it.each<JsonObject>([
    { type: 'string', pattern: '^0x[a-fA-F0-9]{40}$' },
    { type: 'string', pattern: '^[0-9a-fA-F]+$', minLength: 40, maxLength: 40 },
    { type: 'string', minLength: 10, maxLength: 12 },
    { type: 'integer', minimum: 5, multipleOf: 7 },
    { type: 'number', exclusiveMinimum: 3, exclusiveMaximum: 3.5 },
    { type: 'array', minItems: 3, uniqueItems: true, items: { type: 'integer' } },
    { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { required: ['a'] }] },
    { type: 'object', minProperties: 1, additionalProperties: { type: 'number' } },
    {
      $ref: '#/definitions/tree',
      definitions: {
        tree: {
          type: 'object',
          properties: { left: { $ref: '#/definitions/tree' }, right: { $ref: '#/definitions/tree' } },
        },
      },
    },
    {
      $ref: '#/definitions/a',
      definitions: { a: { anyOf: [{ $ref: '#/definitions/b' }] }, b: { type: 'string' } },
    },
  ])('of %j matches it', (schema) => {
    const value = sampleOf(schema);
    expect(value).toBeDefined();
    expect(judge.validate(schema, value)).toBe(true);
    expect(sampleOf(schema)).toEqual(value);
  });

  it.each(Object.keys(judge.formats))('has the format %s', (format) => {
    const schema = { type: 'string', format };
    expect(judge.validate(schema, sampleOf(schema))).toBe(true);
  });

  it.each<JsonObject>([
    { type: 'string', pattern: '^\\p{Lu}(?<=x)$' },
    { type: 'string', minLength: 1e9 },
    { type: 'array', minItems: 1e9 },
    { not: {} },
    { $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/a' } } },
  ])('of %j is not found', (schema) => {
    expect(sampleOf(schema)).toBeUndefined();
  });

  it('uses another example for another index', () => {
    const schema = { type: 'string', examples: ['x', 'y'] };
    expect([0, 1, 2].map((index) => sampleOf(schema, index))).toEqual(['x', 'y', 'x']);
  });
});
