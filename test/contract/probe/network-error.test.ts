import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttp } from '../../../packages/contract/src/wire/http.ts';
import { listen } from '../../listen.ts';

/** A TCP server. @returns its port. */
const listening = (onConnection: (socket: Socket) => void): Promise<number> =>
  listen(createServer((socket) => onConnection(socket.on('error', () => {}))));

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const answering = (text: string) => () =>
  listening((socket) => void socket.once('data', () => socket.end(text)));

test.each<[string, string, () => Promise<number>, string]>([
  ['a closed port', 'http://127.0.0.1', closedPort, 'nothing listens there (ECONNREFUSED)'],
  [
    'a reset',
    'http://127.0.0.1',
    () => listening((socket) => void socket.once('data', () => socket.resetAndDestroy())),
    'the server closed the connection before its answer was complete (ECONNRESET)',
  ],
  [
    'a broken header',
    'http://127.0.0.1',
    answering('HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello'),
    'the answer is not valid HTTP (HPE_INVALID_CONTENT_LENGTH)',
  ],
  [
    'another protocol',
    'http://127.0.0.1',
    answering('220 mail.example ESMTP\r\n'),
    'the answer is not HTTP (HPE_INVALID_CONSTANT); if the server speaks TLS, use https://',
  ],
  [
    'plain HTTP at an https URL',
    'https://127.0.0.1',
    answering('HTTP/1.1 400 Bad Request\r\n\r\n'),
    'the TLS handshake failed (EPROTO); if the server speaks plain HTTP, use http://',
  ],
  ['an unknown host', 'http://nothing.invalid', closedPort, 'the host name has no address ('],
])('%s is explained', async (_, origin, portOf, words) => {
  const http = createHttp();
  onTestFinished(() => http.close());
  const url = new URL(`${origin}:${await portOf()}/mcp`);
  const exchange = http.exchange({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 60_000 });
  await expect(exchange).rejects.toThrow(words);
});
