import { describe, expect, it } from 'vitest';
import { fitToSchema } from '../../packages/runtime/src/source/fit-to-schema.ts';
import { seenIn } from '../../src/import/schema-update.ts';
import { withSignals } from '../../src/tools/definition.ts';

const inputSchema = { type: 'object', properties: { page: { type: 'integer', minimum: 1 } } };
const text = withSignals({ properties: { result: { type: 'string' } }, required: ['result'] });
const seen = (answers: readonly string[], outputSchema = text, wrap = 'text') => {
  const tool = { inputSchema, outputSchema, wrap, takesPages: false };
  return seenIn(
    tool,
    answers.map((result) => ({ value: { result } })),
  );
};

describe('a text that is JSON', () => {
  it('gives typed fields, which may be null, with integers of any size', () => {
    const { schema, wrap } = seen(['{"id": 9007199254740993, "price": 1.5}', ' {"id": 7, "price": 2}']);
    expect(wrap).toBeNull();
    expect(schema).toMatchObject({
      properties: { id: { type: ['integer', 'string', 'null'] }, price: { type: ['number', 'null'] } },
      required: ['id', 'price'],
    });
    expect(schema.properties).not.toHaveProperty('result');
    expect(schema.properties).toHaveProperty('searchExhausted');
  });

  it('that is a list gives items and count; a map stays the result', () => {
    expect(seen(['[{"id": "a"}]'])).toMatchObject({
      wrap: 'items',
      schema: { required: ['items', 'count'], properties: { count: { type: ['integer', 'null'] } } },
    });
    const map = seen(['{"2026-01-01": {"usd": 1}, "2026-01-02": {"usd": 2}}']);
    expect(map).toMatchObject({ wrap: 'result', schema: { properties: { result: { type: 'object' } } } });
  });

  it.each([
    ['a text', ['Base costs 0.02 gwei.']],
    ['a text beside JSON', ['{"a": 1}', 'no data']],
    ['a number', ['7']],
    ['JSON that does not end', ['{"a": ']],
    ['a failure', ['{"error": "rate limited"}']],
    ['nothing', ['{}']],
  ])('is no proposal if it is %s', (_, answers) => {
    expect(seen(answers)).toEqual({ schema: text });
  });

  it('is no proposal if the API answers with this text in a member', () => {
    expect(seen(['{"a": 1}'], text, 'result')).toEqual({ schema: text });
  });
});

describe('headers of pages', () => {
  const outputSchema = withSignals({ properties: { count: { type: 'integer' } }, required: ['count'] });
  const of = (headers: { [name: string]: string }, takesPages = true, schema = outputSchema) =>
    seenIn({ inputSchema, outputSchema: schema, wrap: 'items', takesPages }, [
      { value: { count: 1 }, headers },
    ]);

  it('give the members that they fill', () => {
    const { schema, pages } = of({ link: '<?page=2>; rel="next"' });
    expect(pages).toBe(true);
    expect(schema.properties).toMatchObject({ next: { properties: { page: { type: 'integer' } } } });
    expect(schema.properties).not.toHaveProperty('total');
    expect(of({ 'x-total-count': '3' }).schema.properties).not.toHaveProperty('next');
  });

  it('change nothing for a request that cannot ask for pages, and beside members of these names', () => {
    expect(of({ link: '<?page=2>; rel="next"' }, false)).toEqual({ schema: outputSchema });
    const own = {
      ...outputSchema,
      properties: { ...(outputSchema.properties as object), total: {} },
    } as never;
    expect(of({ 'x-total': '3' }, true, own)).toEqual({ schema: own });
  });
});

describe('members that are missing', () => {
  const part = (required: boolean) => ({
    properties: {
      pair: {
        type: ['object', 'null'],
        properties: Object.fromEntries([...'abc'].map((name) => [name, { type: ['integer', 'null'] }])),
        required: [...'abc'],
      },
      id: { type: ['integer', 'null'] },
    },
    required: required ? ['id', 'pair'] : ['id'],
  });
  const subsets = ['', 'a', 'ab', 'abc'].flatMap((names) =>
    [true, false].map((isRequired) => ({ names, isRequired })),
  );

  it.each(subsets)(
    'change the schema only where the source kit takes no null for them: $names, $isRequired',
    ({ names, isRequired }) => {
      const outputSchema = withSignals(part(isRequired));
      const value = { id: 1, pair: Object.fromEntries([...names].map((name) => [name, 1])) };
      const { schema } = seenIn({ inputSchema, outputSchema, wrap: undefined, takesPages: false }, [
        { value },
      ]);
      const tolerance = { drift: undefined, keepsDeclaredOnly: false, signal: undefined };
      const { mismatch, value: taken } = fitToSchema(value, outputSchema as never, 100, tolerance);
      const isWhole = mismatch === null && (taken as typeof value).pair !== null;
      expect(schema === outputSchema || JSON.stringify(schema) === JSON.stringify(outputSchema)).toBe(
        isWhole,
      );
    },
  );
});

describe('a value that a list of values lacks', () => {
  const schemaWith = (level: object, value: unknown) => {
    const outputSchema = withSignals({ properties: { level: level as never }, required: ['level'] });
    const tool = { inputSchema, outputSchema, wrap: undefined, takesPages: false };
    return seenIn(tool, [{ value: { level: value as never } }]).schema.properties;
  };

  it.each([
    ['another word', { type: 'string', enum: ['a', 'b'] }, 'c', ['string', 'null']],
    ['a number', { type: 'string', enum: ['a', 'b'] }, 1, ['string', 'null', 'number']],
    ['another word than the only one', { const: 'a' }, 'b', ['string', 'null']],
  ])('removes the list: %s', (_, level, value, type) => {
    expect(schemaWith(level, value)).toMatchObject({ level: { type } });
    expect(schemaWith(level, value)).not.toHaveProperty('level.enum');
    expect(schemaWith(level, value)).not.toHaveProperty('level.const');
  });

  it('is added to the list if it is null', () => {
    const level = { type: 'string', enum: ['a', 'b'] };
    expect(schemaWith(level, null)).toMatchObject({
      level: { type: ['string', 'null'], enum: ['a', 'b', null] },
    });
  });
});

describe('a member that was an empty text', () => {
  const note = { type: ['string', 'object', 'array', 'null'], description: 'A note' };
  const outputSchema = withSignals({ properties: { note }, required: ['note'] });
  const noteWith = (...values: readonly never[]) =>
    seenIn(
      { inputSchema, outputSchema, wrap: undefined, takesPages: false },
      values.map((value) => ({ value: { note: value } })),
    ).schema.properties;

  it('is narrowed to what an answer has in its place', () => {
    expect(noteWith('x' as never)).toMatchObject({
      note: { type: ['string', 'null'], description: 'A note' },
    });
    expect(noteWith({ item: [{ id: 'a' }] } as never)).toMatchObject({
      note: { type: ['object', 'string', 'null'], properties: { item: { items: { required: ['id'] } } } },
    });
    expect(noteWith(['a'] as never)).toMatchObject({
      note: { type: ['array', 'string', 'null'], items: { type: 'string' } },
    });
  });

  it('stays as it is while it is empty', () => {
    expect(noteWith('' as never, null as never)).toMatchObject({ note });
  });
});
