import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/model.ts';
import { context } from '../../src/contract/platforms/context.ts';
import { readOpenApi } from '../../src/import/openapi/document.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { nameOf, operationsOf } from '../../src/import/openapi/operations.ts';
import { prepareImported } from '../../src/import/prepare.ts';
import { recordingsOf } from '../../src/import/recordings.ts';

type Members = { readonly [name: string]: unknown };

const answer = { type: 'object', properties: { gwei: { type: 'number' } }, required: ['gwei'] };
const ok = (schema: object = answer) => ({ 200: { content: { 'application/json': { schema } } } });
const base = {
  openapi: '3.1.0',
  info: { title: 'Gas API' },
  servers: [{ url: 'https://api.gas.example/v1' }],
};

/** A document with one operation, `GET /gas/{chain}`. */
function documentOf(operation: Members, rest: Members = {}): object {
  return {
    ...base,
    paths: { '/gas/{chain}': { get: { operationId: 'getGas', responses: ok(), ...operation } } },
    ...rest,
  };
}

async function read(document: object | string) {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const result = await readOpenApi(text, 'api.json');
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.value;
}

async function importOf(document: object | string, operation = 'getGas') {
  return toolsOfDocument(await read(document), { operations: [operation], tool: null }, 'api.json', null);
}

async function toolOf(document: object | string, operation = 'getGas') {
  const result = await importOf(document, operation);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  const [imported] = result.value;
  const call = imported?.call;
  if (!imported || !call) throw new Error('no tool');
  const preparation = prepareImported([imported], context);
  if (!preparation.ok) throw new Error(JSON.stringify(preparation.errors));
  const [tool] = preparation.prepared.tools;
  if (!tool) throw new Error('no tool');
  const inputs = tool.definition.inputSchema.properties as { [name: string]: JsonObject };
  const outputs = tool.definition.outputSchema.properties as { [name: string]: JsonObject };
  return { ...imported, call, tool, inputs, outputs, required: tool.definition.inputSchema.required };
}

const refusalOf = async (document: object, operation?: string) => {
  const result = await importOf(document, operation);
  if (result.ok) throw new Error('became a tool');
  return result.errors[0];
};

describe('a document', () => {
  it('is parsed as JSON or YAML, in 3.0, 3.1 and 2.0', async () => {
    const yaml =
      'openapi: 3.0.3\ninfo: {title: Gas}\npaths:\n  /gas:\n    get:\n      summary: The gas price\n';
    expect(operationsOf(await read(yaml)).map(nameOf)).toEqual(['GET /gas']);
    expect((await read({ swagger: '2.0', paths: {} })).version).toBe('2.0');
    expect((await read({ openapi: '3.0.0', paths: {} })).version).toBe('3.0');
  });

  it.each([
    ['', 'the input is empty'],
    ['[1]', 'is not an OpenAPI document'],
    ['{"openapi": ', 'is not JSON'],
    ['a: [', 'is not YAML'],
    ['{"openapi":"4.0.0","paths":{}}', 'is OpenAPI "4.0.0"; versions 3.1, 3.0 and 2.0 are supported'],
    ['{"swagger":"1.2","paths":{}}', 'is OpenAPI "1.2"'],
    ['{"openapi":"3.1.0"}', 'has no operations'],
  ])('%j is refused', async (text, message) => {
    const result = await readOpenApi(text, 'api.yaml');
    expect(result).toMatchObject({ ok: false, errors: [{ message: expect.stringContaining(message) }] });
  });

  it('lists its operations without following more references than necessary, and omits invalid ones', async () => {
    const paths = {
      '/a': { get: {}, trace: {}, parameters: [] },
      '/b': { $ref: '#/nowhere' },
      'x-c': { get: {} },
      '/d': null,
    };
    expect(operationsOf(await read({ ...base, paths })).map(nameOf)).toEqual(['GET /a']);
  });

  it('selects an operation by id or by method and path, and suggests the intended one', async () => {
    const document = await read(documentOf({}));
    const choose = (name: string) =>
      toolsOfDocument(document, { operations: [name], tool: null }, 'api.json', null);
    expect(choose('get /gas/{chain}').ok).toBe(true);
    expect(choose('getGaz')).toMatchObject({ ok: false, errors: [{ hint: 'Did you mean getGas?' }] });
  });
});

describe('the arguments of a tool', () => {
  it('are the parameters, with their limits, under unique names', async () => {
    const { inputs, required, call } = await toolOf(
      documentOf({
        parameters: [
          {
            name: 'chain',
            in: 'path',
            required: true,
            schema: { type: 'string', enum: ['base', 'eth'] },
            description: 'The chain',
          },
          { name: 'chain', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 9, default: 5 } },
          {
            name: 'filter[at]',
            in: 'query',
            schema: { type: 'object', properties: { gte: { type: 'integer' } } },
            style: 'deepObject',
          },
          {
            name: 'ids',
            in: 'query',
            explode: false,
            schema: { type: 'array', items: { type: 'string' } },
            example: ['a'],
          },
          {
            name: 'X-Lang',
            in: 'header',
            schema: { type: ['string', 'null'], pattern: '^[a-z]{2}$', example: 'de' },
          },
          { name: 'Accept', in: 'header', schema: { type: 'string' } },
          { name: 'where', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
        ],
      }),
    );
    expect(inputs.chain).toMatchObject({ type: 'string', enum: ['base', 'eth'], description: 'The chain' });
    expect(inputs.query_chain).toMatchObject({ type: 'integer', minimum: 1, maximum: 9, default: 5 });
    expect(inputs.ids).toMatchObject({ type: 'array', examples: [['a']] });
    expect(inputs['X-Lang']).toMatchObject({ type: 'string', pattern: '^[a-z]{2}$', examples: ['de'] });
    expect(required).toEqual(['chain']);
    expect(call.params).toEqual([{ name: 'chain', input: 'chain' }]);
    expect(call.query).toEqual([
      { name: 'chain', input: 'query_chain' },
      { name: 'filter[at]', input: 'filter_at', style: 'deepObject' },
      { name: 'ids', input: 'ids', style: 'comma' },
      { name: 'where', input: 'where', style: 'json' },
    ]);
    expect(call.headers).toEqual([{ name: 'X-Lang', input: 'X-Lang' }]);
  });

  it.each([
    ['application/json', 'json'],
    ['application/x-www-form-urlencoded', 'form'],
  ])('are the members of a body of %s', async (type, kind) => {
    const schema = {
      type: 'object',
      required: ['amount', 'id'],
      properties: {
        amount: { type: 'integer' },
        id: { type: 'string', readOnly: true },
        note: { type: 'string', nullable: true },
      },
    };
    const requestBody = { required: true, content: { [type]: { schema } } };
    const document = {
      ...base,
      openapi: '3.0.0',
      paths: { '/pay': { post: { operationId: 'pay', requestBody, responses: ok() } } },
    };
    const { inputs, required, call, entry } = await toolOf(document, 'pay');
    expect(Object.keys(inputs)).toEqual(['amount', 'note']);
    expect(required).toEqual(['amount']);
    expect(call.body).toEqual({
      kind,
      members: [
        { name: 'amount', input: 'amount' },
        { name: 'note', input: 'note' },
      ],
    });
    expect(entry.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  });

  it('contain a body that is not an object as one argument', async () => {
    const requestBody = {
      required: true,
      content: { 'application/json': { schema: { type: 'array', items: { type: 'string' } } } },
    };
    const { call, inputs } = await toolOf(documentOf({ requestBody }));
    expect(call.body).toEqual({ kind: 'json', members: 'body' });
    expect(inputs.body).toMatchObject({ type: 'array' });
  });

  it('omit a header that no request can carry, unless the API needs it', async () => {
    const parameter = { name: 'Bad name:', in: 'header', schema: { type: 'string' } };
    const { call, changes } = await toolOf(documentOf({ parameters: [parameter] }));
    expect(call.headers).toEqual([]);
    expect(changes[0]?.what).toBe('has a name that no header can have: it was left out');
    const refused = await refusalOf(documentOf({ parameters: [{ ...parameter, required: true }] }));
    expect(refused?.message).toContain('its name is not a valid header name');
  });

  it('declare every name in the path', async () => {
    const { call, required } = await toolOf(documentOf({}));
    expect(call.params).toEqual([{ name: 'chain', input: 'chain' }]);
    expect(required).toEqual(['chain']);
  });
});

describe('keys', () => {
  it.each([
    [
      { type: 'http', scheme: 'bearer' },
      { name: 'authorization', kind: 'bearer', variables: ['GAS_TOKEN'] },
    ],
    [
      { type: 'oauth2', flows: {} },
      { name: 'authorization', kind: 'bearer', variables: ['GAS_TOKEN'] },
    ],
    [
      { type: 'http', scheme: 'basic' },
      { name: 'authorization', kind: 'basic', variables: ['GAS_USER', 'GAS_PASSWORD'] },
    ],
    [
      { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      { name: 'X-Api-Key', kind: 'plain', variables: ['GAS_API_KEY'] },
    ],
    [
      { type: 'apiKey', in: 'cookie', name: 'sid' },
      { name: 'cookie', kind: 'cookie', variables: ['GAS_SID'], cookie: 'sid' },
    ],
  ])('of the scheme %j are secrets in the environment', async (scheme, credential) => {
    const { call, inputs } = await toolOf(
      documentOf({ security: [{ it: [] }] }, { components: { securitySchemes: { it: scheme } } }),
    );
    expect(call.api.headers).toEqual([credential]);
    expect(Object.keys(inputs)).toEqual(['chain']);
    const [address, ...secrets] = call.api.variables;
    expect(address).toMatchObject({ name: 'GAS_URL', fallback: 'https://api.gas.example/v1' });
    expect(secrets.every(({ kind }) => kind === 'secret')).toBe(true);
  });

  it.each(['key', 'apikey', 'api_key', 'token', 'access_token', 'appid', 'X-API-Key'])(
    'that are the plain parameter %s are never arguments',
    async (name) => {
      const place = name.startsWith('X-') ? 'header' : 'query';
      const { call, inputs } = await toolOf(
        documentOf({ parameters: [{ name, in: place, required: true, schema: { type: 'string' } }] }),
      );
      expect(Object.keys(inputs)).toEqual(['chain']);
      expect([...call.api.query, ...call.api.headers].map((one) => one.name)).toEqual([name]);
    },
  );

  it('are optional if the API works without them', async () => {
    const securitySchemes = { it: { type: 'http', scheme: 'bearer' } };
    const { call } = await toolOf(
      documentOf({ security: [{}, { it: [] }] }, { components: { securitySchemes } }),
    );
    expect(call.api.variables[1]).toMatchObject({ name: 'GAS_TOKEN', optional: true });
  });

  it('are refused if no program can send them', async () => {
    const securitySchemes = { it: { type: 'mutualTLS' } };
    const refused = await refusalOf(
      documentOf({ security: [{ it: [] }] }, { components: { securitySchemes } }),
    );
    expect(refused?.where).toBe('api.json#/paths/~1gas~1{chain}/get/security');
  });
});

describe('the answer of a tool', () => {
  it.each([
    ['an object', answer, null, ['gwei']],
    ['a list', { type: 'array', items: answer }, 'items', ['items', 'count']],
    ['a number', { type: 'number' }, 'result', ['result']],
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }, 'result', ['result']],
    [
      'an object whose error is data',
      { type: 'object', properties: { error: { type: 'string' } } },
      'result',
      ['result'],
    ],
    [
      'an object with a message',
      { type: 'object', properties: { message: { type: 'string' }, a: {} } },
      null,
      ['message', 'a'],
    ],
  ])('that is %s', async (_, schema, wrap, names) => {
    const { call, outputs } = await toolOf(documentOf({ responses: ok(schema) }));
    expect(call.wrap).toBe(wrap);
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(names));
  });

  it('has references resolved, allOf merged, oneOf united, null in the type', async () => {
    const schemas = {
      Base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      Price: {
        allOf: [
          { $ref: '#/components/schemas/Base' },
          { properties: { price: { type: 'number', nullable: true } }, required: ['price'] },
        ],
      },
      Dog: {
        type: 'object',
        properties: { name: { type: 'string' }, bark: { type: 'boolean' } },
        required: ['name', 'bark'],
      },
      Cat: {
        type: 'object',
        properties: { name: { type: 'string' }, lives: { type: 'integer' } },
        required: ['name'],
      },
    };
    const pet = {
      oneOf: [{ $ref: '#/components/schemas/Dog' }, { $ref: '#/components/schemas/Cat' }, { type: 'null' }],
    };
    const schema = {
      type: 'object',
      properties: {
        price: { $ref: '#/components/schemas/Price' },
        pet,
        id: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      },
    };
    const { outputs } = await toolOf(documentOf({ responses: ok(schema) }, { components: { schemas } }));
    expect(outputs.price).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, price: { type: ['number', 'null'] } },
      required: ['id', 'price'],
    });
    expect(outputs.pet).toEqual({
      type: ['object', 'null'],
      properties: { name: { type: 'string' }, bark: { type: 'boolean' }, lives: { type: 'integer' } },
      required: ['name'],
    });
    expect(outputs.id).toEqual({ type: ['string', 'integer'] });
  });

  it('is cut off at a recursive schema, and reports it', async () => {
    const Node = {
      type: 'object',
      properties: {
        name: { type: 'string' },
        children: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
      },
    };
    const document = documentOf(
      { responses: ok({ $ref: '#/components/schemas/Node' }) },
      { components: { schemas: { Node } } },
    );
    const { outputs, changes } = await toolOf(document);
    expect(outputs.children).toEqual({ type: 'array', items: { type: 'object' } });
    expect(changes[0]).toMatchObject({
      path: '#/components/schemas/Node',
      what: 'refers to itself: its members were left out',
    });
  });

  it('is limited if a schema is a thousand times too large for an agent', async () => {
    const wide = (depth: number): object =>
      depth === 0
        ? { type: 'string' }
        : {
            type: 'object',
            properties: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`p${i}`, wide(depth - 1)])),
          };
    const { tool } = await toolOf(documentOf({ responses: ok(wide(4)) }));
    expect(JSON.stringify(tool.definition.outputSchema).length).toBeLessThan(50_000);
  });

  it('is limited if schemas multiply at every level', async () => {
    const level = (i: number): object => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 40 }, (_, p) => [`p${p}`, { $ref: `#/components/schemas/L${i + 1}` }]),
      ),
    });
    const schemas = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`L${i}`, level(i)]));
    const document = documentOf(
      { responses: ok({ $ref: '#/components/schemas/L0' }) },
      { components: { schemas: { ...schemas, L12: { type: 'string' } } } },
    );
    const { tool } = await toolOf(document);
    expect(JSON.stringify(tool.definition.outputSchema).length).toBeLessThan(50_000);
  });

  it('is the first typed success, never an error', async () => {
    const responses = {
      200: { content: { 'text/html': {} } },
      201: ok()[200],
      204: ok({ type: 'object', properties: { no: { type: 'string' } } })[200],
      default: ok({ type: 'object', properties: { problem: { type: 'string' } } })[200],
    };
    expect((await toolOf(documentOf({ responses }))).outputs).toHaveProperty('gwei');
    const { 200: html, 204: empty, default: failed } = responses;
    const refused = await refusalOf(documentOf({ responses: { 200: html, 204: empty, default: failed } }));
    expect(refused?.message).toContain('its success response is not JSON');
    const none = await refusalOf(documentOf({ responses: { 204: empty, default: failed } }));
    expect(none?.message).toContain('its success response has no content');
  });

  it('returns the example of the document, also in its recordings', async () => {
    const responses = {
      200: { content: { 'application/json': { schema: answer, example: { gwei: 42 } } } },
      404: {},
    };
    const parameters = [
      { name: 'chain', in: 'path', required: true, schema: { type: 'string', example: 'base' } },
    ];
    const { tool, call } = await toolOf(documentOf({ responses, parameters }));
    expect(tool.samples[0]?.answer).toEqual({ gwei: 42 });
    expect(call.notFoundIsEmpty).toBe(true);
    expect(recordingsOf(tool, call, context.smoke)).toEqual([
      {
        request: { method: 'get', path: '/gas/{chain}', params: { chain: 'base' } },
        status: 200,
        body: { gwei: 42 },
        from: 'document',
      },
      {
        request: { method: 'get', path: '/gas/{chain}', params: { chain: 'unknown' } },
        status: 404,
        from: 'document',
      },
    ]);
  });

  it.each([
    ['no content', { 204: {} }, 'its success response has no content', '/responses'],
    [
      'text',
      { 200: { content: { 'text/plain': {} } } },
      'its success response is not JSON',
      '/responses/200',
    ],
    [
      'nothing said of it',
      { 200: { content: { 'application/json': {} } } },
      'its success response is not JSON',
      '/responses/200',
    ],
    [
      'an empty schema',
      ok({}),
      'the schema of its success response declares no members',
      '/responses/200/content/application~1json/schema',
    ],
    [
      'a reference outside',
      ok({ $ref: 'http://evil.example/x.json' }),
      'points outside the document',
      '/responses/200/content/application~1json/schema',
    ],
    [
      'a file beside it',
      ok({ $ref: '../../etc/passwd#/x' }),
      'points outside the document',
      '/responses/200/content/application~1json/schema',
    ],
    [
      'a reference to nothing',
      ok({ $ref: '#/components/schemas/None' }),
      'points to nothing',
      '/responses/200/content/application~1json/schema',
    ],
  ])('with %s is refused with the place', async (_, responses, message, pointer) => {
    const refused = await refusalOf(documentOf({ responses }));
    expect(refused?.message).toContain(message);
    expect(refused?.where).toBe(`api.json#/paths/~1gas~1{chain}/get${pointer}`);
  });

  it('with circular references is refused', async () => {
    const schemas = { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } };
    const refused = await refusalOf(
      documentOf({ responses: ok({ $ref: '#/components/schemas/A' }) }, { components: { schemas } }),
    );
    expect(refused?.message).toContain('is circular');
  });
});

describe('the base URL', () => {
  it.each([
    [
      [{ url: 'https://{region}.gas.example', variables: { region: { default: 'eu' } } }],
      'https://eu.gas.example',
    ],
    [[{ url: '/v2' }], undefined],
    [[], undefined],
  ])('of the servers %j is a variable with that default', async (servers, fallback) => {
    const { call } = await toolOf(documentOf({}, { servers }));
    expect(call.api.variables[0]?.fallback).toBe(fallback);
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'https://user:pw@x.example', 'https://{host}'])(
    '%s is refused',
    async (url) => {
      expect((await refusalOf(documentOf({}, { servers: [{ url }] })))?.where).toBe('api.json#/servers/0');
    },
  );
});

describe('Swagger 2.0', () => {
  it('is supported: parameters, body, security, address and answer', async () => {
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
      headers: [{ kind: 'basic', variables: ['PETS_USER', 'PETS_PASSWORD'] }],
    });
    expect(call.api.variables[0]).toMatchObject({ fallback: 'https://pets.example/v2' });
    expect(call).toMatchObject({
      wrap: 'items',
      body: { kind: 'json', members: [{ name: 'name', input: 'name' }] },
    });
    expect(call.query).toEqual([{ name: 'tags', input: 'tags', style: 'comma' }]);
    expect(inputs.id).toMatchObject({ type: 'integer' });
    expect(required).toEqual(['id', 'name']);
  });
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
    if (result.ok) expect(prepareImported(result.value, context).ok).toBe(true);
  });
});
