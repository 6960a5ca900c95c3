import { once } from 'node:events';
import { IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createMemory } from '../../packages/runtime/src/server/call-memory.ts';
import { createBodies } from '../../packages/runtime/src/server/incoming-bodies.ts';
import { config, initializeParams, start } from './support.ts';

const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams };

describe('size limit', () => {
  const padded = (bytes: number) => {
    const body = JSON.stringify({ ...initialize, params: { ...initializeParams, _meta: { x: '' } } });
    return body.replace('"x":""', `"x":"${'x'.repeat(bytes - body.length)}"`);
  };

  test('applies to a body of declared length', async () => {
    const { client } = await start({ env: { MAX_BODY_BYTES: '5000' } });
    expect((await client.send(padded(5000))).status).toBe(200);
    expect(await client.send(padded(5001))).toMatchObject({
      status: 413,
      body: { error: 'Request too large' },
    });
  });

  test('applies to a body of undeclared length', async () => {
    const { port } = await start({ env: { MAX_BODY_BYTES: '5000' } });
    expect(await sendChunked(port, padded(5000))).toBe(200);
    expect(await sendChunked(port, padded(5001))).toBe(413);
    expect(await sendChunked(port, padded(4_000_000))).toBe(413);
  });

  test('lets a client that is still sending read the refusal', async () => {
    const { url } = await start();
    const body = new Blob([padded(8_000_000)]);
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, duplex: 'half' } as const;
    for (let time = 0; time < 10; time++) {
      const sent = [body, body.stream()].map((body) => fetch(url, { ...init, body }));
      for (const { status } of await Promise.all(sent)) expect(status).toBe(413);
    }
  });

  test('cuts off a client that never stops sending', async () => {
    const { port } = await start();
    const headers = { 'content-type': 'application/json' };
    const sending = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers });
    const cut = new Promise((resolve) => sending.once('close', resolve));
    sending.on('error', () => {});
    const more = () => sending.destroyed || sending.write('x'.repeat(100_000), more);
    more();
    await cut;
  });

  test('counts little more memory than the size of a body that comes byte by byte', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc');
    const used = () => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const request = new IncomingMessage(new Socket());
    request.headers['content-type'] = 'application/json';
    const body = createBodies(
      config(),
      createMemory(config(), () => {}),
      () => {},
    ).read({
      request,
      owner: '',
      hasValidToken: true,
      parse: (bytes) => JSON.parse(String(bytes)),
      estimateMemory: () => 0,
    });
    const value = 'x'.repeat(400_000);
    const bytes = Buffer.from(JSON.stringify(value));
    const before = used();
    for (const byte of bytes) request.push(Buffer.of(byte));
    await nextTurn();
    expect(used() - before).toBeLessThan(10_000_000);
    request.complete = true;
    request.push(null);
    expect((await body) === value).toBe(true);
  });

  test('counts bytes of characters', async () => {
    const { client } = await start({ env: { MAX_BODY_BYTES: '5000' } });
    expect((await client.send(padded(4990).replace('xxxxxxxxxx', '€€€€€€€€€€'))).status).toBe(413);
  });
});

async function sendChunked(port: number, body: string): Promise<number> {
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  const sending = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers });
  sending.on('error', () => {});
  for (let at = 0; at < body.length; at += 50_000) sending.write(body.slice(at, at + 50_000));
  sending.end();
  const [response] = await once(sending, 'response');
  response.resume();
  return response.statusCode;
}
