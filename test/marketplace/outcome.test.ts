import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { walkableValuesIn } from '../../src/marketplace/core/answer-values.ts';
import { exchangeOutcome } from '../../src/marketplace/core/call-verdict.ts';
import { startApi } from '../api-server.ts';
import { resultOf } from '../broken/good-server.ts';
import { listen } from '../listen.ts';
import { formFor, openMarketplace, startServer } from './support.ts';

/** The outcome of a tools/call with a valid token whose answer has this body. */
const ofCall = (body: string, status = 200, type = 'application/json') =>
  exchangeOutcome({ status, values: walkableValuesIn(body, type), id: 1, isCall: true, refusal: null });

/** A result with this data as text and as structuredContent. */
const result = (data: object, more: object = {}) => {
  const content = [{ type: 'text', text: JSON.stringify(data) }];
  return JSON.stringify({ id: 1, result: { content, structuredContent: data, ...more } });
};
/** A result with a text alone. */
const text = (said: string, more: object = {}) =>
  JSON.stringify({ id: 1, result: { content: [{ type: 'text', text: said }], ...more } });
const isError = true;

test.each([
  ['data (C§2.2)', result({ price: 1 }), { kind: 'found', code: null }],
  ['searchExhausted (C§2.2)', result({ price: null, searchExhausted: true }), { kind: 'empty', code: null }],
  [
    'noResultsReason (C§2.2), in the text alone',
    text('{"noResultsReason":"no such coin"}'),
    { kind: 'empty', code: null },
  ],
  [
    'nothing, and no signal of it (C§7)',
    result({ price: null, rows: [] }),
    { kind: 'empty', code: 'no signal' },
  ],
  [
    'isError with a code (C§2.2)',
    result({ error: 'RATE_LIMITED', message: 'later' }, { isError }),
    { kind: 'failed', code: 'RATE_LIMITED' },
  ],
  [
    'isError with a code in the text alone',
    text('{"error":"NO_ROUTE"}', { isError }),
    { kind: 'failed', code: 'NO_ROUTE' },
  ],
  [
    'isError of an unknown tool, which has no code (C§4.1)',
    text('Unknown tool: x', { isError }),
    { kind: 'failed', code: null },
  ],
  ['a JSON-RPC error', '{"id":1,"error":{"code":-32602}}', { kind: 'failed', code: '-32602' }],
  ['no result', '{"jsonrpc":"2.0","id":1}', { kind: 'failed', code: 'no result' }],
  ['HTML', '<h1>Bad gateway</h1>', { kind: 'failed', code: 'no result' }],
])('%s', (_, body, outcome) => {
  expect(ofCall(body)).toEqual(outcome);
});

test('reads a stream of events, past its notifications and responses to other requests', () => {
  const stream =
    'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n' +
    'data: {"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"price":1}}}\n\n' +
    'data: {"jsonrpc":"2.0","id":1,\ndata: "result":{"isError":true,"content":[],"structuredContent":{"error":"DOWN"}}}\n\n';
  expect(ofCall(stream, 200, 'text/event-stream')).toEqual({ kind: 'failed', code: 'DOWN' });
});

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const named = (error: string) =>
  JSON.stringify({ id: 1, result: { isError: true, structuredContent: { error } } });

test.each([
  ['an error whose code is no number', '{"id":1,"error":{"code":{"toString":null}}}', null],
  ['an error whose code is nested too deep', `{"id":1,"error":{"code":${nested(100_000)}}}`, 'no result'],
  [
    'data that is nested too deep',
    `{"id":1,"result":{"structuredContent":{"a":null,"b":${nested(100_000)}}}}`,
    'no result',
  ],
  ['a code as long as an answer', named(`<b>${'x'.repeat(100_000)}`), `<b>${'x'.repeat(77)}`],
  [
    'the response to another request',
    '{"id":2,"result":{"content":[],"structuredContent":{"price":1}}}',
    'no result',
  ],
])('an answer of a hostile server is a failure: %s', (_, body, code) => {
  expect(ofCall(body)).toEqual({ kind: 'failed', code });
});

test('a hostile answer ends no marketplace, and every page shows it', async () => {
  const error = `{"toString":null,"a":${nested(100_000)}}`;
  const result =
    '{"tools":[],"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"a","version":"1"}}';
  const { origin } = await startApi(({ headers, body }) => {
    const { id } = JSON.parse(body || '{}');
    const answer = headers.authorization === undefined ? `"result":${result}` : `"error":{"code":${error}}`;
    return { headers: { 'mcp-session-id': 'a' }, body: `{"jsonrpc":"2.0","id":${id},${answer}}` };
  });
  const endpoint = `${origin}/mcp`;
  const marketplace = await openMarketplace({ endpoint });
  const { id, verdict } = await marketplace.call({ endpoint, tool: 'x', arguments: {} });
  expect(verdict.outcome).toBe('http-error');
  expect(marketplace.traffic.get(id)?.outcome).toEqual({ kind: 'failed', code: 'no result' });
});

test('an HTTP error is a failure, unless the contract expects this refusal (C§7)', () => {
  const unauthorized = '{"error":"Unauthorized"}';
  const invalid = '{"error":"Invalid session"}';
  const values = (body: string) => walkableValuesIn(body, 'application/json');
  const answer = (status: number, body: string, refusal: 'Unauthorized' | 'Invalid session' | null) =>
    exchangeOutcome({ status, values: values(body), id: 1, isCall: true, refusal });
  expect(answer(401, unauthorized, null)).toEqual({ kind: 'failed', code: 'HTTP 401' });
  expect(answer(401, unauthorized, 'Unauthorized')).toEqual({ kind: 'refused', code: 'HTTP 401' });
  expect(answer(403, unauthorized, 'Unauthorized')).toEqual({ kind: 'refused', code: 'HTTP 403' });
  expect(answer(400, invalid, 'Invalid session')).toEqual({ kind: 'refused', code: 'HTTP 400' });
  expect(answer(400, invalid, null)).toEqual({ kind: 'failed', code: 'HTTP 400' });
  expect(answer(404, invalid, 'Invalid session')).toEqual({ kind: 'failed', code: 'HTTP 404' });
  expect(answer(400, invalid, 'Unauthorized')).toEqual({ kind: 'failed', code: 'HTTP 400' });
  expect(answer(401, 'Unauthorized', 'Unauthorized')).toEqual({ kind: 'failed', code: 'HTTP 401' });
  expect(answer(503, unauthorized, 'Unauthorized')).toEqual({ kind: 'failed', code: 'HTTP 503' });
  const data = '{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"price":1}}}';
  expect(answer(200, data, 'Unauthorized')).toEqual({ kind: 'failed', code: 'not refused' });
});

test('a request that is no call is answered or failed', () => {
  const of = (status: number, body: string) =>
    exchangeOutcome({
      status,
      values: walkableValuesIn(body, 'application/json'),
      id: 1,
      isCall: false,
      refusal: null,
    });
  expect(of(202, '')).toEqual({ kind: 'answered', code: null });
  expect(of(200, '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}')).toEqual({ kind: 'answered', code: null });
  expect(of(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}')).toEqual({
    kind: 'failed',
    code: '-32601',
  });
  expect(of(500, 'oops')).toEqual({ kind: 'failed', code: 'HTTP 500' });
});

test('records the outcome and the arguments of a call, and of what a submission sends', async () => {
  const endpoint = await startServer();
  const marketplace = await openMarketplace({ endpoint });
  const { id } = await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
  const rpc = { method: 'tools/call', tool: 'get_price', arguments: '{"symbol":"BTC"}' };
  expect(marketplace.traffic.get(id)).toMatchObject({ rpc, outcome: { kind: 'found', code: null } });
  await marketplace.register(formFor(endpoint));
  const failures = marketplace.traffic.newest(1_000, ({ outcome }) => outcome?.kind === 'failed');
  expect(failures.map(({ rpc, outcome, error }) => [rpc, outcome, error])).toEqual([]);
  const unpaid = marketplace.traffic
    .all()
    .filter(({ purpose, rpc }) => purpose === 'registration' && rpc?.tool);
  expect(unpaid.map(({ outcome }) => outcome?.kind)).toEqual(['refused', 'found', 'found']);
});

test('an unpaid call that is answered is a failure (C§5.4), and so is a result that does not match (C§7)', async () => {
  const endpoint = await startServer({
    authorized: () => async () => true,
    result: () => () => resultOf({ symbol: 'BTC', price: '64000' }),
  });
  const marketplace = await openMarketplace({ endpoint });
  const [definition] = (await marketplace.caller.tools(endpoint)) as [{ name: string }];
  const order = { endpoint, tool: 'get_price', arguments: {}, definition };
  const unpaid = await marketplace.call({ ...order, deliberate: 'no-token' });
  const paid = await marketplace.call(order);
  const outcomes = [unpaid, paid].map(({ id }) => marketplace.traffic.get(id)?.outcome?.code);
  expect(outcomes).toEqual(['not refused', 'schema mismatch']);
});

test('judges an answer that is too long to be kept, and names why there is none', async () => {
  const rows = `"${'x'.repeat(400_000)}"`;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.headers['x-end'] === '1') return request.socket.destroy();
      response.setHeader('content-type', 'application/json').setHeader('mcp-session-id', 's');
      response.end(
        `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"rows":[${rows}],"searchExhausted":true}}}`,
      );
    });
  });
  const port = await listen(server);
  const endpoint = `http://127.0.0.1:${port}/mcp`;
  const marketplace = await openMarketplace({ endpoint });
  const send = (headers: Record<string, string>) =>
    marketplace.caller.probing(endpoint, { purpose: 'call' }, async (probe, recorder) => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'rows', arguments: {} } };
      const token = await probe.token();
      await probe.post(body, { token, headers }).catch(() => {});
      return marketplace.traffic.get(recorder.last ?? 0);
    });
  const long = await send({});
  expect(long?.response?.cut).toBeGreaterThan(0);
  expect(long?.outcome).toEqual({ kind: 'empty', code: null });
  const none = await send({ 'x-end': '1' });
  expect(none).toMatchObject({
    error: expect.stringContaining('ECONNRESET'),
    outcome: { code: 'no answer' },
  });
});
