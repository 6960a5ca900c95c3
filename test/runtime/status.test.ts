import { describe, expect, it, vi } from 'vitest';
import { retryWords } from '../../packages/runtime/src/server/call-result.ts';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { failed } from '../../packages/runtime/src/source/source-errors.ts';
import { callTool } from '../../packages/runtime/src/testing.ts';
import { always, errorOf, gas, gasTool, json, key, quiet, source, sourceServer } from './source-server.ts';

quiet();

const failureOf = async (status: number, body: unknown, headers = {}) => {
  const { api, received } = await source(always(body, status, headers));
  const error = await errorOf(api.get('/x', { schema: gas }));
  return { error, received };
};

describe('what only the operator can fix', () => {
  // The bodies are those of PayPal, OpenAI, RapidAPI, Google, Anthropic, Etherscan-like and Alpha-Vantage-like APIs.
  it.each([
    [402, {}],
    [402, { name: 'PAYMENT_REQUIRED' }],
    [
      429,
      { error: { message: 'You exceeded your current quota, please check your plan and billing details.' } },
    ],
    [429, { message: 'You have exceeded the MONTHLY quota for Requests on your current plan, BASIC.' }],
    [403, { error: { errors: [{ reason: 'dailyLimitExceeded' }], message: 'Daily Limit Exceeded' } }],
    [403, { error: 'Your credit balance is too low to access the API.' }],
    [403, { message: 'Your free trial has ended. Please upgrade to a paid plan.' }],
    [
      429,
      {
        Information: 'Our standard usage limit is 25 requests. Please subscribe to any of the premium plans.',
      },
    ],
  ])('%i %j is SOURCE_QUOTA, is not repeated, and the log names the fix', async (status, body) => {
    const { error, received } = await failureOf(status, body);
    expect(error.code).toBe('SOURCE_QUOTA');
    expect(`${error.code} ${error.message} ${JSON.stringify(error.hints)}`).not.toMatch(retryWords);
    expect(received).toHaveLength(1);
    const line = JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0]);
    expect(line).toMatchObject({ status, hint: expect.stringContaining('Raise the quota') });
  });

  it.each([
    ['a wait in its header', 429, { message: 'Monthly quota exceeded' }, { 'retry-after': '900' }],
    [
      'a rate in its text',
      429,
      { message: "Quota exceeded for 'Queries per minute'." },
      { 'x-ratelimit-reset': '900' },
    ],
    ['no such words', 429, { message: 'Too many requests' }, { 'x-ratelimit-reset': '900' }],
    [
      '403 and no request left',
      403,
      { message: 'API rate limit exceeded' },
      { 'x-ratelimit-remaining': '0' },
    ],
  ])('with %s is a limit of the rate', async (_, status, body, headers) => {
    expect((await failureOf(status, body, headers)).error.code).toBe('RATE_LIMITED');
  });

  it('with a forbidden key is refused', async () => {
    expect((await failureOf(403, { message: 'Invalid API key' })).error.code).toBe('SOURCE_REFUSED');
  });
});

describe('what the caller can fix', () => {
  it.each([409, 410, 412])('%i has a sentence of its own', async (status) => {
    const { error, received } = await failureOf(status, {});
    expect(error).toMatchObject({ code: 'SOURCE_REJECTED', hints: {} });
    expect(error.message).not.toBe((await failureOf(400, {})).error.message);
    expect(error.message).not.toMatch(retryWords);
    expect(received).toHaveLength(1);
  });

  // RFC 9457, RFC 6749, GitHub, Stripe, FastAPI, Laravel, Rails, JSON:API, Google, a list, and a text.
  it.each([
    [
      { type: 'about:blank', title: 'Bad Request', detail: 'chain must be base or ethereum' },
      'chain must be base or ethereum',
    ],
    [
      { error: 'invalid_request', error_description: 'The chain is unknown' },
      'The chain is unknown; invalid_request',
    ],
    [
      { message: 'Validation Failed', errors: [{ field: 'q', code: 'missing' }] },
      'Validation Failed; q: missing',
    ],
    [
      { error: { message: 'No such customer', param: 'customer', code: 'resource_missing' } },
      'customer: No such customer',
    ],
    [
      { detail: [{ loc: ['query', 'limit'], msg: 'value is not a valid integer' }] },
      'query.limit: value is not a valid integer',
    ],
    [
      { message: 'Invalid.', errors: { chain: ['is unknown'], at: ['is late'] } },
      'Invalid.; chain: is unknown; at: is late',
    ],
    [{ errors: ['Name is too short'] }, 'Name is too short'],
    [{ errors: [{ title: 'Invalid', detail: 'Year is in the future' }] }, 'Year is in the future'],
    [{ error: { code: 400, message: 'Bad chain', status: 'INVALID_ARGUMENT' } }, 'Bad chain'],
    [[{ message: 'one' }, { message: 'two' }], 'one; two'],
  ])('%j has its reason as detail', async (body, detail) => {
    expect((await failureOf(422, body)).error.hints).toEqual({ detail });
    expect((await failureOf(400, body)).error.hints).toEqual({ detail });
    expect((await failureOf(404, body)).error.hints).toEqual({});
  });

  it.each([[{}], ['bad'], [{ message: '' }], [{ message: { message: { a: 1 } } }], [7]])(
    '%j gives no reason',
    async (body) => expect((await failureOf(400, body)).error.hints).toEqual({}),
  );

  it('a reason is one line of 300 characters, without keys and without words that repeat a call', async () => {
    const body = { message: `network\n\u202etimeout at 500 or 429:\u0000 ${key} is ${'😀'.repeat(400)}` };
    const { error } = await failureOf(400, body);
    expect(error.hints.detail).toMatch(/^… … at … or …: \[secret\] is (?:😀)+$/u);
    expect([...String(error.hints.detail)].length).toBeLessThan(301);
  });

  it('reaches the caller of a tool, except where its schema has another detail', async () => {
    const { api } = await source(always({ message: 'no such chain' }, 422));
    const call = async (more: object) => {
      const tool = gasTool(
        (_, { fail, found }) =>
          api.get('/x', {}).then(
            () => found({}),
            (error) => failed(error, fail),
          ),
        more,
      );
      return (await callTool(tool)).structuredContent;
    };
    expect(await call({})).toMatchObject({ error: 'SOURCE_REJECTED', detail: 'no such chain' });
    expect(await call({ detail: { type: 'number' } })).not.toHaveProperty('detail');
  });
});

describe('202 of a write took effect', () => {
  const parcel = {
    type: 'object',
    properties: { id: { type: ['string', 'null'] } },
    required: ['id'],
  } as const;

  it.each([['{"status":"queued"}'], ['queued'], ['']])('whatever it says: %j', async (text) => {
    const { api, received } = await source((_, response) => response.writeHead(202).end(text));
    expect(await api.post('/x', { json: {}, schema: parcel })).toEqual({ done: true, id: null });
    expect(received).toHaveLength(1);
  });

  it('with the declared answer, it is that answer; of a read, it is malformed', async () => {
    const { api } = await source(always({ id: 'P1' }, 202));
    expect(await api.post('/x', { schema: parcel })).toEqual({ id: 'P1' });
    const other = await source(always({ status: 'queued' }, 202));
    expect((await errorOf(other.api.get('/x', { schema: parcel }))).code).toBe('SOURCE_MALFORMED');
  });
});

describe('an MCP server', () => {
  const schema = {
    type: 'object',
    properties: { result: { type: 'string' } },
    required: ['result'],
  } as const;
  const errorFrom = async (answer: object, status = 200) => {
    const { url } = await sourceServer((request, response) => {
      const { id } = JSON.parse(request.body);
      const isCall = request.headers['mcp-method'] === 'tools/call';
      const body = JSON.stringify({ jsonrpc: '2.0', id, ...answer });
      response.writeHead(isCall ? status : 404, { 'content-type': 'application/json' }).end(body);
    });
    const mcp = mcpSource({ baseUrl: url, protocolVersion: '2026-07-28' });
    return errorOf(mcp.call('get_gas', { schema, wrap: 'text' }));
  };

  it('that fails is quoted without words that repeat a call, also by a tool that writes', async () => {
    const content = [{ type: 'text', text: 'Rate limit of 500: network timeout' }];
    const error = await errorFrom({ result: { isError: true, content } });
    expect(error).toMatchObject({ code: 'SOURCE_FAILED', message: 'The source failed: … of …: … …' });
  });

  it('that asks for something in a stream gets the answer that no such method exists, at once', async () => {
    const asked: unknown[] = [];
    let finish: (() => void) | undefined;
    const { url } = await sourceServer((request, response) => {
      const message = JSON.parse(request.body);
      if (message.method === 'initialize')
        return json(response, { jsonrpc: '2.0', id: message.id, result: {} });
      if (message.method !== 'tools/call') {
        if (message.id !== undefined) asked.push(message);
        if (asked.length === 2) finish?.();
        return response.writeHead(202).end();
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = (more: object) =>
        `event: message\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...more })}\r\n\r\n`;
      const [first, second] = [
        { id: 'e-1', method: 'elicitation/create', params: { message: 'ü' } },
        { id: 7, method: 'ping' },
      ].map(event);
      const half = Buffer.from(first ?? '').subarray(0, 90);
      response.write(half);
      setImmediate(() =>
        response.write(Buffer.concat([Buffer.from(first ?? '').subarray(90), Buffer.from(second ?? '')])),
      );
      const content = [{ type: 'text', text: 'none' }];
      finish = () => response.end(event({ id: message.id, result: { content } }));
    });
    expect(await mcpSource({ baseUrl: url }).call('get_gas', { schema, wrap: 'text' })).toEqual({
      result: 'none',
    });
    expect(asked).toEqual([
      { jsonrpc: '2.0', id: 'e-1', error: { code: -32601, message: 'Method not found' } },
      { jsonrpc: '2.0', id: 7, result: {} },
    ]);
  });

  it('that rejects arguments gives its reason', async () => {
    const error = { code: -32602, message: 'chain: unknown' };
    expect(await errorFrom({ error })).toMatchObject({
      code: 'SOURCE_REJECTED',
      hints: { detail: 'chain: unknown' },
    });
    expect(await errorFrom({ error: { code: -32000, message: 'no' } }, 402)).toMatchObject({
      code: 'SOURCE_QUOTA',
    });
  });
});
