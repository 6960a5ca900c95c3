const keepAliveMs = 25_000;
const keepAlive = new TextEncoder().encode(': keep-alive\n\n');

/** The open event streams of `GET /mcp`. A tools-only server has nothing to say there: they only stay open. */
export interface Streams {
  /** A stream that sends a comment now and then, so that proxies do not close it. */
  open(session: string): ReadableStream<Uint8Array>;
  /** Ends the streams of a session; all streams where none is named. */
  close(session?: string): void;
}

export function createStreams(): Streams {
  const open = new Map<ReadableStreamDefaultController<Uint8Array>, string>();
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    for (const stream of open.keys()) stream.enqueue(keepAlive);
  };
  const forget = (stream: ReadableStreamDefaultController<Uint8Array>) => {
    open.delete(stream);
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    open(session) {
      let own: ReadableStreamDefaultController<Uint8Array>;
      return new ReadableStream({
        start(controller) {
          own = controller;
          open.set(own, session);
          timer ??= setInterval(tick, keepAliveMs).unref();
          own.enqueue(keepAlive);
        },
        cancel: () => forget(own),
      });
    },
    close(session) {
      for (const [stream, owner] of open) {
        if (session !== undefined && owner !== session) continue;
        forget(stream);
        stream.close();
      }
    },
  };
}
