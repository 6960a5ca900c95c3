import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { createHttp } from '../../../packages/contract/src/wire/http.ts';
import { createSteps, type RunningServer, serve } from '../../broken/good-server.ts';
import { signer, trust } from '../../broken/trust.ts';
import { type Recorder, record } from './recorder.ts';

let server: RunningServer;
let recorder: Recorder;

beforeAll(async () => {
  server = await serve(createSteps(trust));
});
afterAll(() => server.stop());
beforeEach(async () => {
  recorder = await record(server.url);
});
afterEach(() => recorder.stop());

describe('a request is sent byte for byte', () => {
  const visible = (from: number, to: number) =>
    String.fromCharCode(...Array.from({ length: to - from + 1 }, (_, index) => from + index));
  const value = `a\t${visible(0x20, 0x7e)}${visible(0x80, 0xff)}z`;
  const text = 'ünïcode "\u00a0" \u{1f600}';
  const bytes = Buffer.from([0, 0x80, 0xff, 0xc2, 0xa0]);

  it.each([
    ['without a body', {}, Buffer.alloc(0)],
    ['with an empty text', { body: '' }, Buffer.alloc(0)],
    ['with a text', { body: text }, Buffer.from(text)],
    ['with bytes', { body: bytes }, bytes],
    ['with a text in chunks', { body: text, chunked: true }, Buffer.from(text)],
    ['with a text after its headers', { body: text, onHeadersRead: () => {} }, Buffer.from(text)],
  ])('%s', async (_, parts, body) => {
    const http = createHttp();
    await http.exchange({
      method: 'POST',
      url: new URL(recorder.url),
      headers: { 'x-value': value },
      timeoutMs: 60_000,
      ...parts,
    });
    http.close();
    const [request] = recorder.requests();
    expect(request?.head).toContain(`x-value: ${value}`);
    expect(request?.body).toEqual(body);
  });
});

const call = String.raw`\{"jsonrpc":"2\.0","id":1,"method":"tools/call","params":\{[^\u0080-\uffff]*\}\}`;
const tail = (name: string) =>
  new RegExp(String.raw`^\{"jsonrpc":"2\.0","id":1,"method":"${name}","params":\{`);
const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'x'.repeat(4096)];

/** Header lines, one character per byte; those that end in ` ey` begin a token. */
const heads: Readonly<Record<string, readonly string[]>> = {
  'gate.content-type': [
    'content-type: application/json\xa0',
    'content-type: application/json;',
    'content-type: application/json; charset',
    'content-type: text/plain',
    'content-type: ',
  ],
  'gate.garbage': [
    'authorization: Bearer garbage',
    'authorization: Bearer a.b.c',
    'authorization: Bearer ..',
    'authorization: Bearer e30.e30.',
    `authorization: Bearer ${'x'.repeat(4096)}`,
  ],
  'gate.empty-token': ['authorization: Bearer', 'authorization: Bearer ', 'authorization: '],
  'gate.request-form': [
    'origin: https://ctxprotocol.com',
    'Transfer-Encoding: chunked',
    'POST /mcp HTTP/1.0',
  ],
  'gate.session-state': ['mcp-session-id: 00000000-0000-4000-8000-000000000000'],
  'session.long': [`mcp-session-id: ${ids.at(-1)}`],
  'session.prototype': ids.slice(0, 4).map((id) => `mcp-session-id: ${id}`),
  'session.delete-unknown': ['DELETE /mcp HTTP/1.1', ...ids.map((id) => `mcp-session-id: ${id}`)],
  'http.empty': ['content-length: 0'],
  'http.other-methods': ['PUT /mcp HTTP/1.1', 'PATCH /mcp HTTP/1.1'],
  'http.large-body-chunked': ['Transfer-Encoding: chunked'],
  'http.slow-body': ['content-length: 100'],
  'answers.no-stack': ['GET /%00 HTTP/1.1'],
};

const bodies: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'gate.batch': [new RegExp(`^\\[${call}\\]$`)],
  'gate.batch-mixed': [
    new RegExp(
      `^\\[\\{"jsonrpc":"2.0","id":1,"method":"tools/list"\\},${call},\\{"jsonrpc":"2.0","id":1,"method":"tools/list"\\}\\]$`,
    ),
  ],
  'gate.batch-nested': [new RegExp(`^\\[\\[${call}\\]\\]$`)],
  'gate.content-type': [new RegExp(`^${call}$`)],
  'gate.method-spelling': [
    tail(String.raw`tools\\u002fcall`),
    tail(String.raw`tools\\/call`),
    tail('Tools/Call'),
    tail('tools/call '),
    tail(' tools/call'),
    tail(String.raw`tools/call\\u0000`),
  ],
  'gate.duplicate-keys': [
    /^\{"method":"tools\/list","jsonrpc":"2\.0","id":1,"method":"tools\/call",/,
    /^\{"method":"initialize","jsonrpc":"2\.0","id":1,"method":"tools\/call",/,
    /^\{"jsonrpc":"2\.0","id":1,"method":"tools\/call",.*,"method":"tools\/list"\}$/,
    /^\{"jsonrpc":"2\.0","id":1,"method":"tools\/call",.*,"method":"initialize"\}$/,
  ],
  'gate.request-form': [
    /^\{ {6000}"jsonrpc":"2\.0","id":1,"method":"tools\/call",/,
    /^\{"jsonrpc":"2\.0","id":"call-\d+","method":"tools\/call",/,
    /^\{"jsonrpc":"2\.0","id":1,"method":"tools\/call",.*"_meta":\{"progressToken":"unpaid"\}\}\}$/,
  ],
  'gate.notification': [/^\{"jsonrpc":"2\.0","method":"tools\/call","params":\{/],
  'http.malformed': ['{"jsonrpc": "2.0", "id": 1, "method": "tools/list"'],
  'http.empty': [''],
  // The server refuses it before all of it is sent.
  'http.large-body': [/^\{"jsonrpc":"2\.0","id":1,"method":"tools\/list","params":\{"filler":"x{1000}/],
  'http.deep-body': [`${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  'http.slow-body': ['{"jsonrpc"'],
  'answers.no-stack': [
    '{',
    '',
    '[[[]]]',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}',
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":5}',
  ],
  'protocol.string-id': [
    String.raw`{"jsonrpc":"2.0","id":"an id of \"quotes\" and ünicode","method":"tools/list"}`,
  ],
  'protocol.ill-formed': [
    '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
    '{"id":1,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":{"in":"an object"},"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":true,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":["tools/list"]}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"cursor"}',
    '{"jsonrpc":"2.0","id":1}',
  ],
};

describe('each raw probe is sent byte for byte', () => {
  it.each([...new Set([...Object.keys(heads), ...Object.keys(bodies)])])('%s', async (rule) => {
    await runContract({ url: recorder.url, profile: context, signer }, { selects: ({ id }) => id === rule });
    const requests = recorder.requests();
    const lines = requests.flatMap(({ head }) => head);
    for (const line of heads[rule] ?? []) {
      const isWhole = !line.endsWith(' ey');
      expect(
        lines.some((sent) => (isWhole ? sent === line : sent.startsWith(line))),
        line,
      ).toBe(true);
    }
    // The ids of a run are unique.
    const sent = requests.map(({ body }) => body.toString('utf8').replaceAll(/"id":[1-9]\d*/g, '"id":1'));
    for (const body of bodies[rule] ?? []) {
      expect(sent.some((one) => (typeof body === 'string' ? one === body : body.test(one)))).toBe(true);
    }
  });

  it('a call with two invalid tokens has two header lines', async () => {
    await runContract(
      { url: recorder.url, profile: context, signer },
      { selects: ({ id }) => id === 'gate.request-form' },
    );
    const tokens = recorder
      .requests()
      .map(({ head }) => head.filter((line) => /^authorization:/i.test(line)));
    expect(tokens).toContainEqual(['authorization: Bearer garbage', 'authorization: Bearer garbage']);
  });

  it('a request without Accept has no Accept header', async () => {
    await runContract(
      { url: recorder.url, profile: context, signer },
      { selects: ({ id }) => id === 'http.accept-absent' },
    );
    const posts = recorder.requests().filter(({ head }) => head[0]?.startsWith('POST'));
    expect(posts.filter(({ head }) => !head.some((line) => /^accept:/i.test(line)))).toHaveLength(2);
  });
});
