import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { OpenApiDocument } from '../../src/import/openapi/document.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { checkedDocument, operationsOf } from '../../src/import/openapi/operations.ts';
import { nothingBeside } from '../../src/import/openapi/references.ts';
import { base, documentOf, ok, read, refusalOf, toolOf } from './openapi.ts';

/** A document whose clock goes on by 100 ms with each reference that is looked at. */
function slowDocument(paths: object, components: object = {}): OpenApiDocument {
  let time = 0;
  const now = () => {
    time += 100;
    return time;
  };
  const others = { ...nothingBeside, read: new Map() };
  return new OpenApiDocument({ ...base, paths, components } as JsonObject, '3.1', others, now);
}

const objectOf = (names: readonly string[], schema: object = { type: 'string' }) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, schema])),
});
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`);

describe('a document that costs too much', () => {
  it('gives no tool for an operation that takes more than 5 s, which is named, and one for another', () => {
    const paths = {
      '/large': { get: { operationId: 'getLarge', responses: ok(objectOf(numbered(60))) } },
      '/small': { get: { operationId: 'getSmall', responses: ok(objectOf(numbered(20))) } },
    };
    const choose = (operations: readonly string[]) =>
      toolsOfDocument(slowDocument(paths), { operations, tool: null }, 'api.json', null);
    expect(choose(['getSmall'])).toMatchObject({ ok: true });
    expect(choose(['getLarge', 'getSmall'])).toMatchObject({
      ok: false,
      errors: [
        {
          where: expect.stringMatching(/^api\.json#\/paths\/~1large\/get\/responses\/200\//),
          value: '"getLarge"',
          message: 'cannot be a tool: it is too large to be read in 5 s',
        },
      ],
    });
  });

  it('is refused if listing it takes more than 10 s', () => {
    const pathsOf = (count: number) =>
      Object.fromEntries(numbered(count).map((name) => [`/${name}`, { get: { responses: ok() } }]));
    expect(checkedDocument(slowDocument(pathsOf(40)), 'api.json').ok).toBe(true);
    expect(checkedDocument(slowDocument(pathsOf(120)), 'api.json')).toMatchObject({
      ok: false,
      errors: [{ where: 'api.json#/paths/~1m99', message: 'it is too large to be read in 10 s' }],
    });
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
    expect(changes.map(({ what }) => what)).toContain('is nested too deep: its members were left out');
  });

  it('has no operation at a path of more than 2,000 characters', async () => {
    const document = await read({ ...base, paths: { [`/${'{a}'.repeat(700)}`]: { get: {} } } });
    expect(operationsOf(document)).toEqual([]);
  });
});
