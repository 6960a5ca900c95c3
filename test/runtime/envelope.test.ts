import { describe, expect, it } from 'vitest';
import { Secret } from '../../packages/runtime/src/source/secret.ts';
import { sendOnce } from '../../packages/runtime/src/source/trial-request.ts';
import { always, errorOf, json, key, quiet, source, sourceServer } from './source-server.ts';

quiet();

const schema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] } as const;

describe('an answer in an envelope', () => {
  it('of GraphQL is its data', async () => {
    const { api } = await source(always({ data: { price: 1 }, extensions: {} }));
    expect(await api.post('/', { json: {}, schema, envelope: 'graphql' })).toEqual({ price: 1 });
  });

  it.each([
    [{ errors: [{ message: 'Unknown field' }], data: null }, 'The source rejected these arguments.'],
    [{ errors: [{ message: 'Unknown field' }] }, 'The source rejected these arguments.'],
    [
      { errors: [{ message: 'Unknown field' }], data: { price: 1 } },
      'The source gave only a part of the answer.',
    ],
  ])('of GraphQL with errors is a failure with the first message: %j', async (answer, message) => {
    const { api } = await source(always(answer));
    const error = await errorOf(api.post('/', { json: {}, schema, envelope: 'graphql' }));
    expect(error).toMatchObject({ code: 'SOURCE_REJECTED', message, hints: { detail: 'Unknown field' } });
  });

  it('of JSON-RPC is its result, an error is a failure', async () => {
    const { api } = await source(always({ jsonrpc: '2.0', id: 1, result: '0x1' }));
    expect(await api.post('/', { json: {}, wrap: 'result', envelope: 'json-rpc' })).toEqual({
      result: '0x1',
    });
    const failing = await source(
      always({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'bad block' } }),
    );
    const error = await errorOf(failing.api.post('/', { json: {}, envelope: 'json-rpc' }));
    expect(error).toMatchObject({ code: 'SOURCE_REJECTED', hints: { detail: 'bad block' } });
  });
});

describe('an envelope without content', () => {
  const read = { json: {}, isIdempotent: true } as const;
  it.each([
    ['graphql', { data: { coin: null } }],
    ['graphql', { data: { coin: null, price: null }, errors: [] }],
    ['graphql', { data: null }],
    ['json-rpc', { jsonrpc: '2.0', id: 1, result: null }],
  ] as const)('of %s is an empty result of a read: %j', async (envelope, answer) => {
    const { api } = await source(always(answer));
    expect(await api.post('/', { ...read, schema, envelope })).toBeUndefined();
    expect(await api.post('/', { ...read, wrap: 'result', envelope })).toBeUndefined();
  });

  it('is an answer if a member has a value, if an object is empty, of a write, and of an API without envelopes', async () => {
    const ask = async (answer: unknown, options: object) => {
      const { api } = await source(always(answer));
      return api.post('/', { json: {}, ...options });
    };
    const some = { data: { coin: null, count: 0 } };
    expect(await ask(some, { ...read, envelope: 'graphql' })).toEqual(some.data);
    expect(await ask({ data: {} }, { ...read, envelope: 'graphql' })).toEqual({});
    expect(await ask({ data: { cancel: null } }, { envelope: 'graphql' })).toEqual({ cancel: null });
    expect(await ask({ data: { coin: null } }, read)).toEqual({ data: { coin: null } });
    const result = { jsonrpc: '2.0', id: 1, result: { block: null } };
    expect(await ask(result, { ...read, envelope: 'json-rpc' })).toEqual({ block: null });
  });
});

it.each([
  [{ json: { symbol: 'ETH' } }, '{"symbol":"ETH","api_key":"k3y-of-the-author"}'],
  [{ form: { symbol: 'ETH' } }, 'symbol=ETH&api_key=k3y-of-the-author'],
])('a key in a body is added to %j, and no answer repeats it', async (body, sent) => {
  const options = { headers: {}, body: { api_key: new Secret('API_KEY', key) } };
  const { api, received } = await source(always({ said: `key ${key}` }), options);
  expect(await api.post('/', body)).toEqual({ said: 'key [secret]' });
  expect(received.map((one) => one.body)).toEqual([sent]);
});

describe('sendOnce', () => {
  const headers = { authorization: new Secret('API_KEY', key).after('Bearer ') };

  it('sends the bytes of the source, and returns whatever comes without the key', async () => {
    const answer = (_: unknown, response: Parameters<typeof json>[0]) =>
      json(response, { id: 9, said: key }, 418);
    const { url: baseUrl, received } = await sourceServer(answer);
    const { api, received: before } = await source(always({}), { headers });
    const request = { query: { a: 'b c' }, json: { x: [1] } };
    await api.post('/x', request);
    const answered = await sendOnce({ baseUrl, headers }, 'post', '/x', request);
    expect(answered).toMatchObject({
      status: 418,
      contentType: 'application/json',
      text: '{"id":9,"said":"[secret]"}',
    });
    const comparable = received.map(({ headers: { host, ...others }, ...one }) => ({
      ...one,
      headers: others,
    }));
    expect(comparable).toEqual(
      before.map(({ headers: { host, ...others }, ...one }) => ({ ...one, headers: others })),
    );
  });

  it('removes the key from a text that is no JSON', async () => {
    const { url: baseUrl } = await sourceServer((_, response) => response.end(`<p>${key}</p>`));
    expect((await sendOnce({ baseUrl, headers }, 'get', '/')).text).toBe('<p>[secret]</p>');
  });

  it('reads no more than the limit, and follows no redirect to another address', async () => {
    const endless = await sourceServer((_, response) => {
      const more = () => response.write('x'.repeat(65_536), more);
      more();
    });
    await expect(sendOnce({ baseUrl: endless.url, maxBytes: 1_000 }, 'get', '/')).rejects.toThrow('larger');
    const leading = await sourceServer((_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
    );
    await expect(sendOnce({ baseUrl: leading.url }, 'get', '/')).rejects.toThrow('redirects');
  });
});
