import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { defineTool, signals } from '../../packages/runtime/src/server/define-tool.ts';
import { failed, type SourceError } from '../../packages/runtime/src/source/source-errors.ts';
import { callTool } from '../../packages/runtime/src/testing.ts';
import { always, errorOf, gas, gasTool, json, quiet, source, sourceServer } from './source-server.ts';

quiet();

describe('equal concurrent calls', () => {
  it('200 of them make one request', async () => {
    const { api, received } = await source(always({ gwei: 1 }));
    const answers = await Promise.all(Array.from({ length: 200 }, () => api.get('/gas', { schema: gas })));
    expect(answers.every(({ gwei }) => gwei === 1)).toBe(true);
    expect(new Set(answers).size).toBe(200);
    expect(received).toHaveLength(1);
  });

  it('have a line in the log each if their request fails, with the id of the call', async () => {
    const { api, received } = await source((_, response) => json(response, {}, 401));
    const tool = gasTool((_, { found, fail }) =>
      api.get('/gas', { schema: gas }).then(found, (error) => failed(error, fail)),
    );
    await Promise.all([callTool(tool), callTool(tool)]);
    expect(received).toHaveLength(1);
    const lines = vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(line));
    const line = { event: 'source', tool: 'get_gas', code: 'SOURCE_REFUSED', status: 401, method: 'get' };
    expect(lines).toMatchObject([line, line]);
    const ids = lines.map(({ request }) => request);
    expect(ids).toEqual([expect.stringMatching(/^[a-z]{20}$/), expect.stringMatching(/^[a-z]{20}$/)]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('has the lines of a call share one id in production, too', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    vi.resetModules();
    const { httpSource } = await import('../../packages/runtime/src/source/http-source.ts');
    const { callTool: call } = await import('../../packages/runtime/src/testing.ts');
    const { url: baseUrl } = await sourceServer((_, response) => json(response, {}, 401));
    const tool = gasTool(async (_, { signal }) => {
      await errorOf(httpSource({ baseUrl }).get('/gas', { schema: gas, signal }));
      throw new Error('an incident has the id of the call');
    });
    const incidents: string[] = [];
    await call(tool, {}, { report: ({ id }) => incidents.push(id) });
    const lines = vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(line));
    expect(lines).toMatchObject([{ event: 'source', tool: 'get_gas', request: incidents[0] }]);
    expect(lines[0]).not.toHaveProperty('at');
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
    await expect.poll(() => received).toHaveLength(2);
    last.abort();
    expect((await slow).code).toBe('CANCELLED');
    await expect.poll(() => ended).toBe(1);
  });

  it('a call after the last one left makes a new request', async () => {
    const { api, received } = await source((_, response, count) => {
      if (count > 1) json(response, { gwei: 2 });
    });
    const gone = new AbortController();
    const first = errorOf(api.get('/gas', { signal: gone.signal }));
    await expect.poll(() => received).toHaveLength(1);
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
    const setResult = await Promise.allSettled(calls);
    const failures = setResult.flatMap((end) =>
      end.status === 'rejected' ? [end.reason as SourceError] : [],
    );
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
    await vi.waitFor(() => expect([failed, received.length]).toEqual([6, 2]), { timeout: 120_000 });
    for (const response of open) json(response, {});
    const setResult = await Promise.allSettled(calls);
    expect(setResult.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });
});

it('a SourceError that run throws is the failure that failed() makes, and no incident', async () => {
  const { api } = await source(always({ detail: 'no such block' }, 422), { retries: 0 });
  const outputs = { detail: { type: 'string' }, message: { type: 'string' } };
  const ask = () => api.get('/gas', { schema: gas });
  const throwing = gasTool(async (_, { found }) => found(await ask()), outputs);
  const catching = gasTool(
    (_, { found, fail }) => ask().then(found, (error) => failed(error, fail)),
    outputs,
  );
  const report = vi.fn();
  const result = await callTool(throwing, {}, { report });
  expect(result).toEqual(await callTool(catching));
  expect(result).toMatchObject({
    isError: true,
    structuredContent: { error: 'SOURCE_REJECTED', detail: 'no such block' },
  });
  expect(report).not.toHaveBeenCalled();
});

it('any other error that run throws is an incident', async () => {
  const report = vi.fn();
  const tool = gasTool(() => {
    throw Object.assign(new Error('mine'), { name: 'SourceError', code: 'SOURCE_REJECTED' });
  });
  const { structuredContent } = await callTool(tool, {}, { report });
  expect(structuredContent).toMatchObject({ error: 'INTERNAL_ERROR' });
  expect(report).toHaveBeenCalledOnce();
});

it('a tool whose source fails ends with a failure that matches its schema; an error in its code is rethrown', async () => {
  const outputSchema = {
    type: 'object',
    properties: { ...signals, gwei: { type: ['number', 'null'] } },
    required: ['gwei'],
  } as const;

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
