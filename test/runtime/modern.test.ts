import { describe, expect, test } from 'vitest';
import type { Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { envelope, modernRequest, paid } from './modern.ts';
import { info, initializeParams, type RawClient, start, token } from './support.ts';
import { textTool } from './tools.ts';

type Sent = ReturnType<typeof modernRequest>;

const send = (client: RawClient, { body, headers }: Sent, more: Record<string, string> = {}) =>
  client.send(body, { ...headers, ...more });
const error = (status: number, code: number) => ({
  status,
  body: { jsonrpc: '2.0', id: 1, error: { code, message: expect.any(String) } },
});
/** The answer to a message whose id cannot be read. */
const unreadable = (code: number) => ({
  status: 400,
  text: expect.stringMatching(`^{"jsonrpc":"2.0","error":{"code":${code},"message":"[^"]+"}}$`),
});
const serverInfo = { 'io.modelcontextprotocol/serverInfo': info };
const called = () => modernRequest('tools/call', { name: 'get_price', arguments: { coin: 'btc' } });
const changed = (request: Sent, changes: object): Sent => ({
  ...request,
  body: { ...request.body, ...changes },
});
const withMeta = (meta: object, headers = {}) => modernRequest('tools/list', { _meta: meta }, headers);

describe('without a session the server answers', () => {
  test('server/discover without a token', async () => {
    const { client } = await start();
    const { status, headers, body } = await send(client, modernRequest('server/discover'));
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('mcp-session-id')).toBeNull();
    expect(body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        _meta: serverInfo,
        ttlMs: 0,
        cacheScope: 'public',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
      },
    });
  });

  test('tools/list with a cache time of a minute in production', async () => {
    const { client } = await start({ env: { NODE_ENV: 'production' } });
    const { body } = await send(client, modernRequest('tools/list'));
    expect(body.result).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
  });

  test('an unknown tool with a result that names it', async () => {
    const { client } = await start();
    const { status, body } = await send(client, modernRequest('tools/call', { name: 'none' }), await paid());
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ isError: true, resultType: 'complete' });
    expect(body.result.content[0].text).toContain('none');
  });

  test.each([1, 'a', '', -1, 0])('with the id %j, which the answer repeats', async (id) => {
    const { client } = await start();
    const { body } = await send(client, changed(modernRequest('tools/list'), { id }));
    expect(body.id).toBe(id);
  });
});

describe('the revision of a request, and its answer', () => {
  // Those with one wrong header or entry: sdk.test.ts.
  const rows: Record<string, readonly [request: Sent, answer: object]> = {
    'a version that is not served': [
      withMeta(envelope({ protocolVersion: '1900-01-01' }), { 'mcp-protocol-version': '1900-01-01' }),
      {
        status: 400,
        body: {
          jsonrpc: '2.0',
          id: 1,
          error: {
            code: -32022,
            message: expect.any(String),
            data: { supported: ['2026-07-28'], requested: '1900-01-01' },
          },
        },
      },
    ],
    'a version of the past in _meta': [
      withMeta(envelope({ protocolVersion: '2025-11-25' }), { 'mcp-protocol-version': '2025-11-25' }),
      { status: 400, body: { error: { code: -32022, data: { requested: '2025-11-25' } } } },
    ],
    'a version of the future': [
      withMeta(envelope({ protocolVersion: '2027-01-01' }), { 'mcp-protocol-version': '2027-01-01' }),
      { status: 400, body: { error: { code: -32022, data: { requested: '2027-01-01' } } } },
    ],
    'a version of the future in the header alone': [
      withMeta(envelope({ protocolVersion: undefined }), { 'mcp-protocol-version': '2027-01-01' }),
      error(400, -32602),
    ],
    'a header without _meta': [withMeta({}), error(400, -32602)],
    ...Object.fromEntries(
      [
        'initialize',
        'ping',
        'resources/list',
        'prompts/list',
        'logging/setLevel',
        'resources/subscribe',
        'resources/unsubscribe',
        'subscriptions/listen',
        'unknown',
        '__proto__',
        'constructor',
      ].map((method) => [`the method ${method}`, [modernRequest(method), error(404, -32601)] as const]),
    ),
    'initialize with only a modern header': [
      {
        ...modernRequest('initialize'),
        body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams },
      },
      error(400, -32020),
    ],
    'a notification': [
      changed(modernRequest('notifications/cancelled', {}, { 'mcp-method': undefined }), { id: undefined }),
      { status: 202, text: '' },
    ],
    'a posted response': [
      { ...modernRequest('x'), body: { jsonrpc: '2.0', id: 1, result: {} } },
      unreadable(-32600),
    ],
    'a posted error': [
      { ...modernRequest('x'), body: { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } } },
      unreadable(-32600),
    ],
    'an id of null': [changed(modernRequest('tools/list'), { id: null }), unreadable(-32600)],
    'an id that is a fraction': [changed(modernRequest('tools/list'), { id: 1.5 }), unreadable(-32600)],
    'a message of another JSON-RPC': [
      changed(modernRequest('tools/list'), { jsonrpc: '1.0' }),
      unreadable(-32600),
    ],
  };

  test.each(Object.entries(rows))('%s', async (_, [request, answer]) => {
    const { client } = await start();
    expect(await send(client, request)).toMatchObject(answer);
    const session = await client.session();
    expect(await send(client, request, session)).toMatchObject(answer);
  });

  test.each([
    ['an array', [modernRequest('tools/list').body], -32600],
    ['an empty array', [], -32600],
    ['a text', '"x"', -32600],
    ['no JSON', '{"jsonrpc":', -32700],
    ['500 levels and more', `${'['.repeat(600)}${']'.repeat(600)}`, -32700],
  ])('%s under a modern header: an error without an id', async (_, body, code) => {
    const { client } = await start();
    const authorization = `Bearer ${await token()}`; // a body that nests too deeply may contain a call
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list', authorization };
    expect(await client.send(body, headers)).toMatchObject(unreadable(code));
  });

  test('an array with a modern message needs no modern header', async () => {
    const { client } = await start();
    const { status, body } = await client.send([{}, modernRequest('tools/list').body]);
    expect(status).toBe(400);
    expect(body).toEqual({ jsonrpc: '2.0', error: { code: -32600, message: expect.any(String) } });
  });

  test('a message without a modern version is legacy', async () => {
    const { client } = await start();
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: { progressToken: 1 } } };
    for (const version of [undefined, '2025-11-25', '2026-07-2', 'x2026-07-28', '', 'draft']) {
      const headers: Record<string, string> =
        version === undefined ? {} : { 'mcp-protocol-version': version };
      expect(await client.send(list, headers)).toMatchObject({
        status: 400,
        body: { error: 'Invalid session' },
      });
      const known = version === undefined || version === '2025-11-25';
      const { status } = await client.send(list, { ...headers, ...(await client.session()) });
      expect(status, version).toBe(known ? 200 : 400);
    }
    expect((await client.send('{', {})).body).toMatchObject({ id: null, error: { code: -32700 } });
  });
});

describe('Mcp-Name repeats the name of the tool', () => {
  const named = (name: string, header: string | undefined) =>
    modernRequest('tools/call', { name, arguments: {} }, { 'mcp-name': header });
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
  const rows: readonly (readonly [name: string, header: string | undefined, agrees: boolean])[] = [
    ['get_price', 'get_price', true],
    ['get_price', '  get_price\t', true],
    ['get_price', base64('get_price'), true],
    ['日本', base64('日本'), true],
    [' padded ', base64(' padded '), true],
    [base64('x'), base64(base64('x')), true],
    ['=?base64?get_price', '=?base64?get_price', true],
    ['Z2V0', 'Z2V0', true],
    ['get_price', undefined, false],
    ['get_price', 'echo', false],
    ['get_price', 'Get_Price', false],
    ['get_price', 'get_price, get_price', false],
    ['get_price', '=?BASE64?Z2V0X3ByaWNl?=', false],
    ['get_price', '=?base64?Z2V0X3ByaWNl', false],
    ['Hello', '=?base64?SGVsbG8?=', false],
    ['Hello', '=?base64?SGVs!!!bG8=?=', false],
    ['\ufffd', '=?base64?/w==?=', false],
    [base64('x'), base64('x'), false],
    ['é', 'é', false],
    ['', undefined, false],
  ];

  test.each(rows)('%j by %j', async (name, header, agrees) => {
    const { client, events } = await start();
    const { status, body } = await send(client, named(name, header), await paid());
    if (agrees) expect(status).toBe(200);
    else expect({ status, body }).toMatchObject(error(400, -32020));
    expect(events().filter(({ event }) => event === 'call')).toHaveLength(agrees ? 1 : 0);
  });

  test('a name that is not a string', async () => {
    const { client } = await start();
    const request = modernRequest('tools/call', { name: 7 }, { 'mcp-name': '7' });
    expect(await send(client, request, await paid())).toMatchObject(error(400, -32602));
  });
});

describe('headers that repeat arguments', () => {
  const property = (type: string, header: string) => ({ type, description: 'Some', 'x-mcp-header': header });
  const tool: Tool = {
    ...textTool('routed', (input, { found }) => found({ text: JSON.stringify(input) })),
    inputSchema: {
      type: 'object',
      properties: {
        region: property('string', 'Region'),
        rows: property('integer', 'Rows'),
        deep: { type: 'object', properties: { on: property('boolean', 'On') } },
      },
      required: [],
    },
  };
  const rows: readonly (readonly [args: object, headers: Record<string, string>, agrees: boolean])[] = [
    [{}, {}, true],
    [{ region: 'eu' }, { region: 'eu' }, true],
    [{ region: 'é' }, { region: '=?base64?w6k=?=' }, true],
    [{ region: '42.0' }, { region: '42.0' }, true],
    [{ rows: 42 }, { rows: '42.0' }, true],
    [{ rows: -7 }, { rows: '=?base64?LTc=?=' }, true],
    [{ deep: { on: true } }, { on: 'true' }, true],
    [{ region: null, deep: null }, {}, true],
    [{ region: 'eu' }, {}, false],
    [{ region: 'eu' }, { region: 'us' }, false],
    [{ region: 'eu' }, { region: 'EU' }, false],
    [{ region: '42' }, { region: '42.0' }, false],
    [{}, { region: 'eu' }, false],
    [{ region: null }, { region: 'null' }, false],
    [{ rows: 42 }, { rows: '43' }, false],
    [{ rows: 42 }, { rows: '0x2a' }, false],
    [{ deep: { on: true } }, { on: 'false' }, false],
    [{ deep: { on: true } }, {}, false],
  ];

  test.each(rows)('%j by %j', async (args, params, agrees) => {
    const { client, events } = await start({ tools: [tool] });
    const repeated = Object.entries(params).map(([name, value]) => [`mcp-param-${name}`, value]);
    const request = modernRequest(
      'tools/call',
      { name: 'routed', arguments: args },
      Object.fromEntries(repeated),
    );
    const { status, body } = await send(client, request, await paid());
    if (agrees) expect(status).toBe(200);
    else expect({ status, body }).toMatchObject(error(400, -32020));
    expect(events().filter(({ event }) => event === 'call')).toHaveLength(agrees ? 1 : 0);
  });

  test('a page may send them, and the headers of every request', async () => {
    const { client } = await start({ tools: [tool], env: { ALLOWED_ORIGINS: 'https://app.example' } });
    const { status, headers } = await client.send(undefined, { origin: 'https://app.example' }, 'OPTIONS');
    expect(status).toBe(204);
    const allowed = headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining([
        ...['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'authorization'],
        ...['mcp-param-region', 'mcp-param-rows', 'mcp-param-on'],
      ]),
    );
  });
});

test('a profile with modern: off serves only sessions', async () => {
  const { client } = await start({ modern: false });
  for (const request of [modernRequest('tools/list'), modernRequest('server/discover'), called()]) {
    const refused = { status: 400, body: { error: 'Invalid session' } };
    expect(await send(client, request, await paid())).toMatchObject(refused);
  }
  expect(await client.call('get_price', {})).toMatchObject({ structuredContent: { price: 12.5 } });
});
