import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Asked, type Reply, reference, type Served } from './reference.ts';
import type { Trust } from './token.ts';

const maximum = 1_000_000;

/** The reference server without Node's HTTP: one socket, each request and each chunk read and written by hand. */
export async function serveByHand(trust: Trust): Promise<Served> {
  const parts = reference(trust);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    serveSocket(socket, parts.route).catch(() => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function serveSocket(socket: Socket, route: (asked: Asked) => Promise<Reply>): Promise<void> {
  const source = new Source(socket);
  for (;;) {
    const head = await source.through('\r\n\r\n', 16_000);
    if (head === undefined) return;
    const [line = '', ...fields] = head.toString('latin1').trimEnd().split('\r\n');
    const raw = fields.flatMap((field) => {
      const at = field.indexOf(':');
      return [field.slice(0, at), field.slice(at + 1).trim()];
    });
    const headers: Record<string, string> = {};
    for (let at = 0; at < raw.length; at += 2) headers[String(raw[at]).toLowerCase()] ??= String(raw[at + 1]);
    const [method = '', target = '/'] = line.split(' ');
    if (headers.expect) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    const body = await bodyOf(source, headers);
    const asked = {
      method,
      path: new URL(target, 'http://localhost').pathname,
      headers,
      body: body?.toString(),
      raw,
    };
    const isLast = body === undefined || headers.connection === 'close';
    await write(socket, await route(asked), isLast);
    if (isLast) return void socket.end();
  }
}

/** The body of a request; undefined if it is too long. */
async function bodyOf(
  source: Source,
  headers: Readonly<Record<string, string>>,
): Promise<Buffer | undefined> {
  if (headers['transfer-encoding'] === undefined) {
    const length = Number(headers['content-length'] ?? 0);
    return length > maximum ? undefined : source.take(length);
  }
  const chunks: Buffer[] = [];
  for (let size = -1, all = 0; size !== 0; ) {
    size = Number.parseInt(String(await source.through('\r\n', 100)), 16);
    all += size;
    if (!(all <= maximum)) return undefined;
    chunks.push(await source.take(size));
    await source.take(2);
  }
  return Buffer.concat(chunks);
}

async function write(
  socket: Socket,
  { status, headers = {}, body, open }: Reply,
  isLast: boolean,
): Promise<void> {
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
  const none = status === 204 || status === 304;
  const fields = {
    ...(text !== '' && { 'content-type': 'application/json' }),
    ...headers,
    ...(!none && { 'transfer-encoding': 'chunked' }),
    ...(isLast && { connection: 'close' }),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}:${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} \r\n${lines.join('')}\r\n`);
  if (none) return;
  const bytes = Buffer.from(text);
  const step = Math.ceil(bytes.length / 9) || 1;
  for (let at = 0; at < bytes.length; at += step) {
    const chunk = bytes.subarray(at, at + step);
    socket.write(`${chunk.length.toString(16)}\r\n`);
    socket.write(chunk);
    socket.write('\r\n');
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!open) socket.write('0\r\n\r\n');
}

/** The bytes of a socket, in pieces that end where the reader wants. */
class Source {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#chunks = socket
      .iterator({ destroyOnReturn: false })
      [Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** The bytes up to and including an ending; undefined if the socket ends before, or after too many bytes. */
  async through(ending: string, most: number): Promise<Buffer | undefined> {
    for (;;) {
      const at = this.#rest.indexOf(ending);
      if (at >= 0) return this.take(at + ending.length);
      if (this.#rest.length > most || !(await this.#more())) return undefined;
    }
  }

  async take(count: number): Promise<Buffer> {
    while (this.#rest.length < count) if (!(await this.#more())) throw new Error('The socket has ended');
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done) return false;
    this.#rest = Buffer.concat([this.#rest, value]);
    return true;
  }
}
