// Sends responses in batches, and drops responses that callers do not read.

import type { ServerResponse } from 'node:http';
import { createFairLimit } from './fair-limit.ts';
import { isolatesRequests, type Limits, memoryShares } from './limits.ts';
import type { ReportLimit } from './log.ts';

/** Node copies longer texts twice: behind the head, and as bytes. */
const largeLength = 65_536;

/**
 * Sends responses, and counts the bytes that callers have not read. Above the limit, the oldest responses of the largest network are dropped
 * with their connections. A response without progress for `answerStallMs` is also dropped.
 */
export function createResponseSender({ maxMemoryBytes, answerStallMs }: Limits, reportLimit: ReportLimit) {
  const destroyConnection = (response: ServerResponse, variable: string) => {
    reportLimit(variable);
    response.req.socket.destroy();
  };
  const unread = createFairLimit<ServerResponse>(
    maxMemoryBytes * memoryShares.unread,
    () => true,
    (response) => destroyConnection(response, 'MAX_MEMORY_BYTES'),
  );
  return {
    /** Sends the body of a response whose head is written. @param owner asked only if the reader does not keep up */
    send(response: ServerResponse, body: string, owner: () => string): void {
      response.end(body.length > largeLength ? Buffer.from(body) : body);
      if (response.writableLength === 0) return;
      const address = owner();
      unread.add(address, response, Buffer.byteLength(body));
      response.once('close', () => unread.remove(address, response));
      // Node counts the time without progress, from the turn of a pipelined answer on, and keeps counting after its end.
      response.setTimeout(answerStallMs, () => destroyConnection(response, 'ANSWER_STALL_MS'));
      response.prependOnceListener('finish', () => response.setTimeout(0));
    },
  };
}

/** Maximum time that a response waits for its batch, in milliseconds, without the work that runs at this moment. */
const maxBatchMs = 1;

/**
 * Batches the responses of one turn of the event loop, which are then sent together. That halves the time of a write if the reader is
 * already awake, and keeps the code in the caches of the processor.
 *
 * @returns a function that resolves when the batch is sent: at the end of the turn, or after `maxBatchMs`
 */
export function createResponseBatch(): () => Promise<void> | undefined {
  if (isolatesRequests()) return () => undefined;
  let batch: ReturnType<typeof beginBatch> | undefined;
  const beginBatch = () => {
    let end = () => {};
    const promise = new Promise<void>((resolve) => {
      end = () => {
        if (batch?.promise === promise) batch = undefined;
        resolve();
      };
    });
    setImmediate(end);
    return { startedAt: performance.now(), promise, end };
  };
  return () => {
    batch ??= beginBatch();
    const { startedAt, promise, end } = batch;
    if (performance.now() - startedAt > maxBatchMs) end();
    return promise;
  };
}
