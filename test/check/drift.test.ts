import { describe, expect, it } from 'vitest';
import { changesBetween } from '../../packages/contract/src/check/drift.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { ToolDefinition } from '../../packages/contract/src/model.ts';
import { changesSince } from '../../src/check/files.ts';
import { listedOf } from '../../src/project/manifest/listed.ts';
import fc from '../fast-check.ts';

const tool = {
  name: 'get_price',
  description: 'Returns a price.',
  inputSchema: { type: 'object', properties: { symbol: { type: 'string' } }, required: [] },
  outputSchema: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] },
};

function input(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { ...tool, inputSchema: { type: 'object', properties, required } };
}

function output(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { ...tool, outputSchema: { type: 'object', properties, required } };
}

/** The changes between two versions of a tool: where, what, and whether they break callers. */
function told(before: Json, after: Json) {
  return changesBetween([before], [after]).map(({ path, what, breaks }) => [path, what, breaks]);
}

describe('drift', () => {
  it('is empty between a list and itself, in any order', () => {
    const other = { ...tool, name: 'other' };
    expect(changesBetween([tool, other], [other, tool])).toEqual([]);
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        (list) => changesBetween(list as Json[], list as Json[]).length === 0,
      ),
    );
  });

  it('reports added and removed tools', () => {
    expect(changesBetween([tool], [{ ...tool, name: 'new' }])).toEqual([
      { tool: 'get_price', breaks: true, what: 'the tool was removed' },
      { tool: 'new', breaks: false, what: 'the tool is new' },
    ]);
  });

  const { inputSchema, outputSchema } = tool;
  const symbol = { type: 'string' };
  const price = { type: 'number' };
  const inp = 'inputSchema.properties';
  const out = 'outputSchema.properties';
  it.each<[string, Json, Json, unknown[]]>([
    ['a new optional parameter', tool, input({ symbol, market: symbol }), [[`${inp}.market`, 'new', false]]],
    [
      'a new required parameter',
      tool,
      input({ symbol, market: symbol }, ['market']),
      [[`${inp}.market`, 'new and required', true]],
    ],
    ['a parameter that is gone', tool, input({}), [[`${inp}.symbol`, 'removed', true]]],
    [
      'a parameter that is demanded now',
      tool,
      input({ symbol }, ['symbol']),
      [[`${inp}.symbol`, 'required now', true]],
    ],
    [
      'a parameter that is demanded no more',
      input({ symbol }, ['symbol']),
      tool,
      [[`${inp}.symbol`, 'no longer required', false]],
    ],
    [
      'a parameter of another type',
      tool,
      input({ symbol: { type: 'number' } }),
      [[`${inp}.symbol.type`, 'changed', true]],
    ],
    [
      'a parameter of more types',
      tool,
      input({ symbol: { type: ['string', 'null'] } }),
      [[`${inp}.symbol.type`, 'changed', false]],
    ],
    [
      'an integer parameter that may be any number',
      input({ n: { type: 'integer' } }),
      input({ n: { type: 'number' } }),
      [[`${inp}.n.type`, 'changed', false]],
    ],
    [
      'fewer allowed values',
      input({ symbol: { enum: ['a', 'b'] } }),
      input({ symbol: { enum: ['a'] } }),
      [[`${inp}.symbol.enum`, 'changed', true]],
    ],
    [
      'more allowed values',
      input({ symbol: { enum: ['a'] } }),
      input({ symbol: { enum: ['b', 'a'] } }),
      [[`${inp}.symbol.enum`, 'changed', false]],
    ],
    [
      'a new pattern',
      tool,
      input({ symbol: { ...symbol, pattern: '^A' } }),
      [[`${inp}.symbol.pattern`, 'new', true]],
    ],
    [
      'another default',
      tool,
      input({ symbol: { ...symbol, default: 'BTC' } }),
      [[`${inp}.symbol.default`, 'new', false]],
    ],
    [
      'a new output field',
      output({ price }),
      output({ price, volume: price }),
      [[`${out}.volume`, 'new', false]],
    ],
    ['an output field that is gone', output({ price }), output({}), [[`${out}.price`, 'removed', true]]],
    [
      'an output field that may be null now',
      output({ price }),
      output({ price: { type: ['number', 'null'] } }),
      [[`${out}.price.type`, 'changed', true]],
    ],
    [
      'the same by the keyword nullable',
      output({ price }),
      output({ price: { ...price, nullable: true } }),
      [],
    ],
    [
      'an output field that is never null now',
      output({ price: { type: ['number', 'null'] } }),
      output({ price }),
      [[`${out}.price.type`, 'changed', false]],
    ],
    [
      'an output field that may be missing now',
      tool,
      output({ price }),
      [[`${out}.price`, 'no longer required', true]],
    ],
    [
      'a new output value',
      output({ price: { enum: [1] } }),
      output({ price: { enum: [1, 2] } }),
      [[`${out}.price.enum`, 'changed', true]],
    ],
    [
      'items of another type',
      output({ price: { type: 'array', items: price } }),
      output({ price: { type: 'array', items: symbol } }),
      [[`${out}.price.items.type`, 'changed', true]],
    ],
    [
      'another description',
      tool,
      { ...tool, description: 'Returns the price.' },
      [['description', 'changed', false]],
    ],
    ['other _meta', tool, { ...tool, _meta: { surface: 'both' } }, [['_meta', 'new', false]]],
    [
      'no schemas at all',
      { name: 'get_price', inputSchema, outputSchema },
      { name: 'get_price' },
      [
        ['inputSchema.type', 'removed', false],
        [`${inp}.symbol`, 'removed', true],
        ['outputSchema.type', 'removed', true],
        [`${out}.price`, 'removed', true],
      ],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(told(before, after)).toEqual(expected);
  });

  it('never throws for any two lists', () => {
    const list = fc.array(
      fc.oneof(
        fc.jsonValue(),
        fc.record({
          name: fc.constantFrom('a', '__proto__'),
          inputSchema: fc.jsonValue(),
          outputSchema: fc.jsonValue(),
        }),
      ),
    );
    fc.assert(
      fc.property(list, list, (before, after) =>
        Array.isArray(changesBetween(before as Json[], after as Json[])),
      ),
    );
  });
});

describe('drift from fingerprints', () => {
  const recorded = (...tools: readonly ToolDefinition[]) =>
    listedOf(tools.map((definition) => ({ name: definition.name, definition })));
  const listed = recorded(tool, { ...tool, name: 'get_volume' });

  it('is empty if the definitions equal the recorded ones, in any order', () => {
    const turned = Object.fromEntries(Object.entries(tool).toReversed());
    expect(changesSince(listed, [{ ...tool, name: 'get_volume' }, turned])).toEqual([]);
  });

  it('reports changed tools without the effect on callers', () => {
    const changed = { ...tool, description: 'Returns another price.' };
    expect(changesSince(listed, [{ ...tool, name: 'new' }, changed])).toEqual([
      { tool: 'get_volume', breaks: true, what: 'the tool was removed' },
      { tool: 'get_price', breaks: null, what: 'changed' },
      { tool: 'new', breaks: false, what: 'the tool is new' },
    ]);
  });

  it('never throws for any list', () => {
    const element = fc.oneof(
      fc.jsonValue(),
      fc.record({ name: fc.constantFrom('get_price', '__proto__', 'constructor') }),
    );
    fc.assert(
      fc.property(fc.array(element), (tools) => Array.isArray(changesSince(listed, tools as Json[]))),
    );
  });
});
