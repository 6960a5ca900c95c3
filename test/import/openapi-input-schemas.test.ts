import { expect, it } from 'vitest';
import { documentOf, toolOf } from './openapi.ts';

/** The input of a body's member with a schema, and the changes that are listed. */
async function memberOf(schema: object) {
  const whole = { type: 'object', properties: { value: schema } };
  const content = { 'application/json': { schema: whole } };
  const { inputs, changes } = await toolOf(documentOf({ requestBody: { content } }));
  return { input: inputs.value, listed: changes.map(({ what }) => what) };
}

it.each([
  ['2', 'string'],
  [2, 'number'],
  [true, 'boolean'],
])('a const without a type is the only value of its type: %j', async (value, type) => {
  const { input, listed } = await memberOf({ const: value });
  expect(input).toMatchObject({ type, enum: [value] });
  expect(listed).toEqual([]);
});

it.each([
  [{ type: ['integer', 'string'] }, 'string', 'accepts integer or string: callers give string'],
  [
    { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    'string',
    'accepts integer or string: callers give string',
  ],
  [{ type: ['string', 'null'] }, 'string', 'accepts null, which callers cannot give'],
  [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number', 'accepts null, which callers cannot give'],
])('a union of an input has one type, and the others are listed: %j', async (schema, type, note) => {
  const { input, listed } = await memberOf(schema);
  expect(input?.type).toBe(type);
  expect(listed).toContain(note);
});

it('alternatives of objects are merged, those of an object and a list are reduced to the object, and both are listed', async () => {
  const card = {
    type: 'object',
    required: ['number'],
    properties: { kind: { const: 'card' }, number: { type: 'string' } },
  };
  const bank = {
    type: 'object',
    required: ['iban'],
    properties: { kind: { const: 'bank' }, iban: { type: 'string' } },
  };
  const merged = await memberOf({ oneOf: [card, bank] });
  expect(merged.input).toMatchObject({
    properties: { kind: { enum: ['card', 'bank'] }, iban: {}, number: {} },
  });
  expect(merged.listed.join()).toContain('the members of all of them are inputs');
  const reduced = await memberOf({ oneOf: [{ type: 'array', items: { type: 'string' } }, card] });
  expect(reduced.input?.type).toBe('object');
  expect(reduced.listed.join()).toContain('callers give the first object');
});

it.each([
  { type: 'integer', maximum: 50, default: 100 },
  { type: 'string', enum: ['a'], default: 'b' },
])('a default that its schema does not admit is dropped and listed: %j', async (schema) => {
  const { input, listed } = await memberOf(schema);
  expect(input).not.toHaveProperty('default');
  expect(listed).toContain('was dropped: its schema does not admit it');
});

it('members by pattern are members of any name, and that is listed', async () => {
  const { input, listed } = await memberOf({ patternProperties: { '^x-': { type: 'integer' } } });
  expect(input).toMatchObject({ type: 'object', additionalProperties: { type: 'integer' } });
  expect(listed).toContain('is not checked: any name is accepted');
});

it('in an answer, members by pattern do not reject others that the document admits', async () => {
  const schema = {
    type: 'object',
    properties: { gwei: { type: 'number' } },
    patternProperties: { '^x-': { type: 'integer' } },
  };
  const answerOf = (value: object) => ({ 200: { content: { 'application/json': { schema: value } } } });
  const open = await toolOf(documentOf({ responses: answerOf(schema) }));
  expect(open.tool.definition.outputSchema).not.toHaveProperty('additionalProperties.type');
  expect(open.changes.map(({ what }) => what)).toContain('is not checked: any name is accepted');
});

it.each(['not', 'if', 'dependentRequired', 'propertyNames', 'minProperties'])(
  'a keyword that a definition does not express is listed: %s',
  async (keyword) => {
    const { listed } = await memberOf({ type: 'object', properties: {}, [keyword]: { a: ['b'] } });
    expect(listed).toContain('was dropped: only the API checks it');
  },
);

it('an optional parameter that may be null is left out instead, so that nothing is lost', async () => {
  const parameters = [{ name: 'note', in: 'query', schema: { type: ['string', 'null'] } }];
  const { inputs, changes } = await toolOf(documentOf({ parameters }));
  expect(inputs.note?.type).toBe('string');
  expect(changes).toEqual([]);
});
