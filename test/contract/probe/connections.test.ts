import { createServer, request, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Connections } from '../../../packages/contract/src/wire/connections.ts';
import { createHttp, type Http } from '../../../packages/contract/src/wire/http.ts';
import { ConnectionReset } from '../../../packages/contract/src/wire/receive.ts';

/** Resets each request after the first one of a connection, when it arrives. */
let server: Server;
let http: Http;
let requests: number;
const rpc = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method });

beforeEach(async () => {
  requests = 0;
  const used = new WeakSet<Socket>();
  server = createServer(({ socket }, response) => {
    requests += 1;
    if (used.has(socket)) return void socket.resetAndDestroy();
    used.add(socket);
    response.end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  http = createHttp();
});
afterEach(async () => {
  http.close();
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

const address = () => new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
const post = (body: string) =>
  http.exchange({ method: 'POST', url: address(), headers: {}, body, timeoutMs: 60_000 });

it('a request that a reused connection reset is sent again on a new connection', async () => {
  await Promise.all([post(rpc('ping')), post(rpc('ping'))]);
  expect((await post(rpc('ping'))).status).toBe(200);
  expect(requests).toBe(4);
});

it('a call that a reused connection reset is not sent again', async () => {
  await post(rpc('ping'));
  const error = await post(rpc('tools/call')).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConnectionReset);
  expect(error).toMatchObject({ isReused: true });
  expect(requests).toBe(2);
});

it('a connection that was idle for too long is not used again, though no timer has run', async () => {
  let ms = 0;
  const connections = new Connections(() => ms);
  const openFreeConnections = () => {
    const agent = connections.agentFor(address());
    return Object.values(agent.freeSockets)
      .flat()
      .filter((socket) => !socket?.destroyed).length;
  };
  await new Promise<void>((resolve) => {
    const outgoing = request(address(), { agent: connections.agentFor(address()) }, (incoming) => {
      incoming.resume();
    });
    connections.agentFor(address()).once('free', () => resolve());
    outgoing.end();
  });
  expect(openFreeConnections()).toBe(1);
  ms = 1_999;
  expect(openFreeConnections()).toBe(1);
  ms = 2_000;
  expect(openFreeConnections()).toBe(0);
  connections.close();
});
