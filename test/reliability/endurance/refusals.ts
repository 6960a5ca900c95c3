import { pick } from '../../random.ts';
import { type Caller, expectMembers, expectStatus } from './caller.ts';
import type { Kind } from './kind.ts';
import { type Answer, requestText } from './wire.ts';

/** Requests that a server must refuse with a specific error. */
export const refusals: readonly Kind[] = [
  { name: 'refused: token', share: 80, run: token },
  { name: 'refused: session', share: 60, run: session },
  { name: 'refused: batch', share: 40, run: batch },
  { name: 'refused: body', share: 40, run: body },
  { name: 'refused: nesting', share: 2, run: nesting },
  { name: 'refused: content type', share: 25, run: contentType },
  { name: 'refused: too large', share: 2, run: tooLarge },
  { name: 'refused: path or method', share: 20, run: place },
  { name: 'refused: origin', share: 15, run: origin },
  { name: 'refused: protocol version', share: 10, run: version },
];

/** The only page that may call the server. */
export const allowedOrigin = 'https://app.example';

const unauthorized = { error: 'Unauthorized' };
const invalidSession = { error: 'Invalid session' };
const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo_text', arguments: { nonce: 'x' } },
};
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

async function token(caller: Caller) {
  const forged = pick(caller.random, caller.world.forgeries);
  const credentials = [
    `Bearer ${forged}`,
    `Bearer ${caller.nonce()}`.normalize().replace(/[^ -~]/g, ''),
    'Bearer',
    '',
  ];
  const authorization = caller.random() < 0.7 ? `Bearer ${forged}` : pick(caller.random, credentials);
  expectStatus(await caller.post(call, caller.headers({ authorization })), 401, unauthorized);
}

async function session(caller: Caller) {
  const known = caller.session;
  const ids = [
    '00000000-0000-4000-8000-000000000000',
    known.slice(0, -1) + (known.endsWith('A') ? 'B' : 'A'),
    known.replace(/^./, (first) => (first === '0' ? '1' : '0')),
    `${known}.`,
    '__proto__',
    'constructor',
    'x'.repeat(4096),
    '',
  ];
  const headers = caller.paid({ 'mcp-session-id': pick(caller.random, ids) });
  const requests = [
    () => caller.post(call, headers),
    () => caller.post(list, headers),
    () => caller.exchange(requestText('GET', '/mcp', headers)),
    () => caller.exchange(requestText('DELETE', '/mcp', headers)),
  ];
  expectStatus(await pick(caller.random, requests)(), 400, invalidSession);
}

async function batch(caller: Caller) {
  const batches = [
    [],
    [call],
    [list, call],
    [[call]],
    [list],
    [list, list],
    Array(1000).fill(list),
    [null, 1, 'x'],
  ];
  const message = pick(caller.random, batches);
  if (caller.random() < 0.5 && JSON.stringify(message).includes('tools/call')) {
    return expectStatus(await caller.post(message, caller.headers()), 401, unauthorized);
  }
  expectRpcError(await caller.post(message, caller.paid()), 400, -32600);
}

const bodies: readonly (readonly [body: string, code: number])[] = [
  ['{', -32700],
  ['', -32700],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/call"', -32700],
  ['\u0000', -32700],
  ['NaN', -32700],
  ['7', -32600],
  ['null', -32600],
  ['"tools/call"', -32600],
  ['{}', -32600],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
];

async function body(caller: Caller) {
  const [text, code] = pick(caller.random, bodies);
  const paid = caller.random() < 0.5;
  expectRpcError(await caller.post(text, paid ? caller.paid() : caller.headers()), 400, code);
}

async function nesting(caller: Caller) {
  const depth = 20_000;
  const deep = '['.repeat(depth) + ']'.repeat(depth);
  expectStatus(await caller.post(deep, caller.headers()), 401, unauthorized);
  expectRpcError(await caller.post(deep, caller.paid()), 400, -32700);
  const params = `{"name":"echo_text","arguments":{"nonce":${deep}}}`;
  const request = `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":${params}}`;
  expectRpcError(await caller.post(request, caller.paid()), 400, -32700);
}

async function contentType(caller: Caller) {
  const types = [
    'text/plain',
    'application/json-patch+json',
    'application/json\u00a0',
    'multipart/form-data',
    'json',
  ];
  const headers = caller.headers({ 'content-type': pick(caller.random, types) });
  expectStatus(await caller.post(call, headers), 415);
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

async function place(caller: Caller) {
  const [method, path, status] = pick(caller.random, [
    ['GET', '/', 404],
    ['POST', '/mcp/', 404],
    ['POST', '//mcp', 404],
    ['GET', '/../../etc/passwd', 404],
    ['POST', '/health', 404],
    ['PUT', '/mcp', 405],
    ['PATCH', '/mcp', 405],
  ] as const);
  expectStatus(await caller.exchange(requestText(method, path, caller.paid())), status);
}

async function origin(caller: Caller) {
  const foreign = pick(caller.random, ['https://evil.example', 'null', 'http://localhost.evil.example']);
  const headers = caller.paid({ origin: foreign });
  expectStatus(await caller.post(call, headers), 403);
  expectStatus(await caller.exchange(requestText('OPTIONS', '/mcp', { origin: allowedOrigin })), 204);
}

async function version(caller: Caller) {
  const older = caller.headers({ 'mcp-protocol-version': pick(caller.random, ['1.0', '2025-12-01']) });
  expectRpcError(await caller.post(list, older), 400, -32600);
  const stateless = caller.headers({
    'mcp-protocol-version': pick(caller.random, ['2026-07-28', '2999-01-01']),
  });
  expectRpcError(await caller.post(list, stateless), 400, -32602);
}

function expectRpcError(answer: Answer, status: number, code: number): void {
  expectStatus(answer, status);
  expectMembers(JSON.parse(answer.body).error, { code });
}
