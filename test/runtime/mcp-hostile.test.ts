import { describe, expect, it, vi } from 'vitest';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { EventReader } from '../../packages/runtime/src/source/mcp-stream.ts';
import { Secret } from '../../packages/runtime/src/source/secret.ts';
import { errorOf, gas, json, key, quiet, sourceServer } from './source-server.ts';

quiet();

/** What a server answers a call with, beside an `initialize` that it answers as it should. */
type Said = (id: number) => string | readonly string[];

async function upstream(said: Said, closes = false) {
  const { url } = await sourceServer(({ body }, response) => {
    const { id, method } = JSON.parse(body);
    if (method === 'initialize')
      return json(response, { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18' } });
    if (method !== 'tools/call') return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of [said(id)].flat()) response.write(part);
    return void (closes ? response.destroy() : response.end());
  });
  const headers = { authorization: new Secret('TIDES_TOKEN', key).after('Bearer ') };
  const source = mcpSource({ baseUrl: url, headers, timeoutMs: 60_000, maxBytes: 1_000_000 });
  return { call: () => source.call('x', { schema: gas, isReadOnly: true }) };
}

const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const answer = (id: unknown, gwei: unknown = 1) => event({ id, result: { structuredContent: { gwei } } });

describe('a hostile MCP server', () => {
  it.each<[string, Said, string | object]>([
    ['answers another request', (id) => answer(id + 1), 'SOURCE_MALFORMED'],
    ['answers with a text as id', (id) => answer(String(id)), 'SOURCE_MALFORMED'],
    ['answers twice', (id) => answer(id) + answer(id, 2), { gwei: 1 }],
    ['answers a batch', (id) => `data: [${answer(id).slice(6, -2)}]\n\n`, 'SOURCE_MALFORMED'],
    [
      'sends 5,000 notifications first',
      (id) => [event({ method: 'n' }).repeat(5_000), answer(id)],
      { gwei: 1 },
    ],
    ['sends more than the limit', () => `data: ${'x'.repeat(1_000)}\n\n`.repeat(2_000), 'SOURCE_TOO_LARGE'],
    ['sends no answer', () => ': only a comment\n\n', 'SOURCE_MALFORMED'],
    [
      'names a prototype',
      (id) => answer(id).replace('"gwei":1', '"__proto__":{"gwei":1}'),
      'SOURCE_MALFORMED',
    ],
    [
      'nests an answer deeply',
      (id) => answer(id, []).replace('[]', '['.repeat(50_000) + ']'.repeat(50_000)),
      'SOURCE_MALFORMED',
    ],
    ['repeats the key', (id) => answer(id, `Bearer ${key}`), 'SOURCE_MALFORMED'],
  ])('that %s ends in %j', async (_, said, ended) => {
    const { call } = await upstream(said);
    if (typeof ended === 'string') expect((await errorOf(call())).code).toBe(ended);
    else expect(await call()).toEqual(ended);
    expect(JSON.stringify(vi.mocked(console.error).mock.calls)).not.toContain(key);
  });

  it('that closes the stream in an answer is unavailable', async () => {
    const { call } = await upstream((id) => answer(id).slice(0, 30), true);
    expect((await errorOf(call())).code).toBe('SOURCE_UNAVAILABLE');
  });
});

/** Reads a stream in chunks, and counts what was parsed before each turn. */
async function readEvents(stream: string, chunkSize = 65_536) {
  const parse = vi.spyOn(JSON, 'parse');
  const replies: object[] = [];
  const parsedBeforeTurn: number[] = [];
  const turn = async () => void parsedBeforeTurn.push(parse.mock.calls.length);
  const reader = new EventReader(1, turn, (reply) => replies.push(reply));
  const bytes = Buffer.from(stream);
  try {
    for (let at = 0; at < bytes.length; at += chunkSize)
      await reader.take(bytes.subarray(at, at + chunkSize));
    const response = await reader.response();
    return { response, replies, parsedBeforeTurn, parsed: parse.mock.calls.map(([text]) => text) };
  } finally {
    parse.mockRestore();
  }
}

describe('a stream of events', () => {
  it('answers 20 requests for each call, and no more', async () => {
    const asked = Array.from({ length: 500 }, (_, i) =>
      event({ id: `q${i}`, method: 'sampling/createMessage' }),
    );
    const { replies } = await readEvents(asked.join(''));
    expect(replies).toHaveLength(20);
    expect(replies[0]).toEqual({ id: 'q0', error: { code: -32601, message: 'Method not found' } });
  });

  it.each([1, 2, 3, 7, 65_536])('is read in chunks of %d bytes, also beside a long event', async (size) => {
    const long = event({ method: 'n', params: 'é'.repeat(120_000) });
    const ping = event({ id: 1, method: 'ping' });
    const { replies, response } = await readEvents(`${long}: c\r\n\r\n${ping}${answer(1)}`, size);
    expect(replies).toEqual([{ id: 1, result: {} }]);
    expect(response).toMatchObject({ result: { structuredContent: { gwei: 1 } } });
  });

  it('contains its answer at each length around the longest request, wherever the last chunk begins', async () => {
    const overhead = answer(1, '').trimEnd().length;
    for (const newline of ['\n', '\r\n'])
      for (let length = 99_995; length <= 100_005; length += 1)
        for (let last = 1; last <= 4; last += 1) {
          const text = answer(1, 'x'.repeat(length - overhead)).trimEnd() + newline.repeat(2);
          const { response } = await readEvents(text, text.length - last);
          expect(response, `${length} ${last}`).toMatchObject({ id: 1 });
        }
  });

  it.each([
    ['short', answer(1)],
    ['long', answer(1, 'x'.repeat(120_000))],
    ['without its end', answer(1).trimEnd()],
    ['long and without its end', answer(1, 'x'.repeat(120_000)).trimEnd()],
  ])('is parsed once for each event, if the answer is %s', async (_, last) => {
    const notification = event({ method: 'n' });
    const { parsed, response } = await readEvents(notification.repeat(9_000) + last);
    expect(response).toMatchObject({ id: 1 });
    const dataOf = (text: string) => text.slice('data: '.length).trimEnd();
    expect(parsed.filter((text) => text === dataOf(last))).toHaveLength(1);
    expect(parsed.filter((text) => text === dataOf(notification))).toHaveLength(9_000);
  });

  it('is parsed in turns: 128 events, or 64 KiB and one event', async () => {
    for (const [broken, most] of [
      ['data: {\n\n', 128],
      [`data: {${'x'.repeat(20_000)}\n\n`, 4],
    ] as const) {
      const { parsedBeforeTurn, parsed } = await readEvents(broken.repeat(1_000));
      const inTurns = [...parsedBeforeTurn, parsed.length].map((count, i, all) => count - (all[i - 1] ?? 0));
      expect(parsed).toHaveLength(1_000);
      expect(Math.max(...inTurns)).toBeLessThanOrEqual(most);
    }
  });

  it.each([
    'data:\n\n',
    'data: \t\r\n\r\n',
    ': comment\n\n',
    'event: message\n\n',
    'data: []\n\n',
    'data: null\n\n',
    '\n\n',
  ])('is not parsed where an event contains no object: %j', async (empty) => {
    const { parsed, response } = await readEvents(empty.repeat(9_000) + answer(1));
    expect(response).toMatchObject({ id: 1 });
    expect(parsed).toHaveLength(1);
  });

  it.each(['data:\n\n', 'data: {\n\n', 'data:{}\n\n', '\n\n', ':\r\n\r\n'])(
    'with more than 10,000 events ends the call with a failure that the log explains: %j',
    async (empty) => {
      const parse = vi.spyOn(JSON, 'parse');
      const { call } = await upstream((id) => empty.repeat(990_000 / empty.length) + answer(id));
      const error = await errorOf(call());
      const parsed = parse.mock.calls.length;
      parse.mockRestore();
      expect(error).toMatchObject({
        code: 'SOURCE_MALFORMED',
        message: 'The source sent more than 10000 events instead of an answer.',
      });
      expect(parsed).toBeLessThan(10_100);
      const lines = vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(line));
      expect(lines).toMatchObject([
        { event: 'source', code: 'SOURCE_MALFORMED', method: 'call', path: '/x' },
      ]);
    },
  );
});
