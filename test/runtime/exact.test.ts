import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  parseExactly,
  parseLiterally,
  writeLiterally,
} from '../../packages/runtime/src/server/exact-numbers.ts';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { replayRecording, writeRecording } from '../../packages/runtime/src/source/recordings.ts';
import { requestBody } from '../../packages/runtime/src/source/request-body.ts';
import fc from '../fast-check.ts';
import { directory as newDirectory } from '../project/directory.ts';
import { type Answer, errorOf, source, sourceServer } from './source-server.ts';
import { start, token } from './support.ts';
import { price } from './tools.ts';

const large = '9007199254740993';
const fee = '0.1234567890123456789';
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

  it('is found at each place of a text of any length, beside any letters', () => {
    for (const letter of ['a', 'é', '東', '\u0130', '7']) {
      for (const before of [
        ...Array(50).keys(),
        ...Array.from({ length: 50 }, (_, i) => 49_110 + i),
        98_280,
      ]) {
        const text = letter.repeat(before);
        expect(parseExactly(`{"${text}":${large}, "b": ${fee}}`)).toEqual({ [text]: large, b: Number(fee) });
        expect(parseExactly(`{"${text}":"${large}"}`)).toEqual({ [text]: large });
      }
    }
    expect(parseExactly(`[${fee}, ${large}]`)).toEqual([Number(fee), large]);
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
    const directory = newDirectory();
    const request = { method: 'get', path: '/a' };
    const text = `{"id":${large},"fee":0.1234567890123456789,"most":1e400}`;
    writeRecording(request, { status: 200, text }, [], directory);
    expect(readFileSync(join(directory, 'get-a.json'), 'utf8')).toContain(`"id": ${large},`);
    writeRecording({ ...request, query: { page: 2 } }, { status: 200, text: '{}' }, [], directory);
    expect(replayRecording(request, directory).text).toBe(text);
  });

  it.each([
    `"content":[],"structuredContent":{"id":${large},"fee":${fee}}`,
    `"content":[{"type":"text","text":${JSON.stringify(`{"id":${large},"fee":${fee}}`)}}]`,
  ])('of an MCP server keeps them, too: %s', async (result) => {
    let sent = result;
    const { url } = await sourceServer((request, response) => {
      const { id } = JSON.parse(request.body);
      says(`{"jsonrpc":"2.0","id":${id},"result":{${sent}}}`)(request, response, 0);
    });
    const server = mcpSource({ baseUrl: url, protocolVersion: '2026-07-28' });
    const schema = {
      type: 'object',
      properties: { id: { type: ['integer', 'string'] }, fee: { type: ['number', 'string'] } },
      required: ['id'],
    } as const;
    expect(await server.call('get_it', { schema })).toEqual({ id: large, fee });
    sent = result.replace(large, '1e400');
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(await errorOf(server.call('get_it', { schema }))).toMatchObject({ code: 'SOURCE_MALFORMED' });
    logged.mockRestore();
  });
});

describe('a decimal of an answer', () => {
  it('keeps all digits where the declared type admits text, and is the nearest double elsewhere', async () => {
    const text = { type: ['number', 'string'] } as const;
    const plain = { type: 'number' } as const;
    const schema = {
      type: 'object',
      properties: {
        text: { type: 'string' },
        open: {},
        plain: { type: 'array', items: plain },
        either: { type: 'array', items: { anyOf: [{ type: 'null' }, text] } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { fee: text } } },
      },
      required: ['plain'],
    } as const;
    const digits = fc.stringMatching(/^[1-9]\d{0,9}\.\d{1,20}$/);
    const numbers = fc.array(fc.tuple(fc.constantFrom('', '-'), digits).map((parts) => parts.join('')));
    // Numbers of this size are printed without an exponent.
    const exact = (one: string) => (String(Number(one)) === one.replace(/\.?0+$/, '') ? Number(one) : one);
    let sent = '';
    const { api } = await source((...given) => says(sent)(...given));
    await fc.assert(
      fc.asyncProperty(numbers, async (given) => {
        const list = `[${given.join(', ')}]`;
        const map = given.map((one, i) => `"k${i}": {"fee": ${one}}`).join();
        sent = `{"text":${fee},"open":${fee},"plain":${list},"either":${list},"map":{${map}}}`;
        expect(await api.get('/a', { schema })).toEqual({
          text: fee,
          open: Number(fee),
          plain: given.map(Number),
          either: given.map(exact),
          map: Object.fromEntries(given.map((one, i) => [`k${i}`, { fee: exact(one) }])),
        });
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['items', `[{"fee":${fee}}]`, { items: [{ fee }], count: 1 }],
    ['result', `{"fee":${fee},"count":1}`, { result: { fee, count: 1 } }],
    [undefined, `{"fee":${fee},"other":true}`, { fee }],
  ] as const)('is found in an answer that is wrapped (%s) or reduced', async (wrap, text, expected) => {
    const row = {
      type: 'object',
      properties: { fee: { type: 'string' }, count: { type: 'integer' } },
      required: ['fee'],
    } as const;
    const schemas = {
      items: {
        type: 'object',
        properties: { items: { type: 'array', items: row }, count: { type: 'integer' } },
        required: ['items', 'count'],
      },
      result: { type: 'object', properties: { result: row }, required: ['result'] },
    } as const;
    const { api } = await source(says(text));
    const keep = wrap ? {} : ({ keep: 'declared' } as const);
    const schema = wrap ? schemas[wrap] : row;
    expect(await api.get('/a', { schema, ...(wrap && { wrap }), ...keep })).toEqual(expected);
    const { api: enveloped } = await source(says(`{"data":${text}}`));
    const options = { schema, ...(wrap && { wrap }), ...keep, envelope: 'graphql' } as const;
    expect(await enveloped.get('/a', options)).toEqual(expected);
  });
});

it('an argument beyond 2^53 is the text of its digits where the inputSchema admits text, else it is refused', async () => {
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
    message: expect.stringContaining('arguments.depth: expected integer, got an integer that is not within'),
  });
});

it('texts of digits in a body are sent as integers at the paths that are named', () => {
  const json = { id: large, name: large, items: [{ id: `-${large}` }, { id: '007' }, {}] };
  const { content } = requestBody({ json, integers: ['id', 'items[].id'] }) ?? {};
  expect(content).toBe(`{"id":${large},"name":"${large}","items":[{"id":-${large}},{"id":"007"},{}]}`);
  expect(requestBody({ json: [large], integers: ['[]'] })?.content).toBe(`[${large}]`);
  expect(requestBody({ json: large, integers: [''] })?.content).toBe(large);
});

it('a path to an integer may have indexes and names in quotes', () => {
  const json = { 'user.id': large, params: [large, { '': [large, large] }], '"[]': large };
  const integers = ['["user.id"]', 'params[1][""][0]', '["\\"[]"]', 'params[7]', 'params.x', 'absent[0]'];
  expect(requestBody({ json, integers })?.content).toBe(
    `{"user.id":${large},"params":["${large}",{"":[${large},"${large}"]}],"\\"[]":${large}}`,
  );
});
