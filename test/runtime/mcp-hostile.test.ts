import { describe, expect, it, vi } from 'vitest';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { requestFinder } from '../../packages/runtime/src/source/mcp-stream.ts';
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
  const source = mcpSource({ baseUrl: url, headers, timeoutMs: 20_000, maxBytes: 1_000_000 });
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

it('20 requests for each call are answered, and no more', () => {
  const found: object[] = [];
  const asked = Array.from({ length: 500 }, (_, i) =>
    event({ id: `q${i}`, method: 'sampling/createMessage' }),
  );
  requestFinder((reply) => found.push(reply))(Buffer.from(asked.join('')));
  expect(found).toHaveLength(20);
  expect(found[0]).toEqual({ id: 'q0', error: { code: -32601, message: 'Method not found' } });
});

it('requests are found in chunks of any size, also beside a long event', () => {
  const text = `${event({ method: 'n', params: 'é'.repeat(120_000) })}: c\r\n\r\n${event({ id: 1, method: 'ping' })}`;
  for (const size of [1, 2, 3, 7, 65_536]) {
    const found: object[] = [];
    const find = requestFinder((reply) => found.push(reply));
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) find(bytes.subarray(at, at + size));
    expect(found).toEqual([{ id: 1, result: {} }]);
  }
});
