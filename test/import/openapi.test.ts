import { describe, expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { readOpenApi } from '../../src/import/openapi/openapi-document.ts';
import { listReadableOperations, operationName, operationsOf } from '../../src/import/openapi/operations.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { base, documentOf, importOf, ok, read, refusalOf, toolOf } from './openapi.ts';

/** 9 to the power of 9 values in 500 characters. */
const bomb = Array.from(
  { length: 9 },
  (_, i) => `x-${i}: &a${i} [${`${i === 0 ? 1 : `*a${i - 1}`},`.repeat(9)}]`,
)
  .concat('openapi: 3.1.0', 'paths: {}')
  .join('\n');

describe('a document', () => {
  it('is parsed as JSON or YAML, in 3.0, 3.1 and 2.0', async () => {
    const yaml =
      'openapi: 3.0.3\ninfo: {title: Gas}\npaths:\n  /gas:\n    get:\n      summary: The gas price\n';
    expect(operationsOf(await read(yaml)).map(operationName)).toEqual(['GET /gas']);
    expect((await read({ swagger: '2.0', paths: {} })).version).toBe('2.0');
    expect((await read({ openapi: '3.0.0', paths: {} })).version).toBe('3.0');
  });

  it.each([JSON.stringify({ ...base, paths: {} }), 'openapi: 3.1.0\npaths: {}\n'])(
    'may begin with a byte order mark: %j',
    async (text) => {
      expect((await read(`\ufeff${text}`)).version).toBe('3.1');
    },
  );

  it.each([
    ['', 'the input is empty'],
    ['[1]', 'is not an OpenAPI document'],
    ['{"openapi": ', 'is not JSON'],
    ['a: [', 'unexpected end of the stream'],
    [bomb, 'contains more than 500000 values'],
    ['openapi: 3.1.0\npaths: &x {/gas: *x}', 'is nested deeper than 100 levels'],
    [`a: ${'['.repeat(200)}`, 'nesting exceeded'],
    ['{"openapi":"4.0.0","paths":{}}', 'is OpenAPI "4.0.0"; versions 3.1, 3.0 and 2.0 are supported'],
    ['{"swagger":"1.2","paths":{}}', 'is OpenAPI "1.2"'],
    ['{"openapi":"3.1.0"}', 'has no operations'],
  ])('%j is refused', async (text, message) => {
    const result = await readOpenApi(text, 'api.yaml');
    expect(result).toMatchObject({ ok: false, errors: [{ message: expect.stringContaining(message) }] });
  });

  it('an example that is too deep for a file of the project is left out', async () => {
    const depth = 100_000;
    const deep = `{"gwei":1,"more":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const text = JSON.stringify(documentOf({})).replace('"schema":', `"example":${deep},"schema":`);
    expect(text).toContain(deep);
    expect(await importOf(text)).toMatchObject({ ok: true, value: [{ sampleAnswers: [] }] });
  });

  it('lists its operations without following more references than necessary, and omits invalid ones', async () => {
    const paths = {
      '/a': { get: {}, trace: {}, parameters: [] },
      '/b': { $ref: '#/nowhere' },
      'x-c': { get: {} },
      '/d': null,
    };
    expect(operationsOf(await read({ ...base, paths })).map(operationName)).toEqual(['GET /a']);
  });

  describe('with references that cannot be followed', () => {
    const paths = {
      '/a': { $ref: './paths/a.yaml' },
      '/b': { get: { $ref: '#/nowhere' }, post: { operationId: 'postB', responses: ok() } },
      '/c': { $ref: '#/paths/~1c' },
    };
    const choose = async (operations: readonly string[]) =>
      toolsOfDocument(await read({ ...base, paths }), { operations, tool: null }, 'api.json', null);

    it.each([
      [
        'GET /a',
        '~1a',
        'the reference "./paths/a.yaml" points outside the document: nothing is read beside this document',
      ],
      ['get /b', '~1b/get', 'the reference "#/nowhere" points to nothing'],
      ['PUT /c', '~1c', 'this reference is circular'],
    ])('refuses to make a tool of %s, and names its reference', async (name, place, reason) => {
      const message = `cannot be a tool: ${reason}`;
      const error = { where: `api.json#/paths/${place}`, value: JSON.stringify(name), message };
      expect(await choose(['postB', name])).toMatchObject({ ok: false, errors: [error] });
    });

    it('makes tools of the other operations, also of the same path', async () => {
      expect(await choose(['postB'])).toMatchObject({ ok: true, value: [{ call: { path: '/b' } }] });
    });

    it('is refused with the first of them if it has no other operation', async () => {
      const { '/b': _, ...broken } = paths;
      expect(listReadableOperations(await read({ ...base, paths: broken }), 'api.json')).toMatchObject({
        ok: false,
        errors: [{ where: 'api.json#/paths/~1a', value: '"/a"', message: expect.stringContaining('a.yaml') }],
      });
      expect(listReadableOperations(await read({ ...base, paths: {} }), 'api.json')).toEqual({
        ok: true,
        value: [],
      });
      expect(listReadableOperations(await read({ ...base, paths }), 'api.json')).toMatchObject({
        ok: true,
        value: [{ id: 'postB' }],
      });
    });
  });

  it('selects an operation by id or by method and path, and suggests the intended one', async () => {
    const document = await read(documentOf({}));
    const choose = (name: string) =>
      toolsOfDocument(document, { operations: [name], tool: null }, 'api.json', null);
    expect(choose('get /gas/{chain}').ok).toBe(true);
    expect(choose('getGaz')).toMatchObject({ ok: false, errors: [{ hint: 'Did you mean getGas?' }] });
  });
});

describe('the base URL', () => {
  it.each([
    ['http://169.254.169.254/latest', 'link-local'],
    ['http://[::ffff:a9fe:a9fe]', 'link-local'],
    ['http://2130706433:8080', 'loopback'],
    ['http://api.localhost', 'loopback'],
  ])('%s is warned about as %s, before all other hints', async (url, reach) => {
    const imported = await importOf(documentOf({ summary: '' }, { servers: [{ url }] }));
    const made = imported.ok ? prepareTools(imported.value, context) : undefined;
    expect(made?.ok && made.value.advice[0]?.message).toContain(`is a ${reach} address`);
  });

  it('elsewhere is no reason for a warning', async () => {
    const imported = await importOf(documentOf({}));
    const made = imported.ok && prepareTools(imported.value, context);
    expect(JSON.stringify(made)).not.toMatch(/loopback|link-local/);
  });

  it.each([
    [
      [{ url: 'https://{region}.gas.example', variables: { region: { default: 'eu' } } }],
      'https://eu.gas.example',
    ],
    [[{ url: '/v2' }], undefined],
    [[], undefined],
  ])('of the servers %j is a variable with that default', async (servers, fallback) => {
    const { call } = await toolOf(documentOf({}, { servers }));
    expect(call.api.address.fallback).toBe(fallback);
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'https://user:pw@x.example', 'https://{host}'])(
    '%s is refused',
    async (url) => {
      expect((await refusalOf(documentOf({}, { servers: [{ url }] })))?.where).toBe('api.json#/servers/0');
    },
  );
});

it('Swagger 2.0 is supported: parameters, body, security, address and answer', async () => {
  const document = {
    swagger: '2.0',
    info: { title: 'Pets' },
    host: 'pets.example',
    basePath: '/v2',
    securityDefinitions: { basic: { type: 'basic' } },
    security: [{ basic: [] }],
    definitions: { Pet: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
    paths: {
      '/pets/{id}': {
        put: {
          operationId: 'putPet',
          parameters: [
            { name: 'id', in: 'path', required: true, type: 'integer' },
            { name: 'tags', in: 'query', type: 'array', items: { type: 'string' } },
            { name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } },
          ],
          responses: { 200: { schema: { type: 'array', items: { $ref: '#/definitions/Pet' } } } },
        },
      },
    },
  };
  const { call, inputs, required } = await toolOf(document, 'putPet');
  expect(call.api).toMatchObject({
    file: 'pets',
    sharedKeys: [{ kind: 'basic', variables: [{ name: 'PETS_USER' }, { name: 'PETS_PASSWORD' }] }],
  });
  expect(call.api.address).toMatchObject({ fallback: 'https://pets.example/v2' });
  expect(call).toMatchObject({
    wrap: 'items',
    body: { kind: 'json', content: { members: [{ name: 'name', input: 'name' }] } },
  });
  expect(call.query).toEqual([{ name: 'tags', input: 'tags', style: 'comma' }]);
  expect(inputs.id).toMatchObject({ type: 'integer' });
  expect(required).toEqual(['id', 'name']);
});

describe('untrusted text', () => {
  const hostile =
    '*/ process.exit(1) /* `${process.env.HOME}` \u202e </script> {{x}} "\' \\ \n\u2028 __proto__';

  it('is reduced to one line, and names are sanitized', async () => {
    const document = {
      ...base,
      info: { title: hostile },
      servers: [{ url: 'http://127.0.0.1:1' }],
      paths: {
        '/x': {
          get: {
            operationId: '../../../etc/passwd',
            summary: hostile,
            description: hostile.repeat(2_000),
            parameters: [
              { name: hostile, in: 'query', description: hostile, schema: { type: 'string' } },
              { name: '__proto__', in: 'query', schema: { type: 'string' } },
              { name: 'constructor', in: 'query', schema: { type: 'string' } },
            ],
            responses: ok({
              type: 'object',
              properties: { [hostile]: { type: 'string' }, a: { type: 'string', pattern: '(' } },
            }),
          },
        },
      },
    };
    const { tool, call, inputs } = await toolOf(document, '../../../etc/passwd');
    expect(tool.definition.name).toMatch(/^[a-zA-Z][\w-]*$/);
    expect(call.api.file).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(tool.definition.description).not.toMatch(/[\n\u2028]/);
    expect(tool.definition.description.length).toBeLessThan(1_500);
    for (const name of Object.keys(inputs)) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
    expect(Object.hasOwn(inputs, '__proto__')).toBe(false);
  });

  it.each([
    [{ parameters: 'x' }],
    [{ parameters: [null, 5, {}, { name: 5 }, { name: 'a', in: 'moon' }] }],
    [{ requestBody: 5 }],
    [{ requestBody: { content: [] } }],
    [{ security: 'x' }],
    [{ security: [null, 5] }],
    [
      {
        responses: ok({
          type: 5,
          properties: 'x',
          required: 'y',
          enum: 5,
          allOf: 5,
          items: [],
        }),
      },
    ],
    [{ responses: { 200: { content: { 'application/json': 5 } } } }],
    [{ responses: 5 }],
    [{ servers: 'x' }],
    [{ servers: [{ url: 5 }] }],
    [
      {
        responses: ok({
          type: 'object',
          properties: { a: { minimum: '0', maxLength: -1, format: {}, example: {}, default: [] } },
        }),
      },
    ],
  ])('of a wrong type, %j, gives a tool or a refusal, never an exception', async (operation) => {
    const result = await importOf(documentOf(operation));
    expect(typeof result.ok).toBe('boolean');
    if (result.ok) expect(prepareTools(result.value, context).ok).toBe(true);
  });
});
