const keepAliveMs = 25_000;
const keepAlive = new TextEncoder().encode(': keep-alive\n\n');

/** The open event streams of `GET /mcp`. A tools-only server has nothing to say there: they only stay open. */
export interface Streams {
  /** A stream that sends a comment now and then, so that proxies do not close it. */
  open(): ReadableStream<Uint8Array>;
  /** Ends all streams. */
  close(): void;
}

export function createStreams(): Streams {
  const open = new Set<ReadableStreamDefaultController<Uint8Array>>();
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    for (const stream of open) stream.enqueue(keepAlive);
  };
  const forget = (stream: ReadableStreamDefaultController<Uint8Array>) => {
    open.delete(stream);
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    open() {
      let own: ReadableStreamDefaultController<Uint8Array>;
      return new ReadableStream({
        start(controller) {
          own = controller;
          open.add(own);
          timer ??= setInterval(tick, keepAliveMs).unref();
          own.enqueue(keepAlive);
        },
        cancel: () => forget(own),
      });
    },
    close() {
      for (const stream of open) {
        forget(stream);
        stream.close();
      }
    },
  };
}
