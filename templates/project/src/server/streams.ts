import { Readable } from 'node:stream';

const keepAliveMs = 25_000;
const keepAlive = ': keep-alive\n\n';

/** The open event streams of `GET /mcp`. A tools-only server has nothing to say there: they only stay open. */
export interface Streams {
  /** A stream that sends a comment now and then, so that proxies do not close it. */
  open(session: string): Readable;
  /** Ends the streams of a session; all streams where none is named. */
  close(session?: string): void;
}

export function createStreams(): Streams {
  const open = new Map<Readable, string>();
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    for (const stream of open.keys()) stream.push(keepAlive);
  };
  const forget = (stream: Readable) => {
    open.delete(stream);
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    open(session) {
      const stream = new Readable({ read() {} });
      open.set(stream, session);
      timer ??= setInterval(tick, keepAliveMs).unref();
      stream.once('close', () => forget(stream));
      stream.push(keepAlive);
      return stream;
    },
    close(session) {
      for (const [stream, owner] of open) {
        if (session !== undefined && owner !== session) continue;
        forget(stream);
        stream.push(null);
      }
    },
  };
}
