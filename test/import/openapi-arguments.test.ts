import { describe, expect, it } from 'vitest';
import { type Effect, effects } from '../../src/contract/effect.ts';
import { answer, base, documentOf, ok, refusalOf, toolOf } from './openapi.ts';

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

  it('have listed values that their format does not allow', async () => {
    const schema = { type: 'string', format: 'date-time', minLength: 9, enum: ['now'] };
    const { inputs, tool } = await toolOf(documentOf({ parameters: [{ name: 'at', in: 'query', schema }] }));
    expect(inputs.at).not.toHaveProperty('format');
    expect(inputs.at).toMatchObject({ type: 'string', enum: ['now'] });
    expect(tool.definition.name).toBe('getGas');
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
    expect(entry.annotations).toEqual(effects.acts);
  });

  it.each<[string, Effect]>([
    ['createOrder', 'adds'],
    ['searchOrders', 'adds'],
    ['cancelOrder', 'acts'],
    ['orders_delete', 'acts'],
    ['last_trade', 'adds'],
  ])('the name of the POST %s counts, too: %s', async (operationId, effect) => {
    const document = {
      ...base,
      openapi: '3.0.0',
      paths: { '/o': { post: { operationId, responses: ok() } } },
    };
    expect((await toolOf(document, operationId)).entry.annotations).toEqual(effects[effect]);
  });

  it('require what the schema of a body requires, whether or not the document requires the body', async () => {
    const schema = { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } };
    const requestBody = { content: { 'application/json': { schema } } };
    expect((await toolOf(documentOf({ requestBody }))).required).toEqual(['chain', 'amount']);
  });

  it('come from the first JSON type that has a schema, and from any type with one', async () => {
    const schema = { type: 'object', properties: { amount: { type: 'integer' } } };
    const contents = [
      { 'application/json': { example: { amount: 1 } }, 'application/json; charset=utf-8': { schema } },
      { '*/*': { schema } },
      { 'application/vnd.pay+json': { schema } },
    ];
    for (const content of contents) {
      const { call, outputs } = await toolOf(
        documentOf({ requestBody: { content }, responses: { 200: { content } } }),
      );
      expect(call.body).toEqual({ kind: 'json', members: [{ name: 'amount', input: 'amount' }] });
      expect(outputs).toHaveProperty('amount');
    }
  });

  it('are written in a form as its encoding says, by default one pair for each value', async () => {
    const texts = { type: 'array', items: { type: 'string' } };
    const schema = {
      type: 'object',
      properties: { plain: texts, deep: texts, comma: texts, pipe: texts, text: { type: 'string' } },
    };
    const encoding = {
      deep: { style: 'deepObject', explode: true },
      comma: { explode: false },
      pipe: { style: 'pipeDelimited', explode: false },
    };
    const requestBody = { content: { 'application/x-www-form-urlencoded': { schema, encoding } } };
    const { call } = await toolOf(documentOf({ requestBody }));
    expect(call.body?.members).toEqual([
      { name: 'plain', input: 'plain', style: 'form' },
      { name: 'deep', input: 'deep', style: 'deepObject' },
      { name: 'comma', input: 'comma', style: 'comma' },
      { name: 'pipe', input: 'pipe', style: 'pipe' },
      { name: 'text', input: 'text' },
    ]);
  });

  it('of a form of Swagger 2.0 have commas in lists, unless it says otherwise', async () => {
    const list = (name: string, more = {}) => ({
      name,
      in: 'formData',
      type: 'array',
      items: { type: 'string' },
      ...more,
    });
    const { call } = await toolOf(
      {
        swagger: '2.0',
        info: { title: 'Gas API' },
        host: 'api.gas.example',
        paths: {
          '/o': {
            post: {
              operationId: 'addOrder',
              parameters: [list('a'), list('b', { collectionFormat: 'multi' })],
              responses: { 200: { schema: answer } },
            },
          },
        },
      },
      'addOrder',
    );
    expect(call.body?.members).toEqual([
      { name: 'a', input: 'a', style: 'comma' },
      { name: 'b', input: 'b', style: 'form' },
    ]);
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
