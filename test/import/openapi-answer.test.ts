import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { initialRecordings } from '../../src/import/api-recordings.ts';
import { requestLiteral } from '../../src/render/request-code.ts';
import { answer, base, documentOf, ok, refusalOf, swaggerOf, toolOf } from './openapi.ts';

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

  describe('and whose schema has keywords beside a reference', () => {
    const schemas = {
      Base: { type: 'object', properties: { id: { type: 'string' }, at: { type: 'string' } } },
      Chain: {
        $ref: '#/components/schemas/Base',
        properties: { extra: { type: 'integer' } },
        required: ['id', 'extra'],
      },
      Node: {
        $ref: '#/components/schemas/Base',
        properties: { child: { $ref: '#/components/schemas/Node' } },
      },
      Side: { type: 'string', enum: ['a', 'b'] },
      Count: { type: 'integer' },
      List: { type: 'array', items: { type: 'integer' } },
    };
    const made = (schema: object, parameters: readonly object[] = [], openapi = '3.1.0') =>
      toolOf(documentOf({ responses: ok(schema), parameters }, { openapi, components: { schemas } }));

    it('has the members of both, in OpenAPI 3.1', async () => {
      const { outputs, tool } = await made(schemas.Chain);
      expect(Object.keys(outputs)).toEqual(expect.arrayContaining(['id', 'at', 'extra']));
      expect(tool.definition.outputSchema.required).toEqual(expect.arrayContaining(['id', 'extra']));
      const referred = await made({ $ref: '#/components/schemas/Chain' });
      expect(referred.outputs).toEqual(outputs);
      expect((await made(schemas.Chain, [], '3.0.3')).outputs).not.toHaveProperty('extra');
    });

    it('is cut off where it refers to itself', async () => {
      const { outputs, changes } = await made(schemas.Node);
      expect(outputs.child).toMatchObject({ type: 'object', properties: { id: { type: 'string' } } });
      expect(changes.map(({ what }) => what)).toContain('refers to itself: its members are not described');
    });

    it('has their values and limits in arguments', async () => {
      const beside = {
        side: { $ref: '#/components/schemas/Side', default: 'b' },
        one: { $ref: '#/components/schemas/Side', enum: ['b'] },
        count: { $ref: '#/components/schemas/Count', minimum: 3 },
        list: { $ref: '#/components/schemas/List', minItems: 2 },
      };
      const parameters = Object.entries(beside).map(([name, schema]) => ({ name, in: 'query', schema }));
      const { inputs } = await made(answer, parameters);
      expect(inputs.side).toMatchObject({ type: 'string', enum: ['a', 'b'], default: 'b' });
      expect(inputs.one).toMatchObject({ type: 'string', enum: ['b'] });
      expect(inputs.count).toMatchObject({ type: 'integer', minimum: 3 });
      expect(inputs.list).toMatchObject({ type: 'array', items: { type: 'integer' }, minItems: 2 });
    });
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

  it('may have values and dates that its document does not list', async () => {
    const schema = {
      type: 'object',
      properties: {
        status: { type: 'string', enum: ['open', 'closed'], description: 'The status' },
        at: { type: 'string', format: 'date-time', pattern: '^2', maxLength: 3 },
        level: { type: 'integer', minimum: 1, maximum: 3, const: 2 },
      },
    };
    const { outputs } = await toolOf(documentOf({ responses: ok(schema) }));
    expect(outputs.status).toMatchObject({
      description: 'The status. Known values: open, closed.',
      examples: ['open', 'closed'],
    });
    expect(outputs.level?.description).toBe('Known values: 2.');
    const validate = new Ajv({ formats: { 'date-time': /^\d{4}-\d\d-\d\dT/ } }).compile({
      type: 'object',
      properties: outputs,
    });
    expect(validate({ status: 'paused', at: '1999-01-01 10:00', level: 9 })).toBe(true);
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
      what: 'refers to itself: its members are not described',
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
    expect(initialRecordings(tool, call, context.smoke)).toEqual([
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
      'the schema of its success response declares no members',
      '/responses/200/content/application~1json/schema',
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

  describe('that may have no content', () => {
    const writing = (responses: object, method = 'post') => ({
      ...base,
      paths: { '/gas': { [method]: { operationId: 'getGas', responses } } },
    });

    it.each(['200', '201', '202', '204', '205'])('of a write with only %s says done', async (status) => {
      const { call, outputs, tool } = await toolOf(writing({ [status]: {}, 404: {}, default: ok()[200] }));
      expect(call).toMatchObject({ wrap: 'done', notFoundIsEmpty: false });
      expect(outputs.done).toMatchObject({ type: ['boolean', 'null'] });
      expect(tool.samples[0]?.answer).toEqual({ done: true });
      expect(initialRecordings(tool, call, context.smoke)).toEqual([
        { request: { method: 'post', path: '/gas' }, status: 204, from: 'document' },
      ]);
    });

    it.each([204, 202, '2XX'])('of a write says done optionally if %s stands beside JSON', async (status) => {
      const { call, outputs, tool } = await toolOf(writing({ ...ok(), [status]: { description: 'Done' } }));
      expect(call.wrap).toBeNull();
      expect(outputs.done).toMatchObject({ type: 'boolean' });
      expect(tool.definition.outputSchema.required).toEqual(['gwei']);
      const [recorded] = initialRecordings(tool, call, context.smoke);
      expect(recorded).toMatchObject({ status: 200, body: { gwei: expect.any(Number) } });
      expect(recorded?.body).not.toHaveProperty('done');
    });

    it('keeps a member of the API with the name done', async () => {
      const schema = { type: 'object', properties: { done: { type: 'string' } } };
      const { outputs } = await toolOf(writing({ ...ok(schema), 204: {} }));
      expect(outputs.done).toMatchObject({ type: 'string' });
    });

    it.each([
      ['a read', writing({ ...ok(), 204: {} }, 'get')],
      ['a write that declares no such success', writing(ok())],
    ])('does not mention it for %s', async (_, document) => {
      expect((await toolOf(document)).outputs).not.toHaveProperty('done');
    });

    it.each([
      ['only an error by default', { default: {} }, 'it declares no success response'],
      ['only a redirect', { 302: {} }, 'it declares no success response'],
      ['text beside it', { 200: { content: { 'text/plain': {} } }, 204: {} }, 'is not JSON'],
    ])('is refused for a write with %s', async (_, responses, message) => {
      expect((await refusalOf(writing(responses)))?.message).toContain(message);
    });

    it('is found beside a reference that leads nowhere', async () => {
      const broken = { $ref: '#/components/responses/None' };
      expect((await toolOf(writing({ ...ok(), 202: broken }))).outputs).toHaveProperty('gwei');
    });
  });

  it.each([
    ['*/*', { type: 'string', format: 'binary' }],
    ['application/octet-stream', answer],
  ])('of %s that is a file is refused', async (type, schema) => {
    const refused = await refusalOf(documentOf({ responses: { 200: { content: { [type]: { schema } } } } }));
    expect(refused?.message).toContain('is not JSON');
  });

  it('has the schema of any type where JSON has only an example', async () => {
    const content = { 'application/json': { example: { gwei: 1 } }, '*/*': { schema: answer } };
    expect((await toolOf(documentOf({ responses: { 200: { content } } }))).outputs).toHaveProperty('gwei');
  });

  it('of Swagger 2.0 is JSON only if its document says so, or nothing', async () => {
    const swagger = (produces: object, own = {}) => swaggerOf(own, { ...produces }, 'get');
    const json = { produces: ['application/xml', 'application/json'] };
    const xml = { produces: ['application/xml'] };
    for (const document of [swagger({}), swagger(json), swagger(xml, json)])
      expect((await toolOf(document)).outputs).toHaveProperty('gwei');
    for (const document of [swagger(xml), swagger(json, xml)])
      expect((await refusalOf(document))?.message).toContain('is not JSON');
  });

  it('with circular references is refused', async () => {
    const schemas = { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } };
    const refused = await refusalOf(
      documentOf({ responses: ok({ $ref: '#/components/schemas/A' }) }, { components: { schemas } }),
    );
    expect(refused?.message).toContain('is circular');
  });
});

describe('an answer whose document declares paging headers', () => {
  const headers = { 'X-Total-Count': { schema: { type: 'integer' } }, LINK: {} };
  const paged = (
    schema: object,
    parameters = [{ name: 'per page', in: 'query', schema: { type: 'integer' } }],
  ) => toolOf(documentOf({ responses: { 200: { ...ok(schema)[200], headers } }, parameters }));

  it('has next, whose members are the inputs, and total; its request takes them from the headers', async () => {
    const { call, outputs, tool } = await paged({ type: 'array', items: answer });
    expect(outputs.next).toMatchObject({
      type: ['object', 'null'],
      properties: { per_page: { type: 'integer' }, chain: { type: 'string' } },
    });
    expect(outputs.total).toMatchObject({ type: 'integer' });
    expect(tool.definition.outputSchema.required).not.toContain('next');
    const request = requestLiteral(
      {
        ...call,
        isReadOnly: true,
        takesInput: true,
        isReduced: false,
        takesNoData: false,
        hasMirrors: false,
      },
      0,
    );
    expect(request).toContain("pages: { input, inputSchema, names: { 'per page': 'per_page' } }");
    expect(initialRecordings(tool, call, context.smoke).map(({ body }) => body)).toEqual([
      [expect.not.objectContaining({ next: {} })],
    ]);
  });

  it('keeps members of these names, and has none without a parameter in the query', async () => {
    const own = {
      type: 'object',
      properties: { next: { type: 'string' }, items: { type: 'array', items: answer } },
    };
    const { outputs, tool, call } = await paged(own);
    expect(outputs.next).toEqual({ type: 'string' });
    const [recording] = initialRecordings(tool, call, context.smoke);
    expect(Object.keys(recording?.body as object)).toEqual(expect.not.arrayContaining(['total']));
    expect((await paged({ type: 'array', items: answer }, [])).outputs).not.toHaveProperty('next');
  });
});
