import { once } from 'node:events';
import { connect } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createApp } from '../../packages/runtime/src/app.ts';
import type { RouteHandler, RouteOptions } from '../../packages/runtime/src/server/author-routes.ts';
import { config, info, initializeParams, start, stopTimers, token } from './support.ts';

const within = { timeout: 120_000 };
const path = '/own';
const plain: RouteHandler = (_, response) => response.end('own text');

/** A server with one route. */
async function serving(handler: RouteHandler, env: Record<string, string> = {}, others: RouteOptions = {}) {
  const server = await start({ env, routes: { [path]: handler }, ...others });
  const at = (target: string, init: RequestInit = {}) => fetch(new URL(target, server.url), init);
  return { ...server, at, own: (init?: RequestInit) => at(path, init) };
}

describe('a route', () => {
  it.each([
    [path, 200],
    [`${path}?a=/b`, 200],
    [`${path}/`, 404],
    [`/x${path}`, 404],
    ['/OWN', 404],
    ['/%6Fwn', 404],
    ['/', 404],
  ])('is served at its exact path, without a token: %s gets %i', async (target, status) => {
    const { at } = await serving((request, response) => response.end(request.url));
    const response = await at(target);
    expect(response.status).toBe(status);
    if (status === 200) expect(await response.text()).toBe(target);
  });

  it('gets every method, and the request as it was sent', async () => {
    const { own } = await serving(async (request, response) => {
      const { method, headers, httpVersion, rawHeaders, socket, complete } = request;
      const seen = {
        method,
        own: headers['x-own'],
        httpVersion,
        raw: rawHeaders.includes('X-Own'),
        complete,
      };
      response.setHeader('x-seen', JSON.stringify({ ...seen, address: socket.remoteAddress }));
      response.end(JSON.stringify({ body: await text(request) }));
    });
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'POST']) {
      const body = ['GET', 'HEAD'].includes(method) ? null : `body of ${method}`;
      const response = await own({ method, body, headers: { 'X-Own': 'yes' } });
      const seen = JSON.parse(response.headers.get('x-seen') ?? '');
      expect(seen).toEqual({
        method,
        own: 'yes',
        httpVersion: '1.1',
        raw: true,
        complete: true,
        address: '127.0.0.1',
      });
      expect(await response.text()).toBe(method === 'HEAD' ? '' : JSON.stringify({ body: body ?? '' }));
    }
  });

  it('may read its body with listeners, late, or not at all', async () => {
    const { at } = await start({
      routes: {
        '/listeners': (request, response) => {
          let size = 0;
          request.on('data', (chunk: Buffer) => {
            size += chunk.length;
          });
          request.on('end', () => response.end(String(size)));
        },
        '/late': async (request, response) => {
          await nextTurn();
          response.end(String(((await json(request)) as string).length));
        },
        '/ignores': (_, response) => response.end('0'),
      },
    }).then(({ url }) => ({
      at: (target: string, body: string) => fetch(new URL(target, url), { method: 'POST', body }),
    }));
    const body = JSON.stringify('x'.repeat(30_000));
    expect(await (await at('/listeners', body)).text()).toBe('30002');
    expect(await (await at('/late', body)).text()).toBe('30000');
    expect(await (await at('/ignores', body)).text()).toBe('0');
  });

  it('has the limits of bodies: the handler never sees a larger one', async () => {
    let calls = 0;
    const handler: RouteHandler = async (request, response) => {
      calls++;
      response.end(String((await text(request)).length));
    };
    const { own, port } = await serving(handler, {
      UNPAID_BODY_BYTES: '1000',
      MAX_BODY_BYTES: '3000',
      UNPAID_BODY_MS: '1000',
    });
    const post = (size: number, headers = {}) => own({ method: 'POST', body: 'x'.repeat(size), headers });
    expect(await (await post(1_000)).text()).toBe('1000');
    const refused = await post(1_001);
    expect([refused.status, await refused.json()]).toEqual([413, { error: 'Request too large' }]);
    const paid = { authorization: `Bearer ${await token()}` };
    expect(await (await post(3_000, paid)).text()).toBe('3000');
    expect((await post(3_001, paid)).status).toBe(413);
    const stalled = connect(port, '127.0.0.1');
    stalled.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx`);
    expect(await text(stalled)).toMatch(/^HTTP\/1\.1 408 /);
    const chunked = connect(port, '127.0.0.1');
    chunked.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n${'x'.repeat(2_000)}\r\n`,
    );
    expect(await text(chunked)).toMatch(/^HTTP\/1\.1 413 /);
    expect(calls).toBe(2);
  });

  it.each<[string, RouteHandler]>([
    [
      'throws',
      () => {
        throw new Error('no such shop');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('no such shop');
      },
    ],
    [
      'throws after it has set headers',
      (_, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.setHeader('content-length', '7');
        throw new Error('no such shop');
      },
    ],
  ])('that %s answers 500 with the id of an incident, and the server goes on', async (_, handler) => {
    const { own, client, events } = await serving(handler, {}, { headers: { 'x-by': 'me' } });
    const response = await own();
    expect(response.status).toBe(500);
    expect(response.headers.get('x-by')).toBe('me');
    const [incident, ...others] = events();
    expect(incident).toMatchObject({ event: 'incident', detail: expect.stringContaining('no such shop') });
    expect(others).toEqual([]);
    expect(await response.json()).toEqual({ error: `Internal error (incident ${incident.id})` });
    expect((await client.request('initialize', initializeParams)).status).toBe(200);
  });

  it('that throws after its head is cut off, and one that throws after its answer is not', async () => {
    const cut = await serving((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      throw new Error('in the middle');
    });
    await expect(cut.own().then((response) => response.text())).rejects.toThrow();
    const complete = await serving((_, response) => {
      response.end('whole');
      throw new Error('at the end');
    });
    expect(await (await complete.own()).text()).toBe('whole');
    await vi.waitUntil(() => complete.events().length === 1, within);
    for (const { events } of [cut, complete]) expect(events()).toMatchObject([{ event: 'incident' }]);
  });

  it('that never answers loses its connection, and its late answer does no harm', async () => {
    let answerLate = () => {};
    const { own, client, events } = await serving(
      (_, response) => {
        answerLate = () => response.writeHead(200).end('late');
      },
      { CALL_TIMEOUT_MS: '50' },
    );
    await expect(own()).rejects.toThrow();
    answerLate();
    expect(events()).toMatchObject([{ event: 'incident', detail: '/own: no answer after 50 ms' }]);
    expect((await client.request('initialize', initializeParams)).status).toBe(200);
  });

  it('may stream for longer than a call', async () => {
    let end = () => {};
    const { own } = await serving((_, response) => {
      response.writeHead(200).write('first ');
      end = () => void response.end('last');
    });
    const { pass } = stopTimers('setTimeout');
    const answer = await own();
    await pass(600_000);
    end();
    expect(await answer.text()).toBe('first last');
  });

  it('finishes its answer while the server stops, also to GET', async () => {
    let release: (() => void) | undefined;
    const { own, stop } = await serving((_, response) => {
      release = () => response.end('done');
    });
    const answer = own();
    await vi.waitUntil(() => release, within);
    const { pass } = stopTimers('setInterval');
    const stopped = stop();
    // Longer than a call that is being sent may take to arrive.
    for (let elapsed = 0; elapsed < 1_000; elapsed += 50) await pass(50);
    release?.();
    expect(await (await answer).text()).toBe('done');
    await stopped;
  });

  it('has the limits of connections', async () => {
    const { port, events } = await serving(() => {}, { MAX_PIPELINED: '2' });
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(3));
    await once(socket, 'close');
    expect(events()).toMatchObject([{ event: 'limit', variable: 'MAX_PIPELINED' }]);
  });

  it('is behind the check of the host name', async () => {
    const { port } = await serving(plain);
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 /);
  });
});

it('headers are those of a route if it sets others', async () => {
  const headers = { 'Strict-Transport-Security': 'max-age=60', 'x-by': 'me' };

  const { own } = await serving((_, response) => response.setHeader('X-By', 'route').end(), {}, { headers });
  expect((await own()).headers.get('x-by')).toBe('route');
});

describe('the server does not start with', () => {
  const starting = (options: object) => () => createApp({ ...config(), ...info, ...options }, [], () => {});

  it.each([
    ['/mcp', 'belongs to the server itself'],
    ['/health', 'belongs to the server itself'],
    ['own', 'expected an exact path'],
    ['/own?a=1', 'expected an exact path'],
    ['/own#a', 'expected an exact path'],
    ['/a/../own', 'expected an exact path'],
    ['//host/own', 'expected an exact path'],
    ['/ö', 'expected an exact path'],
    ['/a b', 'expected an exact path'],
    ['', 'expected an exact path'],
  ])('a route at %j', (place, reason) => {
    const message = `routes: ${JSON.stringify(place)}`;
    expect(starting({ routes: { [place]: plain } })).toThrow(message);
    expect(starting({ routes: { [place]: plain } })).toThrow(reason);
  });

  it('a route without a function', () => {
    expect(starting({ routes: { '/own': 'text' } })).toThrow('routes: "/own": expected a function');
  });

  it.each([
    ['x-a', 'one\r\ntwo: 2', 'Invalid character in header content'],
    ['x-a', 'one\ntwo', 'Invalid character in header content'],
    ['x-a', '漢', 'Invalid character in header content'],
    ['x a', 'one', 'Header name must be a valid HTTP token'],
    ['', 'one', 'Header name must be a valid HTTP token'],
    ['x-a', 1, 'expected text'],
    ['x-a', undefined, 'expected text'],
    ['Content-Length', '1', 'is set by the server itself'],
    ['transfer-encoding', 'chunked', 'is set by the server itself'],
    ['access-control-allow-origin', '*', 'is set by the server itself'],
  ])('the header %j with the value %j', (name, value, reason) => {
    expect(starting({ headers: { [name]: value } })).toThrow(`headers: ${JSON.stringify(name)}`);
    expect(starting({ headers: { [name]: value } })).toThrow(reason);
  });
});
