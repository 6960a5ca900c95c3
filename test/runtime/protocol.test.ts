import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { info, initializeParams, start, token } from './support.ts';
import { price, tools } from './tools.ts';

describe('initialize', () => {
  test.each([...SUPPORTED_PROTOCOL_VERSIONS, '2026-07-28', 'unknown'])(
    'version %s',
    async (protocolVersion) => {
      const { client } = await start();
      const { status, headers, body } = await client.request('initialize', {
        ...initializeParams,
        protocolVersion,
      });
      expect(status).toBe(200);
      expect(headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]{32,}$/);
      const known = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion);
      expect(body).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion: known ? protocolVersion : SUPPORTED_PROTOCOL_VERSIONS[0],
          capabilities: { tools: {} },
          serverInfo: info,
        },
      });
    },
  );

  test('health reports the same identity', async () => {
    const { url } = await start();
    const response = await fetch(url.replace('/mcp', '/health'));
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ status: 'ok', server: info.name, version: info.version });
  });
});

describe('without a token', () => {
  test('tools/list returns the definitions as the author wrote them', async () => {
    const { client } = await start();
    const { body } = await client.request('tools/list', undefined, await client.session());
    const { run: _, examples: __, ...definition } = price;
    expect(body.result.tools[0]).toEqual(definition);
    expect(body.result.tools.map(({ name }: { name: string }) => name)).toEqual(
      tools.map(({ name }) => name),
    );
  });

  test.each([
    ['resources/list', { resources: [] }],
    ['prompts/list', { prompts: [] }],
    ['ping', {}],
  ])('%s', async (method, result) => {
    const { client } = await start();
    expect((await client.request(method, {}, await client.session())).body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result,
    });
  });

  test.each(['', 'tools', 'resources/read', 'logging/setLevel', 'tasks/list', '__proto__', 'constructor'])(
    'method %j is not found',
    async (method) => {
      const { client } = await start();
      const { status, body } = await client.request(method, {}, await client.session());
      expect({ status, body }).toMatchObject({ status: 200, body: { id: 1, error: { code: -32601 } } });
    },
  );
});

describe('regardless of Accept', () => {
  test.each([
    undefined,
    '*/*',
    'application/json',
    'text/event-stream',
    'application/json, text/event-stream',
    'x/y',
  ])('Accept %j gets JSON', async (accept) => {
    const { url } = await start();
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(accept && { accept }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  test('supported values of MCP-Protocol-Version pass, others are refused', async () => {
    const { client } = await start();
    const session = await client.session();
    for (const version of SUPPORTED_PROTOCOL_VERSIONS) {
      const { status } = await client.request('ping', {}, { ...session, 'mcp-protocol-version': version });
      expect(status).toBe(200);
    }
    const refused = await client.request('ping', {}, { ...session, 'mcp-protocol-version': '1999-01-01' });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
  });
});

describe('notifications', () => {
  test.each([
    { method: 'notifications/initialized' },
    { method: 'notifications/cancelled', params: { requestId: 1 } },
    { method: 'notifications/anything', params: { a: 1 } },
  ])('%j', async (message) => {
    const { client } = await start();
    const answer = await client.send({ jsonrpc: '2.0', ...message }, await client.session());
    expect(answer).toMatchObject({ status: 202, text: '' });
  });
});

describe('malformed messages', () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  test.each(['', '{', 'null x', '\u0000', '{"jsonrpc":"2.0",}', "{'a':1}", '['.repeat(500)])(
    '%j is a parse error',
    async (text) => {
      const { client } = await start();
      const answer = await client.send(text, await client.session());
      expect(answer).toMatchObject({
        status: 400,
        body: { jsonrpc: '2.0', id: null, error: { code: -32700 } },
      });
    },
  );

  test.each(['['.repeat(20_000), deep(501), `{"a":${deep(501)},"method":"tools/call"}`])(
    'one that nests too deeply may be a call: without a token it is unauthorized, with one a parse error',
    async (text) => {
      const { client } = await start();
      const session = await client.session();
      expect(await client.send(text, session)).toMatchObject({
        status: 401,
        body: { error: 'Unauthorized' },
      });
      const paid = { ...session, authorization: `Bearer ${await token()}` };
      expect(await client.send(text, paid)).toMatchObject({
        status: 400,
        body: { id: null, error: { code: -32700 } },
      });
    },
  );

  test.each(['null', '1', '"tools/call"', 'true', '[]', deep(500)])('%j is not a request', async (text) => {
    const { client } = await start();
    const answer = await client.send(text, await client.session());
    expect(answer).toMatchObject({ status: 400, body: { id: null, error: { code: -32600 } } });
  });

  test.each([
    '{}',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":7}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","extra":1}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
    `{"jsonrpc":"2.0","id":${deep(400)},"method":"ping"}`,
    `{"jsonrpc":"2.0","id":1,"method":"ping","extra":${deep(400)}}`,
  ])('%s is an invalid request', async (text) => {
    const { client } = await start();
    const answer = await client.send(text, await client.session());
    expect(answer).toMatchObject({ status: 400, body: { jsonrpc: '2.0', error: { code: -32600 } } });
    expect(answer.text).not.toMatch(/ at |zod|Error:/);
  });

  test('params may nest 500 levels deep, not counting brackets in texts', async () => {
    const { client } = await start();
    const headers = { ...(await client.session()), authorization: `Bearer ${await token()}` };
    const send = (method: string, params: string) =>
      client.send(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`, headers);
    for (const method of ['ping', 'tools/list', 'tools/call']) {
      expect((await send(method, `{"name":"get_price","x":${deep(498)}}`)).status).toBe(200);
      expect((await send(method, `{"name":"get_price","x":${deep(499)}}`)).status).toBe(400);
      const text = JSON.stringify(`\\"${deep(20_000)}{{{`);
      expect((await send(method, `{"name":"get_price","x":${text}}`)).status).toBe(200);
    }
    const call = await send('tools/call', `{"name":"get_price","arguments":{"coin":${deep(400)}}}`);
    expect(call.body.result.structuredContent.error).toBe('INVALID_ARGUMENTS');
  });
});

describe('tools/call', () => {
  test.each([undefined, {}, { name: 7 }, { name: null, arguments: {} }])(
    'without a name: %j',
    async (params) => {
      const { client } = await start();
      const headers = { ...(await client.session()), authorization: `Bearer ${await token()}` };
      const { status, body } = await client.request('tools/call', params, headers);
      expect({ status, code: body.error.code }).toEqual({ status: 200, code: -32602 });
    },
  );

  test.each(['nope', '__proto__', 'constructor', '', 'get_price '])(
    'an unknown tool is named: %j',
    async (name) => {
      const { client } = await start();
      const result = await client.call(name);
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toContain(`Unknown tool: ${name}.`);
      expect(result.structuredContent).toBeUndefined();
    },
  );

  test('truncates and sanitizes the name of an unknown tool', async () => {
    const { client } = await start();
    const { content } = await client.call(`\u001b[31m\u202e${'x'.repeat(5000)}`);
    expect(content[0].text.length).toBeLessThan(200);
    expect(content[0].text).not.toMatch(/\p{C}/u);
  });

  test.each([null, [], 'x', 7])('arguments %j are invalid', async (args) => {
    const { client } = await start();
    const headers = { ...(await client.session()), authorization: `Bearer ${await token()}` };
    const { body } = await client.request('tools/call', { name: 'get_price', arguments: args }, headers);
    expect(body.result.structuredContent.message).toMatch(/^arguments: must be object, got /);
  });

  test('logs one line per call without its arguments', async () => {
    const { client, events } = await start();
    await client.call('get_price', { coin: 'nothing' });
    await client.call('throwing', { value: 'sensitive' });
    const calls = events().filter(({ event }) => event === 'call');
    expect(calls).toEqual([
      {
        time: expect.any(String),
        event: 'call',
        tool: 'get_price',
        ms: expect.any(Number),
        outcome: 'empty',
        request: expect.stringMatching(/^[b-df-hj-np-t]{20}$/),
      },
      {
        time: expect.any(String),
        event: 'call',
        tool: 'throwing',
        ms: expect.any(Number),
        outcome: 'INTERNAL_ERROR',
        code: 'INTERNAL_ERROR',
        request: events().find(({ event }) => event === 'incident')?.id,
      },
    ]);
    expect(calls[0]?.request).not.toBe(calls[1]?.request);
    expect(JSON.stringify(events())).not.toMatch(/sensitive|nothing|eyJ/);
  });
});

test('returns results that the SDK’s own client validates, for all outcomes', async () => {
  const { url } = await start();
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${await token()}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  expect(client.getServerVersion()).toEqual(info);
  expect((await client.listTools()).tools).toHaveLength(tools.length);
  for (const coin of ['btc', 'nothing', 'broken', 7]) {
    const { content, structuredContent } = await client.callTool({ name: 'get_price', arguments: { coin } });
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
  }
  for (const name of ['throwing', 'lying', 'rigid']) {
    expect((await client.callTool({ name, arguments: {} })).isError).toBe(true);
  }
  await client.close();
});

test('keeps concurrent calls apart', async () => {
  const { client } = await start();
  const values = Array.from({ length: 200 }, (_, index) => `value ${index}`);
  const results = await Promise.all(values.map((value) => client.call('echo', { value })));
  expect(results.map((result) => result.structuredContent.text)).toEqual(values);
});
