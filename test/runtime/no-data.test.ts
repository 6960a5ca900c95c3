import { describe, expect, it } from 'vitest';
import { always, errorOf, quiet, source } from './source-server.ts';

quiet();

const text = { type: ['string', 'null'] } as const;
const schema = {
  type: 'object',
  properties: {
    results: { type: ['array', 'null'], items: { type: 'object', properties: { id: text } } },
    total: { type: ['integer', 'null'] },
    symbol: text,
  },
  required: ['results', 'total'],
} as const;
const noData = { schema, noData: 'empty' } as const;

describe('a request with noData: empty', () => {
  it.each<[string, unknown]>([
    ['an empty list beside a count of 0', { results: [], total: 0 }],
    ['null in place of a list', { results: null, total: null }],
    ['an empty object', {}],
    ['an empty list', []],
    ['null', null],
    ['a repeated argument beside it', { results: [], total: 0, symbol: 'ZZZ' }],
  ])('has no answer for a response without data: %s', async (_, body) => {
    const { api } = await source(always(body));
    expect(await api.get('/x', { ...noData, query: { symbol: 'ZZZ' } })).toBeUndefined();
    const { api: another } = await source(always(body));
    expect(
      await another.post('/x', { ...noData, isIdempotent: true, json: { symbol: 'ZZZ' } }),
    ).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['an item', { results: [{ id: 'a' }], total: 1 }],
    ['a text that is no argument', { results: [], total: 0, symbol: 'ZZZ' }],
  ])('has an answer if there is data: %s', async (_, body) => {
    const { api } = await source(always(body));
    expect(await api.get('/x', noData)).toMatchObject(body as object);
  });

  it('has an answer if it writes, and without the option', async () => {
    const empty = { results: [], total: 0 };
    const { api } = await source(always(empty));
    expect(await api.post('/x', { ...noData, json: {} })).toEqual(empty);
    expect(await api.get('/x', { schema })).toEqual(empty);
  });

  it.each<[string, unknown, boolean]>([
    ['nothing was found', { status: 'fail', message: 'No such symbol', results: [], total: 0 }, true],
    ['a key was not found', { status: 'fail', message: 'API key not found', results: [], total: 0 }, false],
    ['a limit was reached', { status: 'fail', message: 'Limit reached', results: [], total: 0 }, false],
  ])('takes a failure as empty only if its reason says so: %s', async (_, body, isEmpty) => {
    const { api } = await source(always(body));
    const asked = api.get('/x', { ...noData, success: { status: 'ok' } });
    if (isEmpty) expect(await asked).toBeUndefined();
    else expect(await errorOf(asked)).toMatchObject({ code: 'SOURCE_MALFORMED' });
  });

  it('takes a failure in an envelope as empty only if its reason says so', async () => {
    const failing = (message: string) => ({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } });
    const request = { ...noData, envelope: 'json-rpc', isIdempotent: true, json: {} } as const;
    const { api } = await source(always(failing('header not found')));
    expect(await api.post('/', request)).toBeUndefined();
    const { api: another } = await source(always(failing('method not found')));
    expect(await errorOf(another.post('/', request))).toMatchObject({ code: 'SOURCE_REJECTED' });
  });

  it('is a failure if half of the required members are missing', async () => {
    const { api } = await source(always({ message: 'rate limited' }));
    expect(await errorOf(api.get('/x', noData))).toMatchObject({ code: 'SOURCE_MALFORMED' });
  });

  it('has an answer of 100,000 levels', async () => {
    const deep = `{"results":[],"total":0,"deep":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`;
    const { api } = await source((_, response) => response.end(deep));
    expect(await api.get('/x', noData)).toMatchObject({ total: 0 });
  });
});
