import { describe, expect, test } from 'vitest';
import { start, token } from './support.ts';
import { price, tools } from './tools.ts';

// What the self-check of a generated server asks (test/scaffold/) is not asked here: versions, empty lists, Accept, notifications.

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

  test.each(['', 'tools', 'resources/read', 'logging/setLevel', 'tasks/list', '__proto__', 'constructor'])(
    'method %j is not found',
    async (method) => {
      const { client } = await start();
      const { status, body } = await client.request(method, {}, await client.session());
      expect({ status, body }).toMatchObject({ status: 200, body: { id: 1, error: { code: -32601 } } });
    },
  );
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

test('keeps concurrent calls apart', async () => {
  const { client } = await start();
  const values = Array.from({ length: 200 }, (_, index) => `value ${index}`);
  const results = await Promise.all(values.map((value) => client.call('echo', { value })));
  expect(results.map((result) => result.structuredContent.text)).toEqual(values);
});
