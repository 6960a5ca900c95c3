import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listen } from '../../packages/runtime/src/listen.ts';
import { createStreams } from '../../packages/runtime/src/server/event-streams.ts';
import { createLog } from '../../packages/runtime/src/server/log.ts';
import { config, initializeParams, start, token } from './support.ts';
import { heldTool } from './tools.ts';

const within = { timeout: 120_000 };
const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams };

/** The status of a request whose target and Host no HTTP client would send. */
async function statusOf(port: number, path: string, headers: Record<string, string> = {}): Promise<number> {
  const [response] = await once(request({ port, host: '127.0.0.1', path, headers }).end(), 'response');
  return response.resume().statusCode;
}

describe('routes', () => {
  test.each([
    ['GET', '/', 404],
    ['GET', '/mcp/', 404],
    ['POST', '/health', 404],
    ['HEAD', '/health', 200],
    ['PUT', '/mcp', 405],
    ['PATCH', '/mcp', 405],
    ['HEAD', '/mcp', 405],
    ['OPTIONS', '/mcp', 405],
  ])('%s %s is %d', async (method, path, status) => {
    const { url, client } = await start();
    const response = await fetch(url.replace('/mcp', path), { method, headers: await client.session() });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    if (status === 405) expect(response.headers.get('allow')).toBe('GET, POST, DELETE');
  });

  test('any Host is accepted in production, as behind a proxy', async () => {
    const { port } = await start({ env: { NODE_ENV: 'production' } });
    for (const host of ['tools.example', 'localhost:3000', '10.0.0.1', 'UPPER.example:443']) {
      expect(await statusOf(port, '/health', { host, 'x-forwarded-proto': 'https' })).toBe(200);
    }
  });

  test('elsewhere only names of this machine, of the audience and of ALLOWED_HOSTS are accepted', async () => {
    const { port } = await start({ env: { ALLOWED_HOSTS: 'Tools.local' } });
    const own = ['localhost:3000', '127.0.0.1', '[::1]:80', 'tools.example', 'tools.LOCAL:3000'];
    const foreign = ['evil.example', '10.0.0.1', 'localhost.evil.example', 'x y'];
    for (const [hosts, status] of [
      [own, 200],
      [foreign, 403],
    ] as const) {
      for (const host of hosts) expect(await statusOf(port, '/health', { host }), host).toBe(status);
    }
  });

  test('the request target may have a query or a host', async () => {
    const { port } = await start();
    for (const path of ['/health?x=/', 'http://tools.example/health', 'HTTPS://tools.example:443/health?x']) {
      expect(await statusOf(port, path)).toBe(200);
    }
  });

  test('HTTP/1.0 requests without Host are served', async () => {
    const { port } = await start();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /health HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*"status":"ok"/s);
  });

  test("no header names the server's software", async () => {
    const { client } = await start();
    const { headers } = await client.send(initialize);
    expect([...headers.keys()].sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'mcp-session-id',
      'x-request-id',
    ]);
    expect(headers.get('keep-alive')).toBe('timeout=65');
  });
});

describe('origins', () => {
  const from = (origin: string) => ({ origin });

  test.each([
    [{}, 'http://localhost:5173', 200],
    [{}, 'http://127.0.0.1', 200],
    [{}, 'http://[::1]:8080', 200],
    [{}, 'http://localhost.evil.example', 403],
    [{}, 'https://app.example', 403],
    [{}, 'null', 403],
    [{ NODE_ENV: 'production' }, 'http://localhost:5173', 403],
    [{ ALLOWED_ORIGINS: 'https://app.example' }, 'https://app.example', 200],
    [{ ALLOWED_ORIGINS: 'https://app.example' }, 'https://app.example:444', 403],
    [{ ALLOWED_ORIGINS: 'https://a.example, https://app.example' }, 'https://app.example', 200],
    [{ ALLOWED_ORIGINS: '*', NODE_ENV: 'production' }, 'null', 200],
  ])('%j: %s gets %d', async (env, origin, status) => {
    const { client } = await start({ env });
    const answer = await client.send(initialize, from(origin));
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBe(status === 200 ? origin : null);
    if (status === 200)
      expect(answer.headers.get('access-control-expose-headers')).toBe('mcp-session-id, x-request-id');
  });

  test('preflight', async () => {
    const { client } = await start({ env: { ALLOWED_ORIGINS: 'https://app.example' } });
    const asked = { 'access-control-request-method': 'POST' };
    const { status, headers } = await client.send(
      undefined,
      { ...from('https://app.example'), ...asked },
      'OPTIONS',
    );
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(headers.get('access-control-allow-headers')).toMatch(/mcp-session-id.*authorization/);
    expect(headers.get('access-control-allow-methods')).toContain('DELETE');
    expect(
      (await client.send(undefined, { ...from('https://evil.example'), ...asked }, 'OPTIONS')).status,
    ).toBe(403);
  });

  test('allowed pages can read refusals', async () => {
    const { client } = await start();
    const { status, headers } = await client.request('tools/call', {}, from('http://localhost'));
    expect(status).toBe(401);
    expect(headers.get('access-control-allow-origin')).toBe('http://localhost');
  });
});

describe('the stream of a session', () => {
  test('opens at once, stays open and ends with the server', async () => {
    const { url, client, stop } = await start();
    const response = await fetch(url, { headers: await client.session() });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(': keep-alive\n\n');
    const end = reader?.read();
    await stop();
    expect((await end)?.done).toBe(true);
  });

  test('ends with its session, and no other does', async () => {
    const { url, client } = await start();
    const [own, other] = [await client.session(), await client.session()];
    const [ending, staying] = await Promise.all([own, other].map((headers) => fetch(url, { headers })));
    expect((await fetch(url, { method: 'DELETE', headers: own })).status).toBe(204);
    expect(await ending?.text()).toBe(': keep-alive\n\n');
    const reader = staying?.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
  });

  test('gets keep-alives until it is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const streams = createStreams({ maxStreams: 10 }, () => {});
      const [one, two] = [new PassThrough(), new PassThrough()];
      streams.open('a', '127.0.0.1', new Socket(), one as unknown as ServerResponse);
      streams.open('b', '127.0.0.1', new Socket(), two as unknown as ServerResponse);
      const keepAlive = ': keep-alive\n\n';
      for (const stream of [one, two]) expect(stream.read()?.toString()).toBe(keepAlive);
      vi.advanceTimersByTime(25_000);
      for (const stream of [one, two]) expect(stream.read()?.toString()).toBe(keepAlive);
      await once(one.destroy(), 'close');
      expect(vi.getTimerCount()).toBe(1);
      streams.closeAll();
      await once(two.resume(), 'end');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('gets no writes after its end, although it stays open until it is read', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const streams = createStreams({ maxStreams: 10 }, () => {});
      const unread = new PassThrough();
      const socket = new Socket();
      streams.open('a', '127.0.0.1', socket, unread as unknown as ServerResponse);
      streams.close(socket);
      const write = vi.spyOn(unread, 'write');
      vi.advanceTimersByTime(60_000);
      expect(write).not.toHaveBeenCalled();
      expect(unread.closed).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('slow and disconnected clients', () => {
  test.each([
    ['header', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\n'],
    [
      'body',
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    ],
  ])('a %s that does not arrive in time is ended', async (_, begin) => {
    const { port, client } = await start({ env: { REQUEST_TIMEOUT_MS: '200' } });
    const socket = connect(port, '127.0.0.1');
    socket.write(begin);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 408 /);
    expect((await client.send(initialize)).status).toBe(200);
  });

  test('a call is aborted when its caller disconnects', async () => {
    const { tool, held } = heldTool();
    const { client, url, events } = await start({ tools: [tool] });
    const headers = { ...(await client.session()), authorization: `Bearer ${await token()}` };
    const caller = new AbortController();
    const call = fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'held' } }),
      signal: caller.signal,
    });
    await vi.waitUntil(() => held.signal, within);
    caller.abort();
    await expect(call).rejects.toThrow();
    await vi.waitUntil(() => events().some(({ outcome }) => outcome === 'CANCELLED'), within);
    expect(held.signal?.aborted).toBe(true);
  });

  test('an aborted upload is not an incident', async () => {
    const { app, events } = await start();
    let handled: Promise<void> | undefined;
    const handle: typeof app.handle = (request, response) => {
      handled = app.handle(request, response);
      return handled;
    };
    const { port, stop } = await listen(
      { ...app, handle },
      config(),
      createLog(() => {}),
    );
    onTestFinished(async () => {
      await stop();
    });
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    );
    await vi.waitUntil(() => handled !== undefined, within);
    socket.destroy();
    await handled;
    expect(events()).toEqual([]);
  });
});

test('requests pipelined behind a running call are ended with their connection', async () => {
  const tools = ['first', 'second'].map((name) => heldTool(name));
  const { port, client, events, stop } = await start({ tools: tools.map(({ tool }) => tool) });
  const headers = { ...(await client.session()), authorization: `Bearer ${await token()}` };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = (method: string, length = 0) =>
    `${method} /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const call = (name: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
    return head('POST', body.length) + body;
  };
  const socket = connect(port, '127.0.0.1');
  socket.write(`${call('first')}${call('second')}${head('GET')}${head('POST', 100)}{`);
  await vi.waitUntil(() => tools.every(({ held }) => held.signal), within);
  socket.destroy();
  await vi.waitUntil(() => tools.every(({ held }) => held.signal?.aborted), within);
  const idle = connect(port, '127.0.0.1');
  await once(idle, 'connect');
  await stop();
  expect(events().map(({ event, outcome }) => [event, outcome])).toEqual([
    ['call', 'CANCELLED'],
    ['call', 'CANCELLED'],
  ]);
});

describe('stopping', () => {
  test('finishes running calls and refuses new connections', async () => {
    const { tool, held } = heldTool();
    const { client, stop, url } = await start({ tools: [tool] });
    const call = client.call('held');
    await vi.waitUntil(() => held.signal, within);
    const stopped = stop();
    const health = fetch(url.replace('/mcp', '/health'), { headers: { connection: 'close' } });
    await expect(health).rejects.toThrow();
    held.release();
    expect((await call).structuredContent).toEqual({ text: 'late' });
    await stopped;
  });

  test('serves on while it drains, and says on /ready that it ends', async () => {
    const { tool, held } = heldTool();
    const { client, stop, url } = await start({
      tools: [tool],
      env: { DRAIN_MS: '7000', SHUTDOWN_GRACE_MS: '60000' },
    });
    const at = (path: string) => fetch(url.replace('/mcp', path));
    expect((await at('/ready')).status).toBe(200);
    const stopped = stop();
    const ready = await at('/ready');
    expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close']);
    expect((await at('/health')).status).toBe(200);
    const call = client.call('held');
    await vi.waitUntil(() => held.signal, within);
    held.release();
    expect((await call).structuredContent).toEqual({ text: 'late' });
    await stopped;
    await expect(at('/ready')).rejects.toThrow();
  });
});
