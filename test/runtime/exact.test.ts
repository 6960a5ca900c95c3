import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parseExactly, parseLiterally, writeLiterally } from '../../packages/runtime/src/server/exact.ts';
import { bodyOf } from '../../packages/runtime/src/source/body.ts';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { record, replayed } from '../../packages/runtime/src/source/recordings.ts';
import fc from '../fast-check.ts';
import { type Answer, errorOf, source, sourceServer } from './source-server.ts';
import { start, token } from './support.ts';
import { price } from './tools.ts';

const large = '9007199254740993';
const says =
  (text: string): Answer =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
const of = (type: string | readonly string[]) =>
  ({ type: 'object', properties: { id: { type } }, required: ['id'] }) as const;

describe('an integer', () => {
  it('in any JSON text is the number that it says, or the text of its digits', () => {
    const integer = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
    fc.assert(
      fc.property(fc.array(integer), fc.json(), fc.nat(20), (integers, other, spaces) => {
        const list = integers.join(`,${' '.repeat(spaces)}`);
        const text = `{"text":${JSON.stringify(`[${list}]`)},"other":${other},"list":[${list}]}`;
        const expected = integers.map((one) =>
          String(Number(one)) === String(one) ? Number(one) : String(one),
        );
        const plain: object = JSON.parse(text);
        // A string of digits and -0 are the only values of `other` that may differ from the plain ones.
        const read = parseExactly(text) as { readonly list: unknown };
        expect(read).toEqual({ ...plain, other: parseExactly(other), list: expected });
        expect(JSON.parse(writeLiterally(parseLiterally(text)))).toEqual(plain);
        expect(writeLiterally(parseLiterally(`[${list}]`))).toBe(`[${integers.join(',')}]`);
      }),
    );
  });

  it.each([
    ['1e22', 1e22],
    ['1.0', 1],
    ['100000000000000000000000', 1e23],
    ['9007199254740992', 2 ** 53],
    [large, large],
    [`-${large}.00`, `-${large}`],
    ['1'.repeat(400), '1'.repeat(400)],
    ['0.1234567890123456789', 0.12345678901234568],
    ['12345678901234567.5', 12345678901234568],
    ['"9007199254740993"', large],
  ])('%s is judged by its value', (text, value) => {
    expect(parseExactly(`{"a": ${text}}`)).toEqual({ a: value });
  });

  it('behind a point of a million digits takes linear time, and no JSON is still no JSON', () => {
    expect(parseExactly(`[0.${'1'.repeat(2_000_000)}]`)).toEqual([1 / 9]);
    expect(() => parseExactly(`{${large}: 1}`)).toThrow(SyntaxError);
  });
});

describe('an answer of a source', () => {
  it('keeps all digits where the schema admits text, and fails with the path elsewhere', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { api } = await source(says(`{"id": ${large}}`));
    expect(await api.get('/a', { schema: of(['integer', 'string']) })).toEqual({ id: large });
    expect(await api.get('/a', {})).toEqual({ id: large });
    for (const type of ['integer', 'number']) {
      expect(await errorOf(api.get('/a', { schema: of(type) }))).toMatchObject({ code: 'SOURCE_MALFORMED' });
    }
    expect(logged.mock.calls.join()).toMatch(
      /answer\.id: expected integer, got an integer that is not within/,
    );
    const { api: infinite } = await source(says('{"id": 1e400}'));
    expect(await errorOf(infinite.get('/a', { schema: of('number') }))).toMatchObject({
      code: 'SOURCE_MALFORMED',
    });
    logged.mockRestore();
  });

  it('is recorded and replayed with its digits', () => {
    const directory = mkdtempSync(join(tmpdir(), 'recordings-'));
    const request = { method: 'get', path: '/a' };
    const text = `{"id":${large},"fee":0.1234567890123456789,"most":1e400}`;
    record(request, { status: 200, text }, [], directory);
    expect(readFileSync(join(directory, 'get-a.json'), 'utf8')).toContain(`"id": ${large},`);
    record({ ...request, query: { page: 2 } }, { status: 200, text: '{}' }, [], directory);
    expect(replayed(request, directory).text).toBe(text);
  });

  it('of an MCP server keeps them, too', async () => {
    const { url } = await sourceServer((request, response) => {
      const { id } = JSON.parse(request.body);
      says(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"id":${large}}}}`)(
        request,
        response,
        0,
      );
    });
    const server = mcpSource({ baseUrl: url, protocolVersion: '2026-07-28' });
    expect(await server.call('get_it', { schema: of(['integer', 'string']) })).toEqual({ id: large });
  });
});

describe('an argument beyond 2^53', () => {
  it('is the text of its digits where the inputSchema admits text, else it is refused', async () => {
    const { client } = await start({ tools: [price] });
    const call = async (given: string) => {
      const params = `{"name":"get_price","arguments":${given}}`;
      const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
      const headers = { ...(await client.session()), authorization: `Bearer ${await token()}` };
      return (await client.send(message, headers)).body.result.structuredContent;
    };
    expect(await call(`{"coin":${large}}`)).toMatchObject({ price: 12.5 });
    expect(await call(`{"depth":${large}}`)).toMatchObject({
      error: 'INVALID_ARGUMENTS',
      message: expect.stringContaining(
        'arguments.depth: expected integer, got an integer that is not within',
      ),
    });
  });
});

describe('texts of digits in a body', () => {
  it('are sent as integers at the paths that are named', () => {
    const json = { id: large, name: large, items: [{ id: `-${large}` }, { id: '007' }, {}] };
    const { content } = bodyOf({ json, integers: ['id', 'items[].id'] }) ?? {};
    expect(content).toBe(`{"id":${large},"name":"${large}","items":[{"id":-${large}},{"id":"007"},{}]}`);
    expect(bodyOf({ json: [large], integers: ['[]'] })?.content).toBe(`[${large}]`);
  });
});
