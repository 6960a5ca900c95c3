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
      timeoutMs: 10_000,
      ...parts,
    });
    http.close();
    const [request] = recorder.requests();
    expect(request?.head).toContain(`x-value: ${value}`);
    expect(request?.body).toEqual(body);
  });
});

/** The expected bytes of each raw probe: parts of header lines (one character per byte), or bytes of a body. */
interface Wire {
  readonly rule: string;
  readonly heads?: readonly string[];
  readonly bodies?: readonly (string | RegExp)[];
}

const call = String.raw`\{"jsonrpc":"2\.0","id":1,"method":"tools/call","params":\{[^\u0080-\uffff]*\}\}`;
const tail = (name: string) =>
  new RegExp(String.raw`^\{"jsonrpc":"2\.0","id":1,"method":"${name}","params":\{`);
const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'x'.repeat(4096)];
const unknown = '00000000-0000-4000-8000-000000000000';
const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

const wires: readonly Wire[] = [
  { rule: 'gate.batch', bodies: [new RegExp(`^\\[${call}\\]$`)] },
  {
    rule: 'gate.batch-mixed',
    bodies: [
      new RegExp(
        `^\\[\\{"jsonrpc":"2.0","id":1,"method":"tools/list"\\},${call},\\{"jsonrpc":"2.0","id":1,"method":"tools/list"\\}\\]$`,
      ),
    ],
  },
  { rule: 'gate.batch-nested', bodies: [new RegExp(`^\\[\\[${call}\\]\\]$`)] },
  {
    rule: 'gate.content-type',
    heads: [
      'content-type: application/json\xa0',
      'content-type: application/json;',
      'content-type: application/json; charset',
      'content-type: text/plain',
      'content-type: ',
    ],
    bodies: [new RegExp(`^${call}$`)],
  },
  {
    rule: 'gate.method-spelling',
    bodies: [
      tail(String.raw`tools\\u002fcall`),
      tail(String.raw`tools\\/call`),
      tail('Tools/Call'),
      tail('tools/call '),
      tail(' tools/call'),
      tail(String.raw`tools/call\\u0000`),
    ],
  },
  {
    rule: 'gate.duplicate-keys',
    bodies: [
      /^\{"method":"tools\/list","jsonrpc":"2\.0","id":1,"method":"tools\/call",/,
      /^\{"method":"initialize","jsonrpc":"2\.0","id":1,"method":"tools\/call",/,
      /^\{"jsonrpc":"2\.0","id":1,"method":"tools\/call",.*,"method":"tools\/list"\}$/,
      /^\{"jsonrpc":"2\.0","id":1,"method":"tools\/call",.*,"method":"initialize"\}$/,
    ],
  },
  { rule: 'gate.notification', bodies: [/^\{"jsonrpc":"2\.0","method":"tools\/call","params":\{/] },
  {
    rule: 'gate.trusted-headers',
    heads: [
      'x-forwarded-user: platform',
      'x-authenticated: true',
      'x-payment-verified: true',
      'x-forwarded-for: 127.0.0.1',
      'x-http-method-override: GET',
    ],
  },
  {
    rule: 'gate.garbage',
    heads: [
      'authorization: Bearer garbage',
      'authorization: Bearer a.b.c',
      'authorization: Bearer ..',
      'authorization: Bearer e30.e30.',
      `authorization: Bearer ${'x'.repeat(4096)}`,
    ],
  },
  { rule: 'gate.empty-token', heads: ['authorization: Bearer', 'authorization: Bearer ', 'authorization: '] },
  {
    rule: 'gate.other-scheme',
    heads: ['authorization: Basic ey', 'authorization: Token ey', 'authorization: ey'],
  },
  { rule: 'gate.scheme-case', heads: ['authorization: bearer ey'] },
  { rule: 'session.unknown-post', heads: [`mcp-session-id: ${unknown}`] },
  { rule: 'session.long', heads: [`mcp-session-id: ${ids.at(-1)}`] },
  { rule: 'session.prototype', heads: ids.slice(0, 4).map((id) => `mcp-session-id: ${id}`) },
  { rule: 'session.prototype-get', heads: ids.slice(0, 4).map((id) => `mcp-session-id: ${id}`) },
  {
    rule: 'session.delete-unknown',
    heads: ['DELETE /mcp HTTP/1.1', ...ids.map((id) => `mcp-session-id: ${id}`)],
  },
  { rule: 'http.accept-any', heads: ['accept: */*'] },
  { rule: 'http.accept-json', heads: ['accept: application/json'] },
  { rule: 'http.accept-events', heads: ['accept: text/event-stream'] },
  { rule: 'http.charset', heads: ['content-type: application/json; charset=utf-8'] },
  { rule: 'http.any-host', heads: ['host: tools.example.com'] },
  { rule: 'http.content-type', heads: ['content-type: text/plain'], bodies: [list] },
  { rule: 'http.malformed', bodies: ['{"jsonrpc": "2.0", "id": 1, "method": "tools/list"'] },
  { rule: 'http.empty', heads: ['content-length: 0'], bodies: [''] },
  { rule: 'http.not-object', bodies: ['"tools/list"'] },
  { rule: 'http.null', bodies: ['null'] },
  { rule: 'http.foreign-origin', heads: ['origin: https://attacker.example'] },
  { rule: 'http.other-methods', heads: ['PUT /mcp HTTP/1.1', 'PATCH /mcp HTTP/1.1'] },
  {
    rule: 'http.large-body',
    bodies: [/^\{"jsonrpc":"2\.0","id":1,"method":"tools\/list","params":\{"filler":"x{4194304}"\}\}$/],
  },
  { rule: 'http.large-body-chunked', heads: ['Transfer-Encoding: chunked'] },
  { rule: 'http.deep-body', bodies: [`${'['.repeat(20_000)}${']'.repeat(20_000)}`] },
  { rule: 'http.slow-body', heads: ['content-length: 100'], bodies: ['{"jsonrpc"'] },
  {
    rule: 'answers.no-stack',
    heads: ['GET /%00 HTTP/1.1'],
    bodies: [
      '{',
      '',
      '[[[]]]',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}',
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":5}',
    ],
  },
  {
    rule: 'protocol.string-id',
    bodies: [String.raw`{"jsonrpc":"2.0","id":"an id of \"quotes\" and ünicode","method":"tools/list"}`],
  },
  {
    rule: 'protocol.ill-formed',
    bodies: [
      '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
      '{"id":1,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":{"in":"an object"},"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":true,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"method":["tools/list"]}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"cursor"}',
      '{"jsonrpc":"2.0","id":1}',
    ],
  },
];

describe('each raw probe is sent byte for byte', () => {
  it.each(wires)('$rule', async ({ rule, heads = [], bodies = [] }) => {
    await runContract({ url: recorder.url, profile: context, signer }, { selects: ({ id }) => id === rule });
    const requests = recorder.requests();
    const lines = requests.flatMap(({ head }) => head);
    for (const line of heads) {
      const isWhole = !line.endsWith(' ey');
      expect(
        lines.some((sent) => (isWhole ? sent === line : sent.startsWith(line))),
        line,
      ).toBe(true);
    }
    // The ids of a run are unique.
    const sent = requests.map(({ body }) => body.toString('utf8').replaceAll(/"id":[1-9]\d*/g, '"id":1'));
    for (const body of bodies) {
      expect(sent.some((one) => (typeof body === 'string' ? one === body : body.test(one)))).toBe(true);
    }
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
