import { describe, expect, it, vi } from 'vitest';
import { failed } from '../../packages/runtime/src/source/source-errors.ts';
import { modernRequest, paid } from './modern.ts';
import { gas, gasTool, json, source } from './source-server.ts';
import { start } from './support.ts';

const form = /^[a-z]{20}$/;
const name = 'get_price';

describe('the header x-request-id', () => {
  it('has an id of its own in every answer, and so have the headers of the author: results, refusals, errors, routes, streams', async () => {
    const { url, client } = await start({
      env: { NODE_ENV: 'production', ALLOWED_ORIGINS: 'https://app.example' },
      routes: {
        '/own': (_, response) => response.end(),
        '/broken': () => {
          throw new Error('x');
        },
      },
      headers: { 'Strict-Transport-Security': 'max-age=60' },
    });
    const session = await client.session();
    const at = (path: string, init: RequestInit = {}) => fetch(new URL(path, url), init);
    const post = (body: string, headers = {}) =>
      at('/mcp', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x-${at}`, '1']));
    const answers = [
      await post(list, session),
      await post(call, session),
      await post(call, { ...session, ...(await paid()) }),
      await post(list),
      await post('{'),
      await post(list, { 'content-type': 'text/plain' }),
      await post(list, { origin: 'https://elsewhere.example' }),
      await post(`"${'x'.repeat(70_000)}"`),
      await at('/mcp', { headers: session }),
      await at('/mcp', { method: 'DELETE', headers: session }),
      await at('/mcp', { method: 'PUT' }),
      await at('/mcp', { method: 'OPTIONS', headers: { origin: 'https://app.example' } }),
      await at('/health', { headers: many }),
      ...(await Promise.all(['/health', '/ready', '/none', '/own', '/broken'].map((path) => at(path)))),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      ...[200, 401, 200, 400, 400, 415, 403, 413, 200, 204, 405, 204, 431, 200, 200, 404, 200, 500],
    ]);
    for (const { body } of answers) await body?.cancel();
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(form);
    for (const { headers } of answers) expect(headers.get('strict-transport-security')).toBe('max-age=60');
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is the id in every log line of its call, and the one that its caller reads in an incident', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { api } = await source((_, response) => json(response, {}, 401));
    const asking = gasTool(async (_, { found, fail, signal }) => {
      const failure = await api
        .get('/gas', { schema: gas, signal })
        .then(found, (error) => failed(error, fail));
      if (failure.kind === 'fail') throw new Error('the cause');
      return failure;
    });
    const { client, events } = await start({ tools: [asking] });
    const headers = { ...(await client.session()), ...(await paid()), traceparent };
    const answer = await client.request('tools/call', { name: 'get_gas' }, headers);
    const id = answer.headers.get('x-request-id');
    expect(answer.text).toContain(`(incident ${id})`);
    const sources = errors.mock.calls.map(([line]) => JSON.parse(line));
    errors.mockRestore();
    expect([...sources, ...events()]).toMatchObject([
      { event: 'source', request: id, traceparent },
      { event: 'incident', id, traceparent },
      { event: 'call', request: id, traceparent },
    ]);
  });

  it('names a refused call, an unknown tool and an error outside any call, too', async () => {
    const broken = () => {
      throw new Error('x');
    };
    const { client, events, url } = await start({ routes: { '/broken': broken } });
    const session = await client.session();
    const ids = [
      await client.request('tools/call', { name }, session),
      await client.request('tools/call', { name: 'none' }, { ...session, ...(await paid()) }),
      await fetch(new URL('/broken', url)),
    ].map(({ headers }) => headers.get('x-request-id'));
    const logged = events().map(({ event, id, request = id }) => [event, request]);
    expect(logged).toEqual([
      ['refused', ids[0]],
      ['call', ids[1]],
      ['incident', ids[2]],
    ]);
  });

  it('is never that of the request, which is not logged either', async () => {
    const { client, events } = await start();
    const headers = { ...(await client.session()), ...(await paid()), 'x-request-id': 'chosen' };
    const answer = await client.request('tools/call', { name }, headers);
    expect(answer.headers.get('x-request-id')).toMatch(form);
    expect(JSON.stringify(events())).not.toContain('chosen');
  });

  it('cannot be an option of the server', async () => {
    await expect(start({ headers: { 'X-Request-Id': '1' } })).rejects.toThrow('X-Request-Id');
  });
});

// The examples of https://www.w3.org/TR/trace-context/#examples-of-http-traceparent-headers
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const unsampled = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';

describe('the trace of a caller', () => {
  /** The traceparent in the log line of a call. */
  async function logged(header: string | undefined, meta?: unknown): Promise<unknown> {
    const { client, events } = await start();
    const headers = {
      ...(await client.session()),
      ...(await paid()),
      ...(header && { traceparent: header }),
    };
    const params = { name, ...(meta !== undefined && { _meta: { traceparent: meta } }) };
    const { status } = await client.request('tools/call', params, headers);
    expect(status).toBe(200);
    const { event, ...line } = events().at(-1);
    expect(event).toBe('call');
    return line.traceparent;
  }

  it.each([
    ['the header', traceparent, undefined, traceparent],
    ['_meta', undefined, unsampled, unsampled],
    ['_meta where both name one', traceparent, unsampled, unsampled],
    ['the header where that of _meta is invalid', traceparent, 'x', traceparent],
    ['neither where there is none', undefined, undefined, undefined],
    ['neither where _meta has no text', undefined, { a: 1 }, undefined],
  ])('is logged from %s', async (_, header, meta, expected) => {
    expect(await logged(header, meta)).toBe(expected);
  });

  it.each([
    ['one of another length', `${traceparent}-00`],
    ['one that is short', traceparent.slice(0, -1)],
    ['upper case', traceparent.toUpperCase()],
    ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['a parent of zeros', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['the version ff', traceparent.replace('00', 'ff')],
    ['other characters', traceparent.replace('4bf9', '4bg9')],
    ['two', `${traceparent}, ${traceparent}`],
    ['a line end', `${traceparent.slice(0, -1)}\n`],
  ])('is not logged where it is invalid: %s', async (_, text) => {
    expect(await logged(undefined, text)).toBeUndefined();
    if (!text.includes('\n')) expect(await logged(text)).toBeUndefined();
  });

  it('is logged for a request without a session, too', async () => {
    const { client, events } = await start();
    const { body, headers } = modernRequest('tools/call', { name });
    await client.send(body, { ...headers, ...(await paid()), traceparent });
    expect(events().at(-1)).toMatchObject({ event: 'call', traceparent });
  });

  it('may be sent by web pages, which may read the id of a request', async () => {
    const { url } = await start({ env: { ALLOWED_ORIGINS: 'https://app.example' } });
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    const answer = await fetch(url, { method: 'OPTIONS', headers });
    expect(answer.headers.get('access-control-allow-headers')).toContain('traceparent');
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id');
  });
});
