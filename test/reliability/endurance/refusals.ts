import { pick } from '../../random.ts';
import { type Caller, expectMembers, expectStatus } from './caller.ts';
import type { Kind } from './kind.ts';
import { type Answer, requestText } from './wire.ts';

/** Requests that a server must refuse with a specific error. */
export const refusals: readonly Kind[] = [
  refusal('token', 80, (caller) => {
    const forged = `Bearer ${pick(caller.random, caller.world.forgeries)}`;
    const authorization = pick(caller.random, [forged, forged, forged, 'Bearer n0nce', 'Bearer', '']);
    return [caller.post(call, caller.headers({ authorization })), 401, unauthorized];
  }),
  refusal('session', 60, (caller) => {
    const known = caller.session;
    const ids = [
      '00000000-0000-4000-8000-000000000000',
      known.slice(0, -1) + (known.endsWith('A') ? 'B' : 'A'),
      known.replace(/^./, (first) => (first === '0' ? '1' : '0')),
      ...[`${known}.`, '__proto__', 'constructor', 'x'.repeat(4096), ''],
    ];
    const headers = caller.paid({ 'mcp-session-id': pick(caller.random, ids) });
    const method = pick(caller.random, ['POST', 'POST', 'GET', 'DELETE']);
    const body = pick(caller.random, [call, list]);
    const answer =
      method === 'POST' ? caller.post(body, headers) : caller.exchange(requestText(method, '/mcp', headers));
    return [answer, 400, { error: 'Invalid session' }];
  }),
  refusal('batch', 40, (caller) => {
    const calls = [[call], [list, call], [[call]]];
    if (caller.random() < 0.2)
      return [caller.post(pick(caller.random, calls), caller.headers()), 401, unauthorized];
    const others = [[], [list], [list, list], Array(1000).fill(list), [null, 1, 'x']];
    return [caller.post(pick(caller.random, [...calls, ...others]), caller.paid()), 400, -32600];
  }),
  refusal('body', 40, (caller) => {
    const [text, code] = pick(caller.random, bodies);
    return [caller.post(text, caller.random() < 0.5 ? caller.paid() : caller.headers()), 400, code];
  }),
  refusal('nesting', 2, (caller) => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    if (caller.random() < 0.3) return [caller.post(deep, caller.headers()), 401, unauthorized];
    const params = `{"name":"echo_text","arguments":{"nonce":${deep}}}`;
    const request = `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":${params}}`;
    return [caller.post(pick(caller.random, [deep, request]), caller.paid()), 400, -32700];
  }),
  refusal('content type', 25, (caller) => {
    const types = [
      'text/plain',
      'application/json-patch+json',
      'application/json\u00a0',
      'multipart/form-data',
      'json',
    ];
    return [caller.post(call, caller.headers({ 'content-type': pick(caller.random, types) })), 415];
  }),
  { name: 'refused: too large', share: 2, run: tooLarge },
  refusal('path or method', 20, (caller) => {
    const [method, path, status] = pick(caller.random, [
      ['GET', '/', 404],
      ['POST', '/mcp/', 404],
      ['POST', '//mcp', 404],
      ['GET', '/../../etc/passwd', 404],
      ['POST', '/health', 404],
      ['PUT', '/mcp', 405],
      ['PATCH', '/mcp', 405],
    ] as const);
    return [caller.exchange(requestText(method, path, caller.paid())), status];
  }),
  refusal('origin', 15, (caller) => {
    if (caller.random() < 0.5)
      return [caller.exchange(requestText('OPTIONS', '/mcp', { origin: allowedOrigin })), 204];
    const origin = pick(caller.random, ['https://evil.example', 'null', 'http://localhost.evil.example']);
    return [caller.post(call, caller.paid({ origin })), 403];
  }),
  refusal('protocol version', 10, (caller) => {
    const [version, code] = pick(caller.random, versions);
    return [caller.post(list, caller.headers({ 'mcp-protocol-version': version })), 400, code];
  }),
];

/** The only page that may call the server. */
export const allowedOrigin = 'https://app.example';

const unauthorized = { error: 'Unauthorized' };
const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo_text', arguments: { nonce: 'x' } },
};
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const versions = [
  ['1.0', -32600],
  ['2025-12-01', -32600],
  ['2026-07-28', -32602],
  ['2999-01-01', -32602],
] as const;
const bodies: readonly (readonly [body: string, code: number])[] = [
  ...['{', '', '{"jsonrpc":"2.0","id":1,"method":"tools/call"', '\u0000', 'NaN'].map(
    (text) => [text, -32700] as const,
  ),
  ...['7', 'null', '"tools/call"', '{}', '{"jsonrpc":"1.0","id":1,"method":"ping"}'].map(
    (text) => [text, -32600] as const,
  ),
  ...['{"jsonrpc":"2.0","id":{},"method":"ping"}', '{"jsonrpc":"2.0","id":1,"method":7}'].map(
    (text) => [text, -32600] as const,
  ),
];

/** What a request gets: its answer, the status, and the body, or the code of the JSON-RPC error. */
type Refused = readonly [answer: Promise<Answer>, status: number, said?: object | number];

function refusal(name: string, share: number, ask: (caller: Caller) => Refused): Kind {
  const run = async (caller: Caller) => {
    const [asked, status, said] = ask(caller);
    const answer = await asked;
    expectStatus(answer, status, typeof said === 'object' ? said : undefined);
    if (typeof said === 'number') expectMembers(JSON.parse(answer.body).error, { code: said });
  };
  return { name: `refused: ${name}`, share, run };
}

/** A body over the limit, of declared or undeclared length. Its end is never sent, so no request can follow it. */
async function tooLarge(caller: Caller) {
  const wire = await caller.wire();
  caller.sent();
  if (caller.random() < 0.5) {
    wire.send(requestText('POST', '/mcp', caller.paid({ 'content-length': '50000000' })));
  } else {
    wire.send(requestText('POST', '/mcp', caller.paid({ 'transfer-encoding': 'chunked' })));
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    for (let count = 0; count < 17; count += 1) wire.send(chunk);
  }
  expectStatus(caller.received(await wire.answer()), 413);
  caller.drop();
}
