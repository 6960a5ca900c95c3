import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { callTool } from '../../templates/project/src/server/call.ts';
import { defineTool, signals } from '../../templates/project/src/server/define-tool.ts';
import { failed, rateLimited, type SourceError } from '../../templates/project/src/source/errors.ts';
import { type HttpSourceOptions, httpSource } from '../../templates/project/src/source/http-source.ts';
import { urlOf } from '../../templates/project/src/source/request.ts';
import { basic, Secret } from '../../templates/project/src/source/secret.ts';
import { type Answer, json, sourceServer } from './source-server.ts';

const key = 'k3y-of-the-author';
const gas = { type: 'object', properties: { gwei: { type: 'number' } }, required: ['gwei'] } as const;
/** The words on which the platform calls again (public source: app lib/ai/skills/mcp.ts). */
const retried =
  /econn|etimedout|enotfound|eai_again|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|50[0234]/i;

let logged: MockInstance<typeof console.error>;
beforeEach(() => {
  logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  return () => logged.mockRestore();
});

async function source(answer: Answer, options: Partial<HttpSourceOptions> = {}) {
  const { url, received } = await sourceServer(answer);
  const headers = { 'x-api-key': new Secret('API_KEY', key) };
  return { api: httpSource({ baseUrl: url, headers, timeoutMs: 2_000, ...options }), received, url };
}

const always =
  (value: unknown, status = 200, headers = {}): Answer =>
  (_, response) =>
    json(response, value, status, headers);
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => Promise.reject(new Error(`answered ${JSON.stringify(value)}`)),
    (error: SourceError) => error,
  );

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

  it('404 and 204 are an empty result if the author says so', async () => {
    const { api } = await source((_, response, count) => response.writeHead(count === 1 ? 404 : 204).end());
    expect(await api.get('/x', { notFound: 'empty' })).toBeUndefined();
    expect(await api.get('/x', { notFound: 'empty' })).toBeUndefined();
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_MALFORMED');
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
      expect(JSON.stringify(rateLimited(seconds).hints)).not.toMatch(retried);
      expect(rateLimited(seconds).hints.retryAfterSeconds).toBeGreaterThanOrEqual(seconds);
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
    const { api, received } = await source(() => {}, { timeoutMs: 200 });
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_TOO_SLOW');
    expect(received).toHaveLength(1);
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
    ['an answer of another shape', '{"gwei":"12"}'],
    ['half an answer', '{"gwei":1'],
  ])('%s is SOURCE_MALFORMED, and not cached', async (_, text) => {
    const { api, received } = await source((_, response) => response.end(text), { cacheSeconds: 60 });
    expect((await errorOf(api.get('/x', { schema: gas }))).code).toBe('SOURCE_MALFORMED');
    expect((await errorOf(api.get('/x', { schema: gas }))).code).toBe('SOURCE_MALFORMED');
    expect(received).toHaveLength(2);
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

describe('the arguments', () => {
  it.each(['..', '.', '%2e%2e', '%2E', '', '.%2e'])('the path parameter %j is refused', (chain) => {
    expect(() =>
      urlOf({ baseUrl: 'https://api.example/v1', path: '/gas/{chain}/now', params: { chain } }),
    ).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENTS' }));
  });

  it.each([
    '../../admin',
    'a?x=1',
    'a#b',
    'a\\..\\b',
    '//evil.example',
    '@evil.example',
    'a%2f..%2fb',
    '\u0000',
  ])('the path parameter %j stays one segment', (chain) => {
    const url = urlOf({ baseUrl: 'https://api.example/v1/', path: 'gas/{chain}/now', params: { chain } });
    expect(url.href).toMatch(/^https:\/\/api\.example\/v1\/gas\/[^/?#]+\/now$/);
  });

  it('lists and objects are written in the query style of the API', () => {
    const query = {
      a: [1, 2],
      b: [1, 2],
      c: { x: 1, y: { z: 2 } },
      d: { x: 1 },
      e: [1, 2],
      f: true,
      g: [{ x: 1 }],
    };
    const styles = { b: 'comma', c: 'deepObject', e: 'pipe', g: 'json' } as const;
    const { searchParams } = urlOf({ baseUrl: 'https://a.example', path: '/', query, styles });
    expect([...searchParams]).toEqual([
      ['a', '1'],
      ['a', '2'],
      ['b', '1,2'],
      ['c[x]', '1'],
      ['c[y][z]', '2'],
      ['x', '1'],
      ['e', '1|2'],
      ['f', 'true'],
      ['g', '[{"x":1}]'],
    ]);
  });

  it('a header that cannot be sent is refused without being printed', async () => {
    const { api, received } = await source(always({}));
    const error = await errorOf(api.get('/x', { headers: { 'x-note': 'a\r\nx-evil: 1' } }));
    expect(error.code).toBe('INVALID_ARGUMENTS');
    expect(error.message).not.toContain('evil');
    expect(received).toHaveLength(0);
  });
});

describe('redirects', () => {
  it('within the host are followed', async () => {
    const { api, received } = await source((request, response) =>
      request.url === '/v1/old'
        ? response.writeHead(301, { location: '/v1/new' }).end()
        : json(response, { gwei: 1 }),
    );
    expect(await api.get('/old', { schema: gas })).toEqual({ gwei: 1 });
    expect(received[1]?.headers['x-api-key']).toBe(key);
  });

  it('to another host are refused, so the key is not sent there', async () => {
    const other = await sourceServer(always({ gwei: 1 }));
    const { api } = await source((_, response) => response.writeHead(302, { location: other.url }).end());
    expect((await errorOf(api.get('/x', { schema: gas }))).code).toBe('SOURCE_MISCONFIGURED');
    expect(other.received).toHaveLength(0);
  });

  it('in a circle end', async () => {
    const { api, received } = await source((_, response) =>
      response.writeHead(302, { location: '/v1/x' }).end(),
    );
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_MISCONFIGURED');
    expect(received).toHaveLength(4);
  });
});

describe('equal concurrent calls', () => {
  it('200 of them make one request', async () => {
    const { api, received } = await source(always({ gwei: 1 }));
    const answers = await Promise.all(Array.from({ length: 200 }, () => api.get('/gas', { schema: gas })));
    expect(answers.every(({ gwei }) => gwei === 1)).toBe(true);
    expect(new Set(answers).size).toBe(200);
    expect(received).toHaveLength(1);
  });

  it('one caller that leaves does not end the request, the last one does', async () => {
    let ended = 0;
    let answer = () => {};
    const hasLeft = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { api, received } = await source(async (request, response) => {
      response.once('close', () => {
        if (!response.writableFinished) ended += 1;
      });
      if (request.url.endsWith('/slow')) return;
      await hasLeft;
      json(response, { gwei: 1 });
    });
    const gone = new AbortController();
    const [left, stayed] = [
      errorOf(api.get('/gas', { signal: gone.signal })),
      api.get('/gas', { schema: gas, signal: new AbortController().signal }),
    ];
    gone.abort();
    expect((await left).code).toBe('CANCELLED');
    answer();
    expect(await stayed).toEqual({ gwei: 1 });
    expect({ received: received.length, ended }).toEqual({ received: 1, ended: 0 });

    const last = new AbortController();
    const slow = errorOf(api.get('/slow', { signal: last.signal }));
    await vi.waitFor(() => expect(received).toHaveLength(2));
    last.abort();
    expect((await slow).code).toBe('CANCELLED');
    await vi.waitFor(() => expect(ended).toBe(1));
  });

  it('a call after the last one left makes a new request', async () => {
    const { api, received } = await source((_, response, count) => {
      if (count > 1) json(response, { gwei: 2 });
    });
    const gone = new AbortController();
    const first = errorOf(api.get('/gas', { signal: gone.signal }));
    await vi.waitFor(() => expect(received).toHaveLength(1));
    gone.abort();
    expect(await api.get('/gas', { schema: gas })).toEqual({ gwei: 2 });
    expect((await first).code).toBe('CANCELLED');
  });

  it('with different contents are separate', async () => {
    const { api, received } = await source(always({ gwei: 1 }));
    await Promise.all([
      api.get('/a', {}),
      api.get('/a', { query: { x: 1 } }),
      api.get('/a', { headers: { 'x-lang': 'de' } }),
      api.post('/a', { json: 1 }),
      api.post('/a', { json: 1 }),
    ]);
    expect(received).toHaveLength(5);
  });

  it('an answer is cached as long as configured, and a caller cannot change it', async () => {
    const { api, received } = await source(always({ gwei: 1 }), { cacheSeconds: 60 });
    const first = (await api.get('/gas', { schema: gas })) as { gwei: number };
    first.gwei = 99;
    expect(await api.get('/gas', { schema: gas })).toEqual({ gwei: 1 });
    expect(received).toHaveLength(1);
  });

  it('a failure is not cached', async () => {
    const { api, received } = await source(always({}, 400), { cacheSeconds: 60 });
    await errorOf(api.get('/gas', {}));
    await errorOf(api.get('/gas', {}));
    expect(received).toHaveLength(2);
  });
});

describe('the rate limit', () => {
  it('starts no more requests than allowed per minute, and fails the others at once', async () => {
    const { api, received } = await source(always({ gwei: 1 }), { perMinute: 5, concurrency: 2 });
    const calls = Array.from({ length: 20 }, (_, id) => api.get('/{id}', { params: { id } }));
    const ends = await Promise.allSettled(calls);
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as SourceError] : []));
    expect(received).toHaveLength(5);
    expect(failures).toHaveLength(15);
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['RATE_LIMITED']));
    const waits = failures.map(({ hints }) => Number(hints.retryAfterSeconds));
    expect(Math.min(...waits)).toBeGreaterThan(0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(200);
  });

  it('counts retries', async () => {
    const { api, received } = await source(always({}, 500), { perMinute: 2, retries: 5 });
    expect((await errorOf(api.get('/x', {}))).code).toBe('RATE_LIMITED');
    expect(received).toHaveLength(2);
  });

  it('runs no more concurrent requests than allowed, and fails those that wait too long', async () => {
    const open: ServerResponse[] = [];
    const { api, received } = await source((_, response) => open.push(response), {
      concurrency: 2,
      queueMs: 200,
      timeoutMs: 60_000,
    });
    const calls = Array.from({ length: 8 }, (_, id) => api.get('/{id}', { params: { id } }));
    let failed = 0;
    for (const call of calls) call.catch(() => (failed += 1));
    // Waits until all queued requests have exceeded their wait, before any is answered.
    await vi.waitFor(() => expect(failed).toBe(6), { timeout: 30_000 });
    expect(received).toHaveLength(2);
    for (const response of open) json(response, {});
    const ends = await Promise.allSettled(calls);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });
});

describe('secrets', () => {
  it('appear in no text that is made from them', () => {
    const secret = new Secret('API_KEY', key);
    const texts = [
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ secret }),
      inspect(secret.after('Bearer ')),
      inspect(basic('me', secret)),
    ];
    for (const text of texts) {
      expect(text).toContain('[secret API_KEY]');
      expect(text).not.toContain(key);
    }
    expect(basic('me', secret).reveal()).toBe(`Basic ${Buffer.from(`me:${key}`).toString('base64')}`);
  });

  it.each([
    ['401', always({ message: `no such key ${key}` }, 401)],
    ['500', always({}, 500)],
    ['no JSON', (_: unknown, response: Parameters<Answer>[1]) => response.end(key)],
    ['another shape', always({ gwei: key })],
    ['a timeout', () => {}],
    [
      'a redirect',
      (_: unknown, response: Parameters<Answer>[1]) =>
        response.writeHead(302, { location: `https://x.example/?k=${key}` }).end(),
    ],
  ] as [string, Answer][])('reach no error, stack or log on %s, nor does the query', async (_, answer) => {
    const { api } = await source(answer, {
      timeoutMs: 400,
      retries: 1,
      query: { apikey: new Secret('K', key) },
    });
    const error = await errorOf(
      api.get('/gas/{chain}', { params: { chain: 'base' }, query: { user: 'jane' }, schema: gas }),
    );
    const texts = [
      inspect(error, { depth: 20, showHidden: true }),
      error.stack,
      JSON.stringify(error),
      ...logged.mock.calls.map(String),
    ];
    expect(logged).toHaveBeenCalledOnce();
    for (const text of texts) {
      expect(text).not.toContain(key);
      expect(text).not.toContain('jane');
    }
  });

  it('that are not set are named, and nothing is sent', async () => {
    const { api, received } = await source(always({}), {
      headers: { 'x-api-key': new Secret('API_KEY', null) },
    });
    expect((await errorOf(api.get('/x', {}))).code).toBe('SOURCE_MISCONFIGURED');
    expect(String(logged.mock.calls)).toContain('[secret API_KEY]');
    expect(received).toHaveLength(0);
  });
});

describe('a tool whose source fails', () => {
  const outputSchema = {
    type: 'object',
    properties: { ...signals, gwei: { type: ['number', 'null'] } },
    required: ['gwei'],
  } as const;

  it('ends with a failure that matches its schema; an error in its code is rethrown', async () => {
    const { api } = await source(always({}, 429, { 'retry-after': '30' }));
    const tool = defineTool({
      name: 'get_gas',
      description: 'Returns gas. Use it when asked.',
      inputSchema: { type: 'object', properties: {}, required: [] },
      outputSchema,
      examples: [],
      async run(_, { found, fail, signal }) {
        try {
          return found(await api.get('/gas', { schema: outputSchema, signal }));
        } catch (error) {
          return failed(error, fail);
        }
      },
    });
    const { isError, structuredContent } = await callTool(tool);
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({ gwei: null, error: 'RATE_LIMITED', retryAfterSeconds: 30 });
    expect(() => failed(new TypeError('mine'), () => ({ kind: 'empty', reason: '' }))).toThrow('mine');
  });
});
