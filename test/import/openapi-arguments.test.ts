import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { type Effect, effects } from '../../packages/contract/src/definition/effect.ts';
import { apiVariables } from '../../src/import/imported-tool.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { setting } from '../../src/render/request-code.ts';
import { answer, base, documentOf, ok, read, refusalOf, swaggerOf, toolOf } from './openapi.ts';

describe('the arguments of a tool', () => {
  it('have the first example of the document, also where it is referred to', async () => {
    const parameter = (name: string, example: object) => ({
      ...{ name, in: 'query', schema: { type: 'string' } },
      examples: { one: example, other: { value: 'other' } },
    });
    const { inputs } = await toolOf(
      documentOf(
        {
          parameters: [
            parameter('own', { value: 'latest' }),
            parameter('shared', { $ref: '#/components/examples/One' }),
            parameter('broken', { $ref: '#/components/examples/None' }),
          ],
        },
        { components: { examples: { One: { value: 'latest' } } } },
      ),
    );
    expect(inputs.own).toMatchObject({ examples: ['latest'] });
    expect(inputs.shared).toMatchObject({ examples: ['latest'] });
    expect(inputs.broken).not.toHaveProperty('examples');
  });

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
      content: {
        members: [
          { name: 'amount', input: 'amount' },
          { name: 'note', input: 'note' },
        ],
      },
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

  it('require each name in the path, and what the schema of a body requires, even if the document does not', async () => {
    const schema = { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } };
    const requestBody = { content: { 'application/json': { schema } } };
    const { required, call } = await toolOf(documentOf({ requestBody }));
    expect(required).toEqual(['chain', 'amount']);
    expect(call.params).toEqual([{ name: 'chain', input: 'chain' }]);
  });

  it('come from the first JSON type that has a schema, and from any type with one', async () => {
    const schema = { type: 'object', properties: { amount: { type: 'integer' } } };
    const contents = [
      [{ 'application/json': { example: { amount: 1 } }, 'text/json': { schema } }, 'text/json'],
      [{ '*/*': { schema } }, undefined],
      [{ 'application/vnd.pay+json': { schema } }, 'application/vnd.pay+json'],
    ] as const;
    for (const [content, mediaType] of contents) {
      const { call, outputs } = await toolOf(
        documentOf({ requestBody: { content }, responses: { 200: { content } } }),
      );
      const members = [{ name: 'amount', input: 'amount' }];
      expect(call.body).toEqual({ kind: 'json', content: { members }, ...(mediaType && { mediaType }) });
      expect(outputs).toHaveProperty('amount');
    }
  });

  it('are written in a form as its encoding says, by default one pair for each value', async () => {
    const texts = { type: 'array', items: { type: 'string' } };
    const schema = {
      type: 'object',
      properties: {
        plain: texts,
        deep: texts,
        comma: texts,
        pipe: texts,
        pairs: texts,
        json: { type: 'object', properties: { a: { type: 'string' } } },
        styled: texts,
        text: { type: 'string' },
      },
    };
    const contentType = 'application/json';
    const encoding = {
      deep: { style: 'deepObject', explode: true },
      comma: { explode: false },
      pipe: { style: 'pipeDelimited', explode: false },
      pairs: { style: 'spaceDelimited', explode: true },
      json: { contentType },
      styled: { contentType, explode: false },
      text: { contentType },
    };
    const requestBody = { content: { 'application/x-www-form-urlencoded': { schema, encoding } } };
    const { call } = await toolOf(documentOf({ requestBody }));
    expect(call.body?.content.members).toEqual([
      { name: 'plain', input: 'plain', style: 'form' },
      { name: 'deep', input: 'deep', style: 'deepObject' },
      { name: 'comma', input: 'comma', style: 'comma' },
      { name: 'pipe', input: 'pipe', style: 'pipe' },
      { name: 'pairs', input: 'pairs', style: 'form' },
      { name: 'json', input: 'json', style: 'json' },
      { name: 'styled', input: 'styled', style: 'comma' },
      { name: 'text', input: 'text' },
    ]);
  });

  const texts = { type: 'array', items: { type: 'string' } };
  const pathOf = async (more: object) => {
    const { call } = await toolOf(
      documentOf({ parameters: [{ name: 'chain', in: 'path', required: true, ...more }] }),
    );
    return call.params[0]?.style;
  };

  it.each([
    [{ schema: texts }, undefined],
    [{ schema: texts, style: 'label' }, 'label'],
    [{ schema: texts, style: 'label', explode: true }, 'label*'],
    [{ schema: { type: 'string' }, style: 'matrix' }, 'matrix'],
    [{ schema: { type: 'object' }, explode: true }, 'simple*'],
    [{ schema: { type: 'string' }, explode: true }, undefined],
    [{ content: { 'application/json': { schema: { type: 'object' } } } }, 'json'],
    [{ content: { 'text/plain': { schema: { type: 'string' } } } }, undefined],
  ])('are written in a path as %j says', async (parameter, style) => {
    expect(await pathOf(parameter)).toBe(style);
  });

  it('are written in a header as it says', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const content = { 'application/json': { schema } };
    const { call } = await toolOf(
      documentOf({
        parameters: [
          { name: 'X-A', in: 'header', schema, explode: true },
          { name: 'X-B', in: 'header', schema },
          { name: 'X-C', in: 'header', content },
        ],
      }),
    );
    expect(call.headers.map(({ style }) => style)).toEqual(['simple*', undefined, 'json']);
  });

  it('keep reserved characters where the document says so, or the import says that they do not', async () => {
    const parameter = (name: string, more: object) => ({
      name,
      in: 'query',
      allowReserved: true,
      schema: texts,
      ...more,
    });
    const parameters = [
      parameter('a', {}),
      parameter('b', { explode: false }),
      parameter('c', { style: 'deepObject' }),
    ];
    const schema = { type: 'object', properties: { d: { type: 'string' }, e: { type: 'string' } } };
    const encoding = { d: { allowReserved: true } };
    const requestBody = { content: { 'application/x-www-form-urlencoded': { schema, encoding } } };
    const { call, changes } = await toolOf(documentOf({ parameters, requestBody }));
    expect(call.query.map(({ style }) => style)).toEqual(['reserved', 'reservedComma', 'deepObject']);
    expect(call.body?.content.members).toEqual([
      { name: 'd', input: 'd', style: 'reserved' },
      { name: 'e', input: 'e' },
    ]);
    expect(changes.map(({ path, what }) => `${path} ${what}`)).toEqual([
      '#/paths/~1gas~1{chain}/post/parameters/2 has allowReserved, which this style cannot honour: reserved characters are percent-encoded',
    ]);
  });

  it('of Swagger 2.0 whose lists no request can write are left out, unless the API needs them', async () => {
    const old = (parameter: object) => swaggerOf({ parameters: [parameter] });
    const list = {
      name: 'ids',
      in: 'query',
      type: 'array',
      items: { type: 'string' },
      collectionFormat: 'tsv',
    };
    const { call, changes } = await toolOf(old(list));
    expect(call.query).toEqual([]);
    expect(changes[0]?.what).toBe(
      'is not sent: the collectionFormat of its lists, tsv, is not supported here',
    );
    expect((await refusalOf(old({ ...list, required: true })))?.message).toContain('tsv, is not supported');
    const header = { ...list, in: 'header', collectionFormat: 'pipes', required: true };
    expect((await refusalOf(old(header)))?.message).toContain('pipes, is not supported');
    expect((await refusalOf(old({ ...list, in: 'formData' })))?.message).toContain('tsv, is not supported');
  });

  it('of a form of Swagger 2.0 have commas in lists, unless it says otherwise', async () => {
    const list = (name: string, more = {}) => ({
      name,
      in: 'formData',
      type: 'array',
      items: { type: 'string' },
      ...more,
    });
    const parameters = [list('a'), list('b', { collectionFormat: 'multi' })];
    const { call } = await toolOf(swaggerOf({ parameters }));
    expect(call.body?.content.members).toEqual([
      { name: 'a', input: 'a', style: 'comma' },
      { name: 'b', input: 'b', style: 'form' },
    ]);
  });

  it('name the values of one alternative, and the first of a list that is too long', async () => {
    const many = Array.from({ length: 201 }, (_, i) => `c${i}`);
    const { inputs } = await toolOf(
      documentOf({
        parameters: [
          {
            name: 'at',
            in: 'query',
            schema: { anyOf: [{ type: 'integer' }, { type: 'string', enum: ['now'] }] },
          },
          { name: 'code', in: 'query', schema: { type: 'string', enum: many } },
        ],
      }),
    );
    expect(inputs.at).toMatchObject({ description: 'Known values: now.', examples: ['now'] });
    expect(inputs.code).toMatchObject({ type: 'string', examples: ['c0', 'c1', 'c2'] });
  });

  it('contain a body that is not an object as one argument', async () => {
    const requestBody = {
      required: true,
      content: { 'application/json': { schema: { type: 'array', items: { type: 'string' } } } },
    };
    const { call, inputs } = await toolOf(documentOf({ requestBody }));
    expect(call.body).toEqual({ kind: 'json', content: { input: 'body' } });
    expect(inputs.body).toMatchObject({ type: 'array' });
  });

  it('omit a header that no request can carry, unless the API needs it', async () => {
    const parameter = { name: 'Bad name:', in: 'header', schema: { type: 'string' } };
    const { call, changes } = await toolOf(documentOf({ parameters: [parameter] }));
    expect(call.headers).toEqual([]);
    expect(changes[0]?.what).toBe('has a name that no header can have: it is not sent');
    const refused = await refusalOf(documentOf({ parameters: [{ ...parameter, required: true }] }));
    expect(refused?.message).toContain('its name is not a valid header name');
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
    const keys = call.api.sharedKeys.map(({ key: _, in: __, variables, ...key }) => ({
      ...{ ...key, variables: variables.map(({ name }) => name) },
    }));
    expect(keys).toEqual([credential]);
    expect(Object.keys(inputs)).toEqual(['chain']);
    const [address, ...secrets] = apiVariables(call.api);
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
      expect(call.api.sharedKeys.map((one) => one.name)).toEqual([name]);
    },
  );

  it('are optional if the API works without them', async () => {
    const securitySchemes = { it: { type: 'http', scheme: 'bearer' } };
    const { call } = await toolOf(
      documentOf({ security: [{}, { it: [] }] }, { components: { securitySchemes } }),
    );
    expect(apiVariables(call.api)[1]).toMatchObject({ name: 'GAS_TOKEN', optional: true });
  });

  const bearer = { type: 'http', scheme: 'bearer' };
  const apiKey = (place: string, name: string) => ({ type: 'apiKey', in: place, name });
  const variablesOf = async (security: object[], securitySchemes: object, more = {}) => {
    const { call } = await toolOf(documentOf({ security, ...more }, { components: { securitySchemes } }));
    return {
      call,
      names: apiVariables(call.api)
        .slice(1)
        .map(({ name }) => name),
    };
  };

  it('whose names are the same constant have variables of their own, none of which is the address', async () => {
    const schemes = {
      a: apiKey('header', 'X-Api-Key'),
      b: apiKey('query', 'api_key'),
      c: apiKey('header', 'api.key'),
      d: apiKey('query', 'url'),
      e: apiKey('query', 'token'),
      f: bearer,
    };
    const { names } = await variablesOf([{ a: [], b: [], c: [], d: [], e: [], f: [] }], schemes);
    expect(names).toEqual([
      'GAS_API_KEY',
      'GAS_B_API_KEY',
      'GAS_C_API_KEY',
      'GAS_D_URL',
      'GAS_TOKEN',
      'GAS_F_TOKEN',
    ]);
  });

  it('that are parameters, too, are sent once and are never arguments', async () => {
    const parameters = [
      { name: 'X-Session', in: 'header', required: true, schema: { type: 'string' } },
      { name: 'X-Session', in: 'query', schema: { type: 'string' } },
    ];
    const { call, names } = await variablesOf(
      [{ it: [] }],
      { it: apiKey('header', 'x-session') },
      { parameters },
    );
    expect(names).toEqual(['GAS_SESSION']);
    expect(call.api.sharedKeys).toMatchObject([{ name: 'x-session' }]);
    expect(call.headers).toEqual([]);
    expect(call.query).toEqual([{ name: 'X-Session', input: 'X-Session' }]);
  });

  it('that are parameters are distinguished by their places', async () => {
    const parameters = ['query', 'header'].map((place) => ({ name: 'token', in: place, required: true }));
    const { names } = await variablesOf([{ it: [] }], { it: bearer }, { parameters });
    expect(names).toEqual(['GAS_TOKEN', 'GAS_QUERY_TOKEN', 'GAS_HEADER_TOKEN']);
  });

  it('have the same variable whichever operations are chosen', async () => {
    const securitySchemes = { users: bearer, admins: bearer, unused: bearer };
    const other = { get: { operationId: 'other', security: [{ users: [] }], responses: ok() } };
    const paths = {
      '/gas': { get: { operationId: 'getGas', security: [{ admins: [] }], responses: ok() } },
      '/other': other,
    };
    const document = { ...base, components: { securitySchemes }, paths };
    const tokenOf = async (name: string) =>
      (await toolOf(document, name)).call.api.sharedKeys[0]?.variables.map((one) => one.name);
    expect(await tokenOf('getGas')).toEqual(['GAS_ADMINS_TOKEN']);
    expect(await tokenOf('other')).toEqual(['GAS_TOKEN']);
  });

  it.each([
    ['together', [{ one: [], two: [] }]],
    ['as alternatives', [{ one: [] }, { two: [] }]],
  ])('that are two tokens, always named %s, are one variable', async (_, security) => {
    const { call, names } = await variablesOf(security, { one: { type: 'oauth2' }, two: bearer });
    expect(names).toEqual(['GAS_TOKEN']);
    expect(call.api.sharedKeys).toHaveLength(1);
    expect(call.api.auth).toBeUndefined();
  });

  it('that one header cannot carry together are no alternative', async () => {
    const schemes = { one: { type: 'http', scheme: 'basic' }, two: bearer, three: apiKey('header', 'k') };
    const { names } = await variablesOf([{ one: [], two: [] }, { three: [] }], schemes);
    expect(names).toEqual(['GAS_K']);
    const security = [{ one: [], two: [] }];
    expect(
      (await refusalOf(documentOf({ security }, { components: { securitySchemes: schemes } })))?.message,
    ).toContain('it accepts none of the supported credentials');
  });

  it('that are optional parameters are sent beside the others if they are set', async () => {
    const parameters = [{ name: 'key', in: 'query', schema: { type: 'string' } }];
    const one = await variablesOf([{ it: [] }], { it: bearer }, { parameters });
    expect(one.call.api.sharedKeys).toMatchObject([{ kind: 'bearer' }, { in: 'query', name: 'key' }]);
    expect(apiVariables(one.call.api).map(({ optional }) => optional)).toEqual([undefined, undefined, true]);
    const basic = { type: 'http', scheme: 'basic' };
    const two = await variablesOf([{ it: [] }, { other: [] }], { it: bearer, other: basic }, { parameters });
    expect(two.call.api.auth).toEqual([['it', 'key'], ['it'], ['other', 'key'], ['other']]);
  });

  it('are in the header Authorization if a parameter says so and no security scheme does', async () => {
    const schema = { type: 'string' };
    const parameters = [{ name: 'Authorization', in: 'header', required: true, schema }];
    const alone = await variablesOf([], {}, { parameters });
    expect(alone.call.api.sharedKeys).toMatchObject([{ name: 'Authorization', kind: 'plain' }]);
    expect([alone.names, Object.keys(alone.call.headers)]).toEqual([['GAS_AUTHORIZATION'], []]);
    const beside = await variablesOf([{ it: [] }], { it: bearer }, { parameters });
    expect(beside.call.api.sharedKeys).toMatchObject([{ name: 'authorization', kind: 'bearer' }]);
    expect(beside.names).toEqual(['GAS_TOKEN']);
  });

  it('are not multiplied without end by a hostile document', async () => {
    const names = ['key', 'token', 'apikey', 'appid', 'secret', 'app_key', 'api_key', 'access_token'];
    const parameters = ['query', 'header'].flatMap((place) =>
      names.map((name) => ({ name, in: place, schema: { type: 'string' } })),
    );
    const schemes = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`s${i}`, apiKey('query', `q${i}`)]),
    );
    const security = Object.keys(schemes).map((name) => ({ [name]: [] }));
    const { call } = await variablesOf(security, schemes, { parameters });
    expect(call.api.auth).toHaveLength(20 * 2 ** 4);
  });

  it('are refused if no program can send them', async () => {
    const securitySchemes = { it: { type: 'mutualTLS' } };
    const refused = await refusalOf(
      documentOf({ security: [{ it: [] }] }, { components: { securitySchemes } }),
    );
    expect(refused?.where).toBe('api.json#/paths/~1gas~1{chain}/get/security');
  });
});

describe('a body that no request can or need send', () => {
  it.each([
    ['OpenAPI 3', { requestBody: { content: { 'application/json': { schema: answer } } } }, {}],
    ['Swagger 2.0', { parameters: [{ name: 'q', in: 'body', schema: answer }] }, { swagger: '2.0' }],
  ])('that of a GET is not sent, and is listed: %s', async (_, operation, rest) => {
    const get = { operationId: 'getGas', responses: ok(), ...operation };
    const { call, inputs, changes } = await toolOf({ ...documentOf({}, rest), paths: { '/gas': { get } } });
    expect([call.body, inputs]).toEqual([null, {}]);
    expect(changes.map(({ what }) => what)).toEqual(['is the body of a GET request, which is not sent']);
  });

  it('an optional one that may have no members is no argument', async () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const content = { 'application/x-www-form-urlencoded': { schema, encoding: {} } };
    const { call, inputs } = await toolOf(documentOf({ requestBody: { required: false, content } }));
    expect([call.body, Object.keys(inputs)]).toEqual([null, ['chain']]);
  });
});

describe('OAuth 2', () => {
  const tokenUrl = 'https://auth.gas.example/token';
  const made = async (oauth: object) => {
    const components = { securitySchemes: { oauth } };
    const { call } = await toolOf(documentOf({ security: [{ oauth: [] }] }, { components }));
    return { api: call.api, text: setting({ name: 'headers', sentKeys: call.api.sharedKeys }) };
  };

  it.each([
    ['OpenAPI 3', { type: 'oauth2', flows: { implicit: {}, clientCredentials: { tokenUrl, scopes: {} } } }],
    ['Swagger 2.0', { type: 'oauth2', flow: 'application', tokenUrl }],
  ])('with client credentials fetches its tokens: %s', async (_, scheme) => {
    const { api, text } = await made(scheme);
    expect(text).toContain(
      'clientCredentials({ tokenUrl: env.GAS_TOKEN_URL, id: env.GAS_CLIENT_ID, secret: env.GAS_CLIENT_SECRET })',
    );
    expect(apiVariables(api).map(({ name, kind, fallback }) => [name, kind, fallback])).toEqual([
      ['GAS_URL', 'url', 'https://api.gas.example/v1'],
      ['GAS_TOKEN_URL', 'url', tokenUrl],
      ['GAS_CLIENT_ID', 'secret', undefined],
      ['GAS_CLIENT_SECRET', 'secret', undefined],
    ]);
  });

  it('asks for the scopes that the chosen operations name, each once; what is no scope is left out', async () => {
    const components = {
      securitySchemes: { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl } } } },
    };
    const get = (scopes: readonly string[]) => ({ responses: ok(), security: [{ oauth: scopes }] });
    const paths = {
      '/gas': { get: get(['gas:read', 'not a scope', 'gas:read']) },
      '/coins': { get: get(['https://gas.example/coins', 'gas:read']) },
      '/open': { get: { responses: ok(), security: [] } },
    };
    const document = { ...documentOf({}, { components }), paths };
    const headersOf = async (...operations: readonly string[]) => {
      const choice = { operations, tool: null };
      const [tool] = unwrap(toolsOfDocument(await read(document), choice, 'api.json', null));
      return setting({ name: 'headers', sentKeys: tool?.call?.api.sharedKeys ?? [] });
    };
    expect(await headersOf('GET /gas')).toContain(", scope: 'gas:read' })");
    expect(await headersOf('GET /gas', 'GET /coins')).toContain(
      "scope: 'gas:read https://gas.example/coins'",
    );
  });

  it.each([
    ['another flow', { type: 'oauth2', flows: { authorizationCode: { tokenUrl } } }],
    [
      'a token URL that is none',
      { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'file:///etc/passwd' } } },
    ],
  ])('with %s has a static token, and says that it ends', async (_, scheme) => {
    const { api, text } = await made(scheme);
    expect(text).toContain("env.GAS_TOKEN.after('Bearer ')");
    expect(apiVariables(api)[1]?.text).toContain('a static token, which ends');
  });
});

describe('a member of a body', () => {
  const inputsOf = (properties: object) => {
    const schema = { type: 'object', properties };
    const requestBody = { required: true, content: { 'application/json': { schema } } };
    return toolOf(documentOf({ requestBody }));
  };

  it('that may be null has its other type, and one that can only be null is dropped', async () => {
    const { inputs, changes } = await inputsOf({
      a: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      b: { oneOf: [{ type: 'null' }, { type: 'boolean' }] },
      c: { type: 'null' },
    });
    expect(inputs).toMatchObject({ a: { type: 'integer' }, b: { type: 'boolean' } });
    expect(inputs).not.toHaveProperty('c');
    expect(changes).toMatchObject([
      { what: 'accepts null, which callers cannot give' },
      { what: 'was dropped: it can only be null' },
    ]);
  });

  it('keeps multipleOf where it is whole, and lists it elsewhere', async () => {
    const { inputs, changes } = await inputsOf({
      a: { type: 'integer', multipleOf: 5 },
      b: { type: 'number', multipleOf: 0.01 },
    });
    expect(inputs.a).toMatchObject({ multipleOf: 5 });
    expect(inputs.b).not.toHaveProperty('multipleOf');
    expect(changes).toMatchObject([
      { path: expect.stringMatching(/b\/multipleOf$/), what: 'was dropped: it is not an integer' },
    ]);
  });
});

it('an empty text is no value of a path, also where its document lists it', async () => {
  const schema = { type: 'string', enum: ['', 'base'] };
  const { inputs } = await toolOf(
    documentOf({ parameters: [{ name: 'chain', in: 'path', required: true, schema }] }),
  );
  expect(inputs.chain).toMatchObject({ enum: ['base'] });
});
