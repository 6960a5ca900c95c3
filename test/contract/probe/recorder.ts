import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A request as received. */
export interface Recorded {
  /** The request line and the header lines, one character per byte (ISO 8859-1). */
  readonly head: readonly string[];
  readonly body: Buffer;
}

export interface Recorder {
  /** The address of the server, at the recorder's port. */
  readonly url: string;
  /** The requests so far, connection by connection. */
  requests(): readonly Recorded[];
  stop(): Promise<void>;
}

/** Forwards every byte to a server, and records what the client sends. */
export async function record(target: string): Promise<Recorder> {
  const { port } = new URL(target);
  const streams: Buffer[][] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const chunks: Buffer[] = [];
    streams.push(chunks);
    const upstream = connect(Number(port), '127.0.0.1');
    client.on('data', (chunk) => chunks.push(chunk));
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    requests: () => streams.flatMap((chunks) => requestsIn(Buffer.concat(chunks))),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Parses the bytes of one connection; an incomplete request is returned as far as it came. */
function requestsIn(bytes: Buffer): readonly Recorded[] {
  const found: Recorded[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest
      .subarray(0, end === -1 ? rest.length : end)
      .toString('latin1')
      .split('\r\n');
    rest = end === -1 ? Buffer.alloc(0) : rest.subarray(end + 4);
    const value = (name: string) => head.find((line) => line.toLowerCase().startsWith(`${name}:`));
    if (value('transfer-encoding')) {
      const chunks: Buffer[] = [];
      for (;;) {
        const line = rest.indexOf('\r\n');
        const size = Number.parseInt(rest.subarray(0, line).toString('latin1'), 16);
        chunks.push(rest.subarray(line + 2, line + 2 + size));
        rest = rest.subarray(line + 2 + size + 2);
        if (!(size > 0) || rest.length === 0) break;
      }
      found.push({ head, body: Buffer.concat(chunks) });
    } else {
      const size = Number(value('content-length')?.split(':')[1] ?? 0);
      found.push({ head, body: rest.subarray(0, size) });
      rest = rest.subarray(size);
    }
  }
  return found;
}
