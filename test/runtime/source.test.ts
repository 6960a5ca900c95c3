import { describe, expect, it, vi } from 'vitest';
import { httpSource } from '../../packages/runtime/src/source/http-source.ts';
import { Secret } from '../../packages/runtime/src/source/secret.ts';
import { rateLimitedError } from '../../packages/runtime/src/source/source-errors.ts';
import { always, errorOf, gas, json, key, quiet, source } from './source-server.ts';
import { stopTimers } from './support.ts';

/** The words on which the platform calls again (public source: app lib/ai/skills/mcp.ts). */
const retried =
  /econn|etimedout|enotfound|eai_again|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|50[0234]/i;

quiet();

describe('an answer', () => {
  it('is returned unchanged, with the key, the parameters and the query sent', async () => {
    const { api, received } = await source(always({ gwei: 12 }), {
      query: { apikey: new Secret('K', 's3cret') },
    });
    const answer = await api.get('/gas/{chain}', {
      params: { chain: 'base/../x y' },
      query: { at: 5, none: undefined, tags: ['a', 'b'] },
      schema: gas,
    });
    expect(answer.gwei).toBe(12);
    expect(received[0]).toMatchObject({
      method: 'GET',
      url: '/v1/gas/base%2F..%2Fx%20y?at=5&tags=a&tags=b&apikey=s3cret',
      headers: { 'x-api-key': key, accept: 'application/json' },
    });
  });

  it('in another character set is read as its media type says', async () => {
    const served = (type: string) =>
      source((_, response) =>
        response.writeHead(200, { 'content-type': type }).end(Buffer.from('{"a":"\xfc\x80"}', 'latin1')),
      );
    for (const [type, a] of [
      ['application/json; charset=iso-8859-1', 'ü\x80'],
      ['application/json;charset="koi8-r"', 'Э─'],
      ['application/json; charset=unknown', '\ufffd\ufffd'],
      ['application/json; charset=UTF-8', '\ufffd\ufffd'],
    ] as const)
      expect(await (await served(type)).api.get('/x', {})).toEqual({ a });
  });

  it('is asked for by a client that names the project, or what the file of the API says', async () => {
    const { api, received } = await source(always({}));
    await api.get('/x', {});
    const named = await source(always({}), { headers: { 'User-Agent': 'gas-prices (me@gas.example)' } });
    await named.api.get('/x', {});
    expect(received[0]?.headers['user-agent']).toMatch(/^[a-z-]+\/\d+\.\d+\.\d+$/);
    expect(named.received[0]?.headers['user-agent']).toBe('gas-prices (me@gas.example)');
  });

  it('that is a list becomes items and count', async () => {
    const { api } = await source(always([1, 2]));
    expect(await api.get('/x', { wrap: 'items' })).toEqual({ items: [1, 2], count: 2 });
    expect(await api.get('/x', { wrap: 'result' })).toEqual({ result: [1, 2] });
  });

  it('of a write is requested once, with the body in JSON or as a form', async () => {
    const { api, received } = await source(always({ ok: true }));
    await api.post('/a', { json: { x: [1] } });
    await api.post('/b', { form: { amount: 5, card: { exp: [1, 2] }, none: undefined } });
    expect(received.map(({ body, headers }) => [body, headers['content-type']])).toEqual([
      ['{"x":[1]}', 'application/json'],
      ['amount=5&card%5Bexp%5D%5B0%5D=1&card%5Bexp%5D%5B1%5D=2', 'application/x-www-form-urlencoded'],
    ]);
  });
});

describe('an answer that is no JSON', () => {
  const page = `<html>${key}${'x'.repeat(100)}`;
  const log = (status: number, detail: string) =>
    expect(vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(line))).toEqual([
      {
        time: expect.any(String),
        event: 'source',
        code: 'SOURCE_MALFORMED',
        method: 'get',
        host: expect.any(String),
        path: '/x',
        status,
        detail,
        at: expect.stringMatching(/^test\/runtime\/source\.test\.ts:\d+$/),
        hint: expect.stringContaining('Correct the base URL'),
      },
    ]);
  const served = () =>
    source((_, response) => response.writeHead(203, { 'content-type': 'text/html' }).end(page));

  it('is logged with its status, type, length and beginning, without the key', async () => {
    const { api } = await served();
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_MALFORMED');
    log(203, `no JSON, but 123 characters of "text/html": "<html>[secret]${'x'.repeat(66)}"`);
  });

  it('is logged without its beginning in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { api } = await served();
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_MALFORMED');
    vi.unstubAllEnvs();
    const lines = vi.mocked(console.error).mock.calls.map(([line]) => line);
    const { detail, at } = JSON.parse(lines.at(-1));
    expect({ detail, at }).toEqual({ detail: 'no JSON, but 123 characters of "text/html"', at: undefined });
  });
});

describe('a success without content', () => {
  const without = (status: number) =>
    source((_, response) => response.writeHead(status, { 'content-type': 'application/json' }).end());
  const parcel = {
    type: 'object',
    properties: {
      id: { type: ['string', 'null'] },
      steps: { type: 'array', items: { type: 'string' } },
      place: { type: 'object', properties: { city: { type: ['string', 'null'] } }, required: ['city'] },
      note: { type: 'string' },
    },
    required: ['id', 'steps', 'place'],
  } as const;

  it.each([200, 201, 202, 204, 205])('%i is found after a write, with empty values', async (status) => {
    const { api, received } = await without(status);
    const done = { done: true, id: null, steps: [], place: { city: null } };
    expect(await api.post('/x', { json: {}, schema: parcel })).toEqual(done);
    expect(await api.put('/x', { schema: parcel })).toEqual(done);
    expect(await api.patch('/x', { schema: parcel, notFound: 'empty' })).toEqual(done);
    expect(await api.delete('/x', { schema: parcel })).toEqual(done);
    expect(received).toHaveLength(4);
  });

  it.each([200, 204])('%i is nothing found after a read, also after a search by POST', async (status) => {
    const { api } = await without(status);
    expect(await api.get('/x', { schema: parcel })).toBeUndefined();
    expect(await api.post('/x', { schema: parcel, isIdempotent: true })).toBeUndefined();
  });

  it('may end in a line break', async () => {
    const { api } = await source((_, response) => response.end('\r\n'));
    expect(await api.delete('/x', { schema: parcel })).toMatchObject({ done: true });
  });

  it('leaves out done where the schema has another member of this name', async () => {
    const { api } = await without(204);
    const schema = { ...parcel, properties: { ...parcel.properties, done: { type: 'string' } } } as const;
    expect(await api.post('/x', { schema })).toEqual({ id: null, steps: [], place: { city: null } });
  });

  it('is malformed if the schema requires a value that cannot be empty', async () => {
    const { api } = await without(204);
    expect((await errorOf(api.post('/x', { schema: gas }))).code).toBe('SOURCE_MALFORMED');
  });
});

describe('other than success is an error with its code', () => {
  it.each([
    [401, 'SOURCE_REFUSED'],
    [403, 'SOURCE_REFUSED'],
    [404, 'SOURCE_NOT_FOUND'],
    [400, 'SOURCE_REJECTED'],
    [422, 'SOURCE_REJECTED'],
  ])('%i is %s without a retry, here and by platforms', async (status, code) => {
    const { api, received } = await source(always({ error: 'x' }, status));
    const error = await errorOf(api.get('/x', { schema: gas }));
    expect(error.code).toBe(code);
    expect(`${error.code} ${error.message}`).not.toMatch(retried);
    expect(received).toHaveLength(1);
  });

  it('404 is an empty result if the author says so', async () => {
    const { api } = await source((_, response) => response.writeHead(404).end());
    expect(await api.get('/x', { notFound: 'empty' })).toBeUndefined();
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_NOT_FOUND');
  });

  it('429 gives the time to wait, and platforms do not retry at once', async () => {
    const { api, received } = await source(always({}, 429, { 'retry-after': '500' }));
    const error = await errorOf(api.get('/x', {}));
    expect(error).toMatchObject({ code: 'RATE_LIMITED', hints: { retryAfterSeconds: 501 } });
    expect(JSON.stringify([error.code, error.message, error.hints])).not.toMatch(retried);
    expect(received).toHaveLength(1);
  });

  it.each([408, 429, 500, 1429, 4080, 5031])(
    'a wait of %i seconds holds no digits that are read as a status',
    (seconds) => {
      expect(JSON.stringify(rateLimitedError(seconds).hints)).not.toMatch(retried);
      expect(rateLimitedError(seconds).hints.retryAfterSeconds).toBeGreaterThanOrEqual(seconds);
    },
  );

  it('429 is retried if the wait ends before the deadline', async () => {
    const { api, received } = await source((_, response, count) =>
      count === 1 ? json(response, {}, 429, { 'retry-after': '1' }) : json(response, { gwei: 1 }),
    );
    expect(await api.get('/x', { schema: gas })).toEqual({ gwei: 1 });
    expect(received).toHaveLength(2);
  });

  it('500 is retried', async () => {
    const { api, received } = await source((_, response, count) =>
      count < 3 ? json(response, {}, 500) : json(response, { gwei: 1 }),
    );
    expect(await api.get('/x', { schema: gas })).toEqual({ gwei: 1 });
    expect(received).toHaveLength(3);
  });

  it('500 after all retries is SOURCE_UNAVAILABLE, which a platform may retry', async () => {
    const { api, received } = await source(always({}, 503), { retries: 1 });
    const error = await errorOf(api.get('/x', {}));
    expect(error.code).toBe('SOURCE_UNAVAILABLE');
    expect(error.message).toMatch(retried);
    expect(received).toHaveLength(2);
  });

  it('a write is never retried, neither here nor by a platform', async () => {
    const { api, received } = await source(always({}, 503));
    const error = await errorOf(api.post('/x', { json: {} }));
    expect(`${error.code} ${error.message}`).not.toMatch(retried);
    expect(received).toHaveLength(1);
    expect((await errorOf(api.post('/x', { json: {}, isIdempotent: true }))).message).toMatch(retried);
    expect(received).toHaveLength(4);
  });

  it('that does not come is SOURCE_TOO_SLOW, at the deadline', async () => {
    const { api, received } = await source(() => {}, { timeoutMs: 10_000 });
    const timers = stopTimers('setTimeout');
    const error = errorOf(api.get('/x', {}));
    await expect.poll(() => received).toHaveLength(1);
    await timers.pass(10_000);
    expect((await error).code).toBe('SOURCE_TOO_SLOW');
  });

  it('that stops halfway is retried', async () => {
    const { api } = await source((_, response, count) => {
      if (count > 1) return json(response, { gwei: 1 });
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"gwei"', () => response.destroy());
    });
    expect(await api.get('/x', { schema: gas })).toEqual({ gwei: 1 });
  });

  it('no connection is SOURCE_UNAVAILABLE', async () => {
    const api = httpSource({ baseUrl: 'http://127.0.0.1:1', retries: 0 });
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_UNAVAILABLE');
  });

  it.each([
    ['text', '<html>'],
    ['an answer of another shape', '{"gwei":"twelve"}'],
    ['half an answer', '{"gwei":1'],
  ])('%s is SOURCE_MALFORMED, and not cached', async (_, text) => {
    const { api, received } = await source((_, response) => response.end(text), { cacheSeconds: 60 });
    expect((await errorOf(api.get('/x', { schema: gas }))).code).toBe('SOURCE_MALFORMED');
    expect((await errorOf(api.get('/x', { schema: gas }))).code).toBe('SOURCE_MALFORMED');
    expect(received).toHaveLength(2);
  });

  it('that declares 10 MB, of which only one byte comes, is SOURCE_TOO_LARGE', async () => {
    const { api } = await source(
      (_, response) => void response.writeHead(200, { 'content-length': '10000000' }).write('x'),
      { maxBytes: 1_000, timeoutMs: 60_000 },
    );
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_TOO_LARGE');
  });

  it.each([
    ['declared', true],
    ['not declared', false],
  ])('10 MB, %s, is SOURCE_TOO_LARGE, and not read', async (_, isDeclared) => {
    let sent = 0;
    const { api } = await source(
      (_, response) => {
        if (isDeclared) response.setHeader('content-length', 10_000_000);
        const write = () => {
          if (sent >= 10_000_000 || response.destroyed) return response.end();
          sent += 100_000;
          if (response.write('x'.repeat(100_000))) setImmediate(write);
          else response.once('drain', write);
        };
        write();
      },
      { maxBytes: 1_000 },
    );
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_TOO_LARGE');
    expect(sent).toBeLessThan(10_000_000);
  });
});
