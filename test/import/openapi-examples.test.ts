import { describe, expect, it } from 'vitest';
import { clientMismatches } from '../../packages/contract/src/json/match.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { initialRecordings } from '../../src/import/api-recordings.ts';
import { schemaOfValues } from '../../src/import/infer.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import type { AnswerSample } from '../../src/import/sample.ts';
import { widened } from '../../src/import/widen.ts';
import fc from '../fast-check.ts';
import { base, documentOf, ok, read, swaggerOf, toolOf } from './openapi.ts';

const node = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Id of the node' },
    size: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
    links: { type: 'object', properties: { self: { type: 'string' } }, required: ['self'] },
  },
  required: ['id', 'size'],
};
const media = (schema: object, more: object) =>
  documentOf({ responses: { 200: { content: { 'application/json': { schema, ...more } } } } });
const pointer = '#/paths/~1gas~1{chain}/get/responses/200/content/application~1json';

/** The tool's told examples, what it records, and its outputSchema. */
async function made(document: object) {
  const { tool, call, changes, outputs } = await toolOf(document);
  const [recording] = initialRecordings(tool, call, context.smoke);
  const { outputSchema } = tool.definition;
  for (const { answer } of tool.samples) expect(clientMismatches(outputSchema, answer, '')).toEqual([]);
  const told = changes.map(({ path, what }) => [path, what]);
  return { told, body: recording?.body, outputs, outputSchema, wrap: call.wrap };
}

describe('an example that contradicts its schema', () => {
  // The first four are the kinds that third-party documents show most.
  it.each([
    [
      'a null',
      { id: 'a', size: null },
      '(example.size: expected type integer, found null): the schema was widened',
      { size: { type: ['integer', 'null'] } },
    ],
    ['a missing member', { id: 'a' }, 'example', { size: { type: 'integer' } }],
    [
      'another type',
      { id: 7, size: 1 },
      'example.id: ',
      { id: { type: ['string', 'number', 'null'], description: 'Id of the node' } },
    ],
    ['a fraction', { id: 'a', size: 1.5 }, 'example', { size: { type: ['number', 'null'] } }],
    [
      'an object in a list',
      { id: 'a', size: 1, tags: [{ a: true }] },
      'example.tags[0]: ',
      { tags: { type: 'array', items: { type: ['string', 'object'] } } },
    ],
    ['a nested one', { id: 'a', size: 1, links: {} }, 'example.links', { links: { required: [] } }],
  ])('by %s is told, widens the schema, and is recorded', async (_, example, mismatch, outputs) => {
    const all = await made(media(node, { example }));
    expect(all.told).toEqual([
      [`${pointer}/example`, expect.stringMatching(/contradicts its schema \(.*\): the schema was widened/)],
    ]);
    expect(all.told[0]?.[1]).toContain(mismatch);
    expect(all.body).toEqual(example);
    expect(all.outputs).toMatchObject(outputs);
  });

  it('is left out, and told, with --strict-schema', async () => {
    const document = await read(media(node, { example: { id: 7, size: 1 } }));
    const tools = toolsOfDocument(document, { operations: ['getGas'], tool: null, isStrict: true }, '', null);
    const [tool] = tools.ok ? tools.value : [];
    expect(tool?.sampleAnswers).toEqual([]);
    expect(tool?.changes[0]?.what).toMatch(
      /contradicts its schema \(example.id: .*\): this example is not used/,
    );
    expect(tool?.entry).toMatchObject({ outputSchema: { properties: { id: { type: ['string', 'null'] } } } });
  });

  it('of another kind is the result, so that it is found as it is', async () => {
    expect(await made(media(node, { example: [{ id: 'a', size: 1 }] }))).toMatchObject({
      wrap: 'result',
      body: [{ id: 'a', size: 1 }],
    });
    expect(await made(media(node, { example: { id: 'a', size: 1, message: 5 } }))).toMatchObject({
      wrap: 'result',
    });
  });

  it('may be one of several, each with its place', async () => {
    const examples = { a: { value: { id: 'a', size: 1 } }, b: { value: { id: 'b', size: null } } };
    const { told, body } = await made(media(node, { examples }));
    expect(told.map(([place]) => place)).toEqual([`${pointer}/examples/b`]);
    expect(body).toEqual({ id: 'a', size: 1 });
  });
});

describe('an example', () => {
  it.each([
    ['is JSON as text', '{"id": "a", "size": 1}', [], { id: 'a', size: 1 }],
    [
      'is another text',
      'a node',
      ['is a text, not the JSON of an answer: this example is not used'],
      undefined,
    ],
    ['is empty', {}, ['is empty: this example is not used'], undefined],
    [
      'is a failure',
      { error: 'not found', code: 404 },
      ['says that the request failed: this example is not used'],
      undefined,
    ],
  ])('that %s', async (_, example, told, body) => {
    const all = await made(media(node, { example }));
    expect(all.told.map(([, what]) => what)).toEqual(told);
    if (body) expect(all.body).toEqual(body);
    else expect(Object.keys(all.body as object)).toContain('size');
  });

  it('of the schema is the answer where its response has none', async () => {
    const example = { id: 'a', size: 3 };
    expect((await made(media({ ...node, example }, {}))).body).toEqual(example);
    expect(
      (await made(media({ ...node, examples: [example] }, { example: { id: 'b', size: 4 } }))).body,
    ).toEqual({ id: 'b', size: 4 });
  });

  it('of Swagger 2.0 is that of a JSON type', async () => {
    const examples = { 'application/xml': '<a/>', 'application/json': { id: 'a', size: '7' } };
    const operation = {
      produces: ['application/json', 'application/xml'],
      responses: { 200: { schema: node, examples } },
    };
    const document = swaggerOf(operation, {}, 'get');
    const { told, body } = await made(document);
    expect(told).toHaveLength(1);
    expect(body).toEqual({ id: 'a', size: '7' });
  });
});

it('a widened schema accepts the value, and all that it accepted before', () => {
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, true, 0, 1.5, 'a', '2020-01-01'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'BTC', 'ETH'), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const accepts = (schema: JsonObject, value: Json) => clientMismatches(schema, value, '').length === 0;
  fc.assert(
    fc.property(fc.array(json, { minLength: 1, maxLength: 3 }), json, json, (before, value, another) => {
      const first = schemaOfValues(before);
      const schema = { anyOf: [widened(first, value), { type: 'boolean' }] };
      const twice = widened(schema, another);
      for (const one of [...before, value]) expect(accepts(widened(first, value), one)).toBe(true);
      for (const one of [...before, value, another, true]) expect(accepts(twice, one)).toBe(true);
    }),
  );
});

describe('an operation with a saved answer', () => {
  const value = [{ id: 1, '': 2, owner: { login: 'a' } }];
  const made = async (responses: object, samples: readonly AnswerSample[], method = 'get') => {
    const document = await read({
      ...base,
      paths: { '/gas': { [method]: { operationId: 'getGas', responses } } },
    });
    return toolsOfDocument(document, { operations: ['getGas'], tool: null, samples }, '', null);
  };

  it.each([
    ['no content', { 204: {} }],
    ['no success', { default: {} }],
    ['text', { 200: { content: { 'text/plain': {} } } }],
    ['XML', { 200: { content: { 'text/xml': { schema: { type: 'object' } } } } }],
    ['no schema', { 200: { content: { 'application/json': {} } } }],
    ['objects of any form', ok({ type: 'array', items: { type: 'object' } })],
  ])('is a tool with the form of the answer where its document declares %s', async (_, responses) => {
    const result = await made(responses, [{ name: 'gas.json', value }]);
    const [tool] = result.ok ? result.value : [];
    expect(tool?.entry).toMatchObject({
      outputSchema: {
        properties: {
          items: {
            items: { properties: { id: { type: ['integer', 'null'] }, owner: { type: ['object', 'null'] } } },
          },
        },
      },
    });
    expect(tool?.sampleAnswers).toEqual([{ items: [{ id: 1, owner: { login: 'a' } }], count: 1 }]);
    expect(tool?.call).toMatchObject({ wrap: 'items', path: '/gas' });
    expect(tool?.changes[0]).toMatchObject({ what: expect.stringContaining('was dropped') });
    if (!JSON.stringify(responses).includes('"array"'))
      expect(await made(responses, [])).toMatchObject({
        ok: false,
        errors: [{ hint: expect.stringContaining('--from-sample') }],
      });
  });

  it('keeps the schema of its document, which is widened where the answer contradicts it', async () => {
    const result = await made(ok(), [{ name: 'gas.json', value: { gwei: '12' } }]);
    const [tool] = result.ok ? result.value : [];
    expect(tool?.sampleAnswers).toEqual([{ gwei: '12' }]);
    expect(tool?.changes).toMatchObject([
      { path: 'gas.json', what: expect.stringContaining('contradicts its schema') },
    ]);
  });

  it('of a write may still end without content', async () => {
    const result = await made({ 204: {} }, [{ name: 'gas.json', value: { id: 'a' } }], 'post');
    const [tool] = result.ok ? result.value : [];
    expect(tool?.entry).toMatchObject({
      outputSchema: { properties: { id: { type: ['string', 'null'] }, done: { type: 'boolean' } } },
    });
  });

  it('is refused where the saved answer is a failure', async () => {
    const value = { error: 'not found' };
    expect(await made({ 204: {} }, [{ name: 'gas.json', value }])).toMatchObject({
      ok: false,
      errors: [{ where: 'gas.json', message: 'contains only an error of the API' }],
    });
  });
});

it('an imported example has the examples of all parameters, without placeholders', async () => {
  const parameters = [
    { name: 'chain', in: 'path', required: true, schema: { type: 'string', example: 'base' } },
    { name: 'unit', in: 'query', schema: { type: 'string', enum: ['gwei', 'wei'] }, example: 'wei' },
    { name: 'limit', in: 'query', schema: { type: 'integer', examples: [5] } },
    { name: 'note', in: 'query', schema: { type: 'string' } },
  ];
  const { tool, call } = await toolOf(documentOf({ parameters }));
  expect(tool.examples).toEqual([{ arguments: { chain: 'base', unit: 'wei', limit: 5 }, expect: 'found' }]);
  const [recording] = initialRecordings(tool, call, context.smoke);
  expect(recording?.request).toMatchObject({ query: { unit: 'wei', limit: 5 } });
});
