import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One hostile connection, from an address of its own on this machine. */
export async function attack(port: number, from = '127.0.0.2'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

/** Many of them. They read nothing unless a test has them do so. */
export async function attackers(count: number, port: number, from = '127.0.0.2'): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Math.min(100, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => attack(port, from)))));
  }
  return sockets;
}

/** The text of an HTTP request. */
export function requestText(
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
  declared = body?.length,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length =
    declared === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${declared}\r\n`;
  return `${method} /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${length}\r\n${body ?? ''}`;
}
