import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';

/** One hostile connection, from another address of this machine. */
export async function attack(port: number, from = '127.0.0.2'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

/** Many hostile connections. They read nothing unless a test makes them read. */
export async function attackers(count: number, port: number, from = '127.0.0.2'): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Math.min(100, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => attack(port, from)))));
  }
  return sockets;
}

/** Data to send on many connections that do not read. */
export interface Flood {
  readonly connections: number;
  /** Texts and how often each is sent, in order. */
  readonly parts: readonly (readonly [text: string, times: number])[];
  /** A request that opens a session; its answer is read. The session id replaces `SESSION` in the parts. */
  readonly first?: string;
  /** Sent on all connections at once, after everything else has arrived. */
  readonly last?: string;
  /** Number of addresses of this machine to send from; two by default. */
  readonly addresses?: number;
}

/**
 * Floods a server from 127.0.0.2 and 127.0.0.3, or from more addresses, from a process with the lowest priority, which keeps the connections open until
 * it is ended.
 *
 * @returns the number of sent bytes, and a function that ends the process
 */
export async function flood(
  port: number,
  what: Flood,
): Promise<{ readonly bytes: number; end(): Promise<void> }> {
  const child = fork(join(import.meta.dirname, 'attacker-process.js'), { execArgv: [] });
  const exited = once(child, 'exit');
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
  const sent = once(child, 'message');
  const addresses = Array.from({ length: what.addresses ?? 2 }, (_, index) => addressOf(index));
  child.send({ ...what, port, addresses });
  const [bytes] = await Promise.race([sent, exited.then(() => [0])]);
  return {
    bytes,
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** 127.0.0.2 and the loopback addresses after it. */
function addressOf(index: number): string {
  const number = index + 2;
  return `127.0.${Math.floor(number / 256)}.${number % 256}`;
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
