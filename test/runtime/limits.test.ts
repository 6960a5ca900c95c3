import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { variables } from '../../packages/runtime/src/variables.ts';
import { attack, attackers, requestText } from '../attacks/attacker.ts';
import { initializeParams, type RawClient, start, stopTimers, token } from './support.ts';
import { heldTool, textTool } from './tools.ts';

const within = { timeout: 120_000 };
const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams });
/** Has the form of a token, but is not valid. */
const lookalike = { Authorization: 'Bearer a.b.c' };
const paying = async () => ({ Authorization: `Bearer ${await token()}` });

/** The data that a connection has received so far. */
function received(socket: Socket): { text: string; closed: boolean } {
  const state = { text: '', closed: socket.destroyed };
  socket.on('data', (data) => {
    state.text += data;
  });
  socket.once('close', () => {
    state.closed = true;
  });
  return state;
}

/** Headers with a token that the server knows already, so that it does not wait for its verification. */
async function payer(client: RawClient): Promise<{ readonly Authorization: string }> {
  const paid = await paying();
  await client.request('tools/call', { name: 'get_price' }, paid);
  return paid;
}

/** Resolves when the server has read everything that was sent before: it answers a later request. */
async function caughtUp({ url }: { readonly url: string }): Promise<void> {
  expect((await fetch(url.replace('/mcp', '/health'))).status).toBe(200);
}

/** A hostile connection, and what it has received so far. */
async function watched(port: number, from?: string) {
  const socket = await attack(port, from);
  return { socket, got: received(socket) };
}

const statusesIn = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe('event streams', () => {
  test('a new one ends the old one of the same session', async () => {
    const { client, port } = await start();
    const session = await client.session();
    const [first, second] = [await attack(port), await attack(port)];
    const [one, two] = [received(first), received(second)];
    first.write(requestText('GET', session));
    await vi.waitUntil(() => one.text.includes('keep-alive\n\n'), within);
    second.write(requestText('GET', session));
    await vi.waitUntil(() => one.text.endsWith('0\r\n\r\n'), within);
    await vi.waitUntil(() => two.text.includes('keep-alive\n\n'), within);
    expect(two.text).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  test('one with a request behind it ends, and the request is answered', async () => {
    const { client, port } = await start();
    const { socket, got } = await watched(port);
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const session = await client.session();
    socket.write(requestText('GET', session) + requestText('POST', session, ping));
    await vi.waitUntil(() => got.text.endsWith('"result":{}}'), within);
    expect(statusesIn(got.text)).toEqual([200, 200]);
  });

  test('over the limit the oldest of the address with most streams ends', async () => {
    const { client, port, events } = await start({ env: { MAX_STREAMS: '3' } });
    const open = async (from: string) => {
      const { socket, got: state } = await watched(port, from);
      socket.write(requestText('GET', await client.session()));
      await vi.waitUntil(() => state.text.includes('keep-alive\n\n'), within);
      return state;
    };
    const honest = await open('127.0.0.1');
    const hostile: { text: string; closed: boolean }[] = [];
    for (let count = 0; count < 5; count++) hostile.push(await open('127.0.0.2'));
    const ended = ({ text }: { text: string }) => text.endsWith('\r\n0\r\n\r\n');
    await vi.waitUntil(() => hostile.filter(ended).length === 3, within);
    expect(hostile.map(ended)).toEqual([true, true, true, false, false]);
    expect(ended(honest)).toBe(false);
    expect(events()).toContainEqual(expect.objectContaining({ event: 'limit', variable: 'MAX_STREAMS' }));
  });

  test('a trusted header names the address', async () => {
    const env = { MAX_STREAMS: '2', CLIENT_ADDRESS_HEADER: 'X-Forwarded-For' };
    const { client, port } = await start({ env });
    const open = async (address: string) => {
      const { socket, got: state } = await watched(port);
      socket.write(
        requestText('GET', { ...(await client.session()), 'X-Forwarded-For': `1.1.1.1, ${address}` }),
      );
      await vi.waitUntil(() => state.text.includes('keep-alive\n\n'), within);
      return state;
    };
    const honest = await open('10.0.0.1');
    const hostile = [await open('10.0.0.2'), await open('10.0.0.2')];
    await vi.waitUntil(() => hostile[0]?.text.endsWith('\r\n0\r\n\r\n'), within);
    expect(honest.text).not.toMatch(/\r\n0\r\n\r\n$/);
  });
});

test('a connection with too many pending requests is closed, and none of them continues', async () => {
  const { tool, held } = heldTool();
  const { client, port, events } = await start({ tools: [tool], env: { MAX_PIPELINED: '4' } });
  const session = await client.session();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'held' } });
  const paid = { ...session, authorization: `Bearer ${await token()}` };
  const { socket, got } = await watched(port);
  socket.write(requestText('POST', paid, body) + requestText('GET', session).repeat(3));
  await vi.waitUntil(() => held.signal, within);
  await caughtUp(client);
  expect(got.closed).toBe(false);
  socket.write(requestText('GET', session).repeat(400));
  await vi.waitUntil(() => got.closed, within);
  await vi.waitUntil(() => held.signal?.aborted, within);
  expect(events()).toContainEqual(expect.objectContaining({ event: 'limit', variable: 'MAX_PIPELINED' }));
});

describe('pipelined requests', () => {
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

  test('count together, although each is answered at once', async () => {
    const { client, port, events } = await start();
    const { socket, got } = await watched(port);
    socket.write(requestText('POST', await client.session(), ping).repeat(100));
    await vi.waitUntil(() => got.closed, within);
    expect(statusesIn(got.text).length).toBeLessThanOrEqual(Number(variables.MAX_PIPELINED.default));
    expect(events()).toContainEqual(expect.objectContaining({ event: 'limit', variable: 'MAX_PIPELINED' }));
  });

  test('are not parsed over the limit', async () => {
    const { client, port } = await start();
    const session = await client.session();
    const parsed: unknown[] = [];
    const count = (message: unknown) => parsed.push(message);
    subscribe('http.server.request.start', count);
    onTestFinished(() => void unsubscribe('http.server.request.start', count));
    const { socket, got } = await watched(port);
    socket.write(requestText('GET', session).repeat(400));
    await vi.waitUntil(() => got.closed, within);
    expect(parsed).toHaveLength(Number(variables.MAX_PIPELINED.default) + 1);
  });

  test('of a client that waits for each answer do not count', async () => {
    const { client, port } = await start({ env: { MAX_PIPELINED: '1' } });
    const session = await client.session();
    const { socket, got } = await watched(port);
    for (let sent = 1; sent <= 50; sent++) {
      socket.write(requestText('POST', session, ping));
      await vi.waitUntil(() => got.closed || got.text.split('"result":{}}').length > sent, {
        ...within,
        interval: 1,
      });
    }
    expect(got.closed).toBe(false);
    expect(statusesIn(got.text)).toEqual(Array(50).fill(200));
  });
});

describe('headers', () => {
  const head = (count: number) => `GET /health HTTP/1.1\r\nhost: localhost\r\n${'a:\r\n'.repeat(count)}\r\n`;

  test.each([
    [99, 200],
    [100, 431],
    // Node would silently drop the last of them by default, whatever they are.
    [2_010, 431],
    // More than 8 KiB.
    [2_100, 431],
  ])('%i and Host are answered with %i', async (count, status) => {
    const { port } = await start();
    const { socket, got } = await watched(port);
    socket.write(head(count));
    await vi.waitUntil(() => got.text !== '', within);
    expect(statusesIn(got.text)).toEqual([status]);
  });
});

describe('bodies in chunks', () => {
  const chunked = { 'transfer-encoding': 'chunked', 'content-type': 'application/json' };
  const inChunks = (text: string, size: number) =>
    `${text
      .match(new RegExp(`.{1,${size}}`, 'gs'))
      ?.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
      .join('')}0\r\n\r\n`;

  test.each(['POST', 'GET', 'DELETE', 'PUT'])('of one byte end the connection of a %s', async (method) => {
    const { port, client } = await start();
    const { socket, got } = await watched(port);
    socket.write(requestText(method, { ...chunked, ...(await paying()), ...(await client.session()) }));
    socket.write('1\r\n \r\n'.repeat(20_000));
    await vi.waitUntil(() => got.closed, within);
    expect(got.text).not.toMatch(/^HTTP\/1\.1 2.*\r\n0\r\n\r\n$/s);
  });

  test.each([1, 7, 1_000])('of %i bytes are read if they are few or large enough', async (size) => {
    const { port } = await start();
    const { socket, got } = await watched(port);
    const body = size === 1 ? initialize : `${initialize}${' '.repeat(20_000)}`;
    expect(initialize.length).toBeLessThan(300);
    socket.write(`${requestText('POST', chunked)}${inChunks(body, size)}`);
    await vi.waitUntil(() => got.text.endsWith('}'), within);
    expect(statusesIn(got.text)).toEqual([200]);
  });

  test('of one byte behind another request end the connection, too', async () => {
    const { port } = await start();
    const { socket, got } = await watched(port);
    socket.write(`${requestText('GET', {})}${requestText('POST', chunked)}${'1\r\n \r\n'.repeat(20_000)}`);
    await vi.waitUntil(() => got.closed, within);
    expect(statusesIn(got.text)).not.toContain(200);
  });
});

describe('bodies', () => {
  test('without a valid token are limited to 64 KB, complete or not', async () => {
    const { client } = await start();
    const sized = (bytes: number) => initialize.replace(/}}$/, `}${' '.repeat(bytes - initialize.length)}}`);
    expect((await client.send(sized(65_536))).status).toBe(200);
    expect((await client.send(sized(65_537))).status).toBe(413);
    for (const header of ['Bearer x', 'Bearer a.b.c']) {
      expect((await client.send(sized(65_536), { authorization: header })).status).toBe(200);
      expect((await client.send(sized(65_537), { authorization: header })).status).toBe(413);
    }
    expect((await client.send(sized(1_048_576), await paying())).status).toBe(200);
    expect((await client.send(sized(1_048_577), await paying())).status).toBe(413);
  });

  test('that declare more than their limit are refused before they are complete', async () => {
    const { port } = await start();
    const [paid, unpaid] = [await attack(port), await attack(port)];
    paid.write(requestText('POST', await paying(), '{', 1_048_577));
    unpaid.write(requestText('POST', {}, '{', 65_537));
    const answers = [received(paid), received(unpaid)];
    const statuses = () => answers.map(({ text }) => statusesIn(text));
    await vi.waitUntil(() => statuses().every(({ length }) => length > 0), within);
    expect(statuses()).toEqual([[413], [413]]);
  });

  test.each([
    [5_000, {}],
    [300, { UNPAID_BODY_MS: '300' }],
  ])('without a valid token are limited to %i ms with the variables %j', async (ms, env) => {
    const { client, port } = await start({ env });
    const headers = [await payer(client), lookalike, {}];
    const { pass } = stopTimers('setTimeout');
    const sockets = await Promise.all(headers.map(() => attack(port)));
    const [paid, ...others] = sockets.map(received);
    for (const [i, socket] of sockets.entries()) socket.write(requestText('POST', headers[i] ?? {}, '{', 10));
    // The server finds out that a token is not valid while the body arrives.
    const before = vi.getTimerCount();
    while (vi.getTimerCount() < before + 2) await pass(0);
    await pass(ms - 1);
    expect([paid, ...others].map((state) => state?.text)).toEqual(['', '', '']);
    await pass(1);
    await vi.waitUntil(() => others.every(({ text }) => text !== ''), within);
    expect(others.flatMap(({ text }) => statusesIn(text))).toEqual([408, 408]);
    expect(paid?.text).toBe('');
  });

  test('over the budget one of the address with the most is refused, unless it is smaller than the others', async () => {
    const { client, port, events } = await start({ env: { MAX_MEMORY_BYTES: '4000000' } });
    const paid = await payer(client);
    const sizes = [300_000, 310_000, 320_000, 340_000, 200_000];
    const hostile: { text: string; closed: boolean }[] = [];
    for (const size of sizes) {
      const socket = await attack(port);
      hostile.push(received(socket));
      socket.write(requestText('POST', paid, 'x', size));
      await caughtUp(client);
    }
    const refused = () => sizes.filter((_, index) => hostile[index]?.closed);
    await vi.waitUntil(() => refused().length === 2, within);
    expect(refused()).toEqual([300_000, 340_000]);
    const { text = '' } = hostile[0] ?? {};
    expect(text).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1/is);
    expect((await client.call('get_price')).structuredContent.price).toBe(12.5);
    const honest = await attack(port, '127.0.0.1');
    const answer = received(honest);
    const body = `${initialize}${' '.repeat(500_000)}`;
    honest.write(requestText('POST', paid, body.slice(0, 1_000), body.length));
    await vi.waitUntil(() => refused().length === 4, within);
    expect(refused()).not.toContain(200_000);
    honest.write(body.slice(1_000));
    await vi.waitUntil(() => answer.text !== '', within);
    expect(statusesIn(answer.text)).toEqual([200]);
    expect(events()).toContainEqual(
      expect.objectContaining({ event: 'limit', variable: 'MAX_MEMORY_BYTES' }),
    );
  });

  test('whose value takes more than the memory of calls are refused, however few their bytes', async () => {
    const { client, events } = await start({ env: { MAX_MEMORY_BYTES: '4000000' } });
    const paid = await payer(client);
    const sent = (x: string) => client.send(initialize.replace(/}}$/, `,"_meta":{"x":${x}}}}`), paid);
    expect((await sent(`"${'[],'.repeat(60_000)}"`)).status).toBe(200);
    expect((await sent(`[${'[],'.repeat(60_000)}0]`)).status).toBe(503);
    expect(events().at(-1)).toMatchObject({ event: 'limit', variable: 'MAX_MEMORY_BYTES' });
  });

  test('over the budget are not read', async () => {
    const accepted: Socket[] = [];
    const accept = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
    subscribe('net.server.socket', accept);
    onTestFinished(() => void unsubscribe('net.server.socket', accept));
    const { client, port } = await start({ env: { MAX_MEMORY_BYTES: '4000000' } });
    const paid = await payer(client);
    const sockets = await attackers(20, port);
    for (const socket of sockets) {
      socket.resume().write(requestText('POST', paid, 'x'.repeat(999_999), 1_000_000));
    }
    await vi.waitUntil(() => sockets.filter(({ destroyed }) => destroyed).length === 19, within);
    const read = accepted.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    expect(read).toBeLessThan(5_000_000);
  });

  test('without a valid token take nothing from those with one', async () => {
    const { client, port, events } = await start({ env: { MAX_MEMORY_BYTES: '4000000' } });
    const strangers = await attackers(60, port, '127.0.0.1');
    for (const socket of strangers)
      socket.resume().write(requestText('POST', lookalike, 'x'.repeat(100), 60_000));
    await vi.waitUntil(() => events().some(({ variable }) => variable === 'MAX_MEMORY_BYTES'), within);
    const paid = await payer(client);
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { socket, got: answer } = await watched(port, '127.0.0.1');
        const body = `${initialize}${' '.repeat(70_000)}`;
        socket.write(requestText('POST', paid, body.slice(0, 1_000), body.length));
        await caughtUp(client);
        socket.write(body.slice(1_000));
        await vi.waitUntil(() => answer.text !== '', within);
        return answer.text;
      }),
    );
    expect(answers.flatMap(statusesIn)).toEqual(Array(10).fill(200));
  });

  test('free their budget', async () => {
    const { client, port } = await start({ env: { MAX_MEMORY_BYTES: '1600000' } });
    const paid = await payer(client);
    for (let round = 0; round < 5; round++) {
      const socket = await attack(port);
      socket.write(requestText('POST', paid, 'x'.repeat(150_000), 200_000));
      await caughtUp(client);
      socket.destroy();
      await once(socket, 'close');
      const body = initialize.replace(/}}$/, `}${' '.repeat(150_000)}}`);
      await vi.waitFor(async () => {
        const halves = new Blob([body.slice(0, 1000), body.slice(1000)]).stream();
        const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...paid } };
        expect(
          (await fetch(client.url, { ...sent, body: halves, duplex: 'half' } as RequestInit)).status,
        ).toBe(200);
      }, within);
    }
  });

  test('of calls that arrive during a shutdown are still read, however busy the process is then', async () => {
    const { client, port, stop } = await start();
    const socket = await attack(port);
    const answered = once(socket, 'data');
    socket.write(requestText('POST', {}, '{', 2));
    await caughtUp(client);
    const { pass } = stopTimers('setInterval');
    const stopped = stop();
    // After a long turn, timers run before the server reads what has arrived meanwhile.
    setTimeout(() => {
      socket.write('}');
      void pass(700);
    });
    expect(String(await answered)).toMatch(/^HTTP\/1\.1 400 /);
    await pass(50);
    await stopped;
  });

  test('that are incomplete end at once on shutdown', async () => {
    const { client, port, stop } = await start({ env: { SHUTDOWN_GRACE_MS: '600000' } });
    const sockets = await attackers(5, port);
    for (const socket of sockets) socket.resume().write(requestText('POST', lookalike, '{', 10));
    const silent = await attack(port);
    silent.resume().write('POST /mcp HT');
    await caughtUp(client);
    await stop(); // or the test times out
  });
});

/** A tool with an answer of the requested number of bytes. */
const large = textTool('large', (input, { found }) =>
  found({ text: 'é'.repeat((input as { bytes: number }).bytes / 2) }),
);

describe('answers', () => {
  const callLarge = async (bytes: number, session: object) => {
    const params = { name: 'large', arguments: { bytes } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return requestText('POST', { ...session, Authorization: `Bearer ${await token()}` }, body);
  };

  test('of any size arrive completely', async () => {
    const { client } = await start({ tools: [large] });
    for (const bytes of [100, 32_000, 32_700, 66_000, 1_000_000, 9_000_000]) {
      expect((await client.call('large', { bytes })).structuredContent.text.length).toBe(bytes / 2);
    }
  });

  test('that nobody reads end their connection', async () => {
    const { client, port, events } = await start({ tools: [large], env: { ANSWER_STALL_MS: '300' } });
    const deaf = await attack(port);
    deaf.pause().write(await callLarge(9_000_000, await client.session()));
    await vi.waitUntil(() => events().some(({ variable }) => variable === 'ANSWER_STALL_MS'), within);
  });

  test('that are read in pieces do not end their connection, however long that takes in all', async () => {
    const { client, port, events } = await start({ tools: [large], env: { ANSWER_STALL_MS: '60000' } });
    const { pass } = stopTimers('setTimeout');
    const slow = await attack(port);
    slow.pause().write(await callLarge(9_000_000, await client.session()));
    for (let bytes = 0; bytes < 18_000_000; ) {
      await Promise.race([once(slow, 'readable'), once(slow, 'close')]);
      expect(slow.destroyed).toBe(false);
      bytes += slow.read()?.length ?? 0;
      await pass(60_000);
    }
    expect(events().map(({ variable }) => variable)).not.toContain('ANSWER_STALL_MS');
  });

  test('over the budget the oldest of the address with the most ends its connection', async () => {
    const env = { MAX_MEMORY_BYTES: '480000000' };
    const { client, port, events } = await start({ tools: [large], env });
    const session = await client.session();
    const call = await callLarge(9_000_000, session);
    const sockets: Socket[] = [];
    for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.2', '127.0.0.2']) {
      const socket = await attack(port, from);
      sockets.push(socket.pause());
      socket.write(call);
      await once(socket, 'readable');
    }
    await vi.waitUntil(() => events().some(({ variable }) => variable === 'MAX_MEMORY_BYTES'), within);
    const closed = sockets.map(received);
    for (const socket of sockets) socket.resume();
    await vi.waitUntil(() => closed.every((state) => state.closed || state.text.length > 9_000_000), within);
    expect(closed.map((state) => state.closed)).toEqual([false, true, false, false]);
  });

  test('that wait behind a running call do not count as stalled', async () => {
    const accepted: Socket[] = [];
    const accept = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
    subscribe('net.server.socket', accept);
    onTestFinished(() => void unsubscribe('net.server.socket', accept));
    const { tool, held } = heldTool();
    const { client, port } = await start({ tools: [tool], env: { ANSWER_STALL_MS: '60000' } });
    const session = await client.session();
    const paid = { ...session, authorization: `Bearer ${await token()}` };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'held' } });
    const { socket, got } = await watched(port);
    socket.write(
      requestText('POST', paid, body) + requestText('POST', session, body.replace('tools/call', 'ping')),
    );
    await vi.waitUntil(() => held.signal, within);
    await caughtUp(client);
    // Node measures no time without progress on this connection.
    const server = accepted.find(({ remotePort }) => remotePort === socket.localPort);
    expect([server?.destroyed, server?.timeout ?? 0]).toEqual([false, 0]);
    held.release();
    await vi.waitUntil(() => got.text.endsWith('"result":{}}'), within);
    expect(statusesIn(got.text)).toEqual([200, 200]);
  });
});

describe('connections', () => {
  test('over the limit the oldest idle one of the address with most connections is closed', async () => {
    const { client, port, events } = await start({ env: { MAX_CONNECTIONS: '10' } });
    const honest = received(await attack(port, '127.0.0.1'));
    const silent = (await attackers(30, port)).map(received);
    expect((await client.call('get_price')).structuredContent.price).toBe(12.5);
    await vi.waitUntil(() => silent.filter(({ closed }) => closed).length >= 20, within);
    expect(honest.closed).toBe(false);
    expect(events()).toContainEqual(expect.objectContaining({ event: 'limit', variable: 'MAX_CONNECTIONS' }));
  });

  test('with a running call are never closed for others', async () => {
    const { tool, held } = heldTool();
    const { client, port } = await start({ tools: [tool], env: { MAX_CONNECTIONS: '3' } });
    const call = client.call('held');
    await vi.waitUntil(() => held.signal, within);
    const others = (await attackers(20, port, '127.0.0.1')).map(received);
    await vi.waitUntil(() => others.filter(({ closed }) => closed).length >= 17, within);
    held.release();
    expect((await call).structuredContent).toEqual({ text: 'late' });
  });
});

test.each([
  ['in all', { MAX_CALLS: '2' }, false],
  ['with one token', { MAX_CALLS_PER_TOKEN: '2' }, true],
])('calls over the limit %s are refused until one ends', async (_, env, same) => {
  const tools = ['one', 'two'].map((name) => heldTool(name));
  const { client } = await start({ tools: tools.map(({ tool }) => tool), env });
  const session = await client.session();
  const first = `Bearer ${await token()}`;
  const call = async (name: string, authorization = first) =>
    client.request('tools/call', { name }, { ...session, authorization });
  const running = tools.map(({ tool }) => call(tool.name));
  await vi.waitUntil(() => tools.every(({ held }) => held.signal), within);
  const refused = await call('nope', same ? first : `Bearer ${await token()}`);
  expect({ status: refused.status, retry: refused.headers.get('retry-after') }).toEqual({
    status: 503,
    retry: '1',
  });
  if (same) expect((await call('nope', `Bearer ${await token()}`)).status).toBe(200);
  for (const { held } of tools) held.release();
  await Promise.all(running);
  expect((await call('nope')).status).toBe(200);
});

test('without a token check, callers do not share the limit of one token', async () => {
  const tools = ['one', 'two'].map((name) => heldTool(name));
  const { client } = await start({
    tools: tools.map(({ tool }) => tool),
    env: { AUTH: 'off', MAX_CALLS_PER_TOKEN: '1', MAX_CALLS: '2' },
  });
  const session = await client.session();
  const call = (name: string) => client.request('tools/call', { name }, session);
  const running = tools.map(({ tool }) => call(tool.name));
  await vi.waitUntil(() => tools.every(({ held }) => held.signal), within);
  expect((await call('nope')).status).toBe(503);
  for (const { held } of tools) held.release();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await call('nope')).status).toBe(200);
});

test('a server whose event loop is late twice in a row sheds load, and logs it', async () => {
  const { pass } = stopTimers('setInterval');
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const { url, client, events } = await start({ env: { MAX_LOOP_DELAY_MS: '50' } });
  /** Lets half a second pass, after which the event loop is busy for some milliseconds. */
  const turn = (busyMs: number) => {
    now += 500 + busyMs;
    return pass(500);
  };
  const status = async () => (await client.request('ping')).status;
  await turn(51);
  expect(await status()).toBe(400);
  await turn(51);
  const answer = await fetch(url, { method: 'POST', body: '{}' });
  expect({ status: answer.status, retry: answer.headers.get('retry-after') }).toEqual({
    status: 503,
    retry: '1',
  });
  expect((await fetch(url.replace('/mcp', '/health'))).status).toBe(200);
  await turn(0);
  expect(await status()).toBe(400);
  vi.restoreAllMocks();
  vi.useRealTimers();
  expect(events()).toContainEqual(expect.objectContaining({ event: 'limit', variable: 'MAX_LOOP_DELAY_MS' }));
});
