import { describe, expect, it } from 'vitest';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { checkedDocument, operationsOf } from '../../src/import/openapi/operations.ts';
import { base, documentOf, ok, read, refusalOf, toolOf } from './openapi.ts';

const objectOf = (names: readonly string[], schema: object = { type: 'string' }) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, schema])),
});
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`);

/** Paths with an operation of their own, which has a response. */
const pathsOf = (count: number) =>
  Object.fromEntries(numbered(count).map((name) => [`/${name}`, { get: { responses: ok() } }]));

/** Operations whose answer refers 100 and 2,000 times to a schema. */
const referring = (schema: object) => {
  const answerWith = (count: number) => ok(objectOf(numbered(count), { $ref: '#/components/schemas/Part' }));
  const paths = {
    '/large': { get: { operationId: 'getLarge', responses: answerWith(2_000) } },
    '/small': { get: { operationId: 'getSmall', responses: answerWith(100) } },
  };
  return { ...base, paths, components: { schemas: { Part: schema } } };
};

describe('a document that costs too much', () => {
  it.each([
    ['1,000 keywords', { type: 'string', ...Object.fromEntries(numbered(1_000).map((name) => [name, 1])) }],
    ['an enum of 1,000 texts', { type: 'string', enum: numbered(1_000) }],
    ['1,000 names of required members', { type: 'object', required: numbered(1_000) }],
    ['a description of 100,000 characters', { type: 'string', description: 'x'.repeat(100_000) }],
    ['a member with a name of 100,000 characters', objectOf(['x'.repeat(100_000)])],
    ['an example of 1,000 values', { type: 'string', example: [[[numbered(1_000)]]] }],
  ])('gives no tool for an operation that refers 2,000 times to %s', async (_, schema) => {
    const document = await read(referring(schema));
    const choose = (operations: readonly string[]) =>
      toolsOfDocument(document, { operations, tool: null }, 'api.json', null);
    expect(choose(['getSmall'])).toMatchObject({ ok: true });
    expect(choose(['getLarge', 'getSmall'])).toMatchObject({
      ok: false,
      errors: [
        {
          where: expect.stringMatching(/^api\.json#\//),
          value: '"getLarge"',
          message: 'cannot be a tool: it has more than 1,000,000 values, counted at each reference',
          hint: 'Choose another operation, or write this tool by hand.',
        },
      ],
    });
  });

  it('is refused if its list of operations has more than 5,000,000 values', async () => {
    const part = { parameters: numbered(1_000) };
    const paths = Object.fromEntries(numbered(5_000).map((name) => [`/${name}`, { $ref: '#/x-part' }]));
    expect(checkedDocument(await read({ ...base, paths, 'x-part': part }), 'api.json')).toMatchObject({
      ok: false,
      errors: [
        {
          where: 'api.json#/x-part',
          message: 'it has more than 5,000,000 values, counted at each reference',
          hint: 'Remove operations that you do not need from the document.',
        },
      ],
    });
  });

  it('is listed if it has as many operations as the largest public document, 22,000', async () => {
    const document = await read({ ...base, paths: pathsOf(22_000) });
    expect(checkedDocument(document, 'api.json').ok).toBe(true);
    expect(operationsOf(document)).toHaveLength(22_000);
  });

  it('gives no tool for an object with more than 10,000 members', async () => {
    const refused = await refusalOf(documentOf({ responses: ok(objectOf(numbered(10_000))) }));
    expect(refused?.message).toContain('its schema has more than 10000 members');
  });

  it('is read where each of 12 schemas refers to the next one 30 times', async () => {
    const ref = (i: number) => ({ $ref: `#/components/schemas/S${i}` });
    const schemas = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`S${i}`, objectOf(numbered(30), ref(i + 1))]),
    );
    const document = documentOf(
      { responses: ok(ref(0)) },
      { components: { schemas: { ...schemas, S12: { type: 'string' } } } },
    );
    const { tool, outputs, changes } = await toolOf(document);
    expect(outputs).toHaveProperty('m29');
    expect(JSON.stringify(tool.definition.outputSchema).length).toBeLessThan(50_000);
    expect(changes.map(({ what }) => what)).toContain('is nested too deep: its members are not described');
  });

  it('has no operation at a path of more than 2,000 characters', async () => {
    const document = await read({ ...base, paths: { [`/${'{a}'.repeat(700)}`]: { get: {} } } });
    expect(operationsOf(document)).toEqual([]);
  });
});
