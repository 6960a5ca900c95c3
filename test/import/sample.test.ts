import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { compileSchema } from '../../packages/contract/src/json/compile.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { parseFields } from '../../src/fields/language.ts';
import { schemaOfValues } from '../../src/import/infer.ts';
import { toolOfSamples } from '../../src/import/sample.ts';
import type { Field } from '../../src/model/tool-model.ts';
import { preparedOf } from './prepared.ts';

const description = 'Returns the gas price of a chain. Use it when a question asks what a transaction costs.';

function toolOf(values: readonly Json[], input: readonly Field[] = []) {
  const samples = values.map((value, i) => ({ name: `${i}.json`, value }));
  return unwrap(toolOfSamples(samples, { name: 'get_gas', input }, () => description));
}

function madeOf(values: readonly Json[], input: readonly Field[] = []) {
  const prepared = preparedOf([toolOf(values, input)]);
  const [tool = expect.fail('no tool')] = prepared.tools;
  return { tool, ...prepared };
}

const propertiesOf = (values: readonly Json[]) =>
  madeOf(values).tool.definition.outputSchema.properties as { [name: string]: JsonObject };

describe('samples of one answer, merged', () => {
  // realistic-samples.test.ts has united types, lists, maps and what is refused.
  it('require what no object lacks, at every level', () => {
    const schema = schemaOfValues([{ quote: { bid: 1, ask: 2 } }, { quote: { bid: 1 }, note: 'x' }]);
    expect(schema).toMatchObject({ required: ['quote'], properties: { quote: { required: ['bid'] } } });
  });

  it('leave unknown types open, and report them', () => {
    const schema = schemaOfValues([{ note: null, rows: [] }]);
    expect((schema.properties as JsonObject).note).toEqual({
      description: 'TODO: what note means, with its unit, and its type: the samples contain no value.',
    });
    expect((schema.properties as JsonObject).rows).toMatchObject({
      type: ['array', 'null'],
      items: {},
    });
  });

  it.each([
    ['2026-01-15T12:00:00Z', 'date-time'],
    ['2026-01-15T12:00:00.123+01:00', 'date-time'],
    ['2026-01-15', 'date'],
    ['2026-01-15T12:00:00', undefined],
    ['2026-13-45', undefined],
    ['2026-01-15T99:00:00Z', undefined],
    ['15 Jan 2026', undefined],
  ])('infer %s as format %s', (text, format) => {
    expect(schemaOfValues([text]).format).toBe(format);
  });

  it('infer a format only if all values have it', () => {
    expect(schemaOfValues(['2026-01-15', 'never']).format).toBeUndefined();
  });

  it('describe repeated words, and admit others', () => {
    const levels = ['low', 'high', 'low', 'high', 'high', 'low'];
    expect(schemaOfValues(levels, { name: 'level' })).toEqual({
      type: ['string', 'null'],
      description: 'TODO: what level means, with its unit. Values so far: high, low.',
      examples: ['high', 'low'],
    });
    const sky = { first: ['Clear', 'Clear', 'Clouds', 'Clouds', 'Rain', 'Rain'], next: 'Snow' };
    const list = (words: readonly string[]) => ({ list: words.map((main) => ({ main })) });
    expect(compileSchema(schemaOfValues([list(sky.first)]))(list([sky.next]))).toBe(true);
  });

  it('admit an object or a list where there was only an empty text', () => {
    const schema = schemaOfValues([{ id: 'a', items: '' }]);
    expect(schema).toMatchObject({
      properties: {
        id: { type: ['string', 'null'] },
        items: { type: ['string', 'object', 'array', 'null'] },
      },
    });
    const validate = compileSchema(schema);
    for (const items of ['', 'x', { item: [1] }, [1, 2], null])
      expect(validate({ id: 'b', items })).toBe(true);
    expect(validate({ id: 'b', items: 1 })).toBe(false);
    expect(schemaOfValues([{ note: '' }, { note: 'x' }])).toMatchObject({
      properties: { note: { type: ['string', 'null'] } },
    });
    expect(schemaOfValues([{ message: '' }])).toMatchObject({
      properties: { message: { type: ['string', 'null'] } },
    });
  });

  it.each([
    ['few values', ['low', 'high', 'low']],
    ['a value that came once', ['low', 'high', 'low', 'high', 'low', 'other']],
    ['one value throughout', ['low', 'low', 'low', 'low', 'low', 'low']],
    ['sentences', ['so so', 'so so', 'so so', 'a b', 'a b', 'a b']],
  ])('do not describe %s', (_, values) => {
    expect(schemaOfValues(values).examples).toBeUndefined();
  });
});

describe('a tool from samples', () => {
  it('has an outputSchema that accepts every sample and all three outcomes', () => {
    const values: readonly JsonObject[] = [
      { chain: 'base', gwei: 12, at: '2026-01-15T12:00:00Z', tiers: [{ name: 'fast', wei: 1 }] },
      { chain: 'ethereum', gwei: 30.5, at: '2026-01-15T12:00:00Z', tiers: [], note: null },
      { chain: 'polygon', gwei: null, at: '2026-01-15T12:00:00Z', tiers: [{ name: 'slow', wei: 0.5 }] },
    ];
    const { tool, changes } = madeOf(values);
    const validate = compileSchema(tool.definition.outputSchema);
    for (const value of values) expect(validate(value), JSON.stringify(value)).toBe(true);
    expect(validate({ ...values[0], gwei: '12' })).toBe(false);
    expect(validate({ chain: null, gwei: null, at: null, tiers: [], error: 'X', message: 'x' })).toBe(true);
    expect(changes).toEqual([]);
  });

  it('answers with the samples: each key with the one that contains it, any other with the first', () => {
    const input = unwrap(parseFields(['chain:string(base|ethereum|atlantis)=base The chain'], '--input'));
    const { tool } = madeOf(
      [
        { chain: 'ethereum', gwei: 30 },
        { chain: 'base', gwei: 12 },
      ],
      input,
    );
    expect(tool.samples).toEqual([
      { key: 'base', answer: { chain: 'base', gwei: 12 } },
      { key: 'ethereum', answer: { chain: 'ethereum', gwei: 30 } },
      { key: 'atlantis', answer: { chain: 'atlantis', gwei: 30 } },
    ]);
  });

  it('wraps a list, and shortens the lists of the sample data', () => {
    const list = Array.from({ length: 50 }, (_, id) => ({ id, tags: ['a', 'b', 'c', 'd'] }));
    const { tool } = madeOf([list]);
    expect(tool.definition.outputSchema.required).toEqual(['items', 'count']);
    expect(tool.samples[0]?.answer).toEqual({
      items: [0, 1, 2].map((id) => ({ id, tags: ['a', 'b', 'c'] })),
      count: 3,
    });
  });

  it('marks its descriptions as to-dos, which the check reports', () => {
    const { advice } = madeOf([{ gwei: 1, tier: { name: 'x' } }]);
    const toDo = advice.find(({ message }) => message.includes('tool.to-do'));
    expect(toDo?.where).toBe('get_gas.outputSchema.properties.gwei.description');
    expect(toDo?.message).toContain('fails tool.to-do in 3 places');
  });

  it('omits members that callers would read as a failure, and reports them', () => {
    const { tool, changes } = madeOf([{ error: false, message: 'fine', gwei: 1 }]);
    expect(changes.map(({ path }) => path)).toEqual(['outputSchema.properties.error']);
    expect(tool.samples[0]?.answer).toEqual({ message: 'fine', gwei: 1 });
    expect(propertiesOf([{ error: 'none', gwei: 1 }]).error?.description).toMatch(/^Code of the failure/);
  });
});
