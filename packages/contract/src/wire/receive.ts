import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import type { Problem } from '../model.ts';
import { nowMs } from './clock.ts';
import { maximumEvents, ResponseWatch } from './events.ts';
import { networkReason } from './network-error.ts';
import { missingResponseMs, streamLingerMs } from './timeouts.ts';

/** The maximum size of an answer; a longer one counts as no answer. */
export const maximumBytes = 8 * 1024 * 1024;

/** Thrown if a request gets no HTTP answer; the message says what happened instead. */
export class NoAnswer extends Error {}

/** Thrown if a connection ended before the first byte of the answer. */
export class ConnectionReset extends NoAnswer {
  /** Whether an earlier request used the connection: the server may have closed it before it saw the request. */
  readonly isReused: boolean;

  constructor(isReused: boolean, cause: Error) {
    super(networkReason(cause), { cause });
    this.isReused = isReused;
  }
}

/** Thrown by a rule that knows which of its requests got no answer; its verdict lists these problems. */
export class Unanswered extends NoAnswer {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems[0]?.actual);
    this.problems = problems;
  }
}

/** Thrown if a request got no complete answer in time; its problem names the request. */
export class Hang extends Unanswered {}

/** The part of an answer that has arrived. */
export interface Arrival {
  /** The number of bytes of its body; undefined before its head. */
  bytes?: number;
  /** The method of a request that the server sent to its client before the answer. */
  request?: string | undefined;
}

/** Thrown when the time for an answer is over. */
export class AnswerTimeout extends NoAnswer {
  constructor(timeoutMs: number, { bytes, request }: Arrival = {}) {
    const missing =
      bytes === undefined ? 'no complete answer' : `${bytes} bytes of the body came, its end did not`;
    const cause = request === undefined ? '' : `: ${waitsForClient} ${request.slice(0, 80)}`;
    super(`${missing} within ${timeoutMs} ms${cause}`);
  }
}

const waitsForClient = 'the server waits for the client, to which it sent the request';

/** Returns the fix for an answer without an end, by the message of `AnswerTimeout` in a problem; undefined for other problems. */
export function fixForUnfinishedAnswer(actual: string): string | undefined {
  if (actual.includes(waitsForClient))
    return 'Send no request to a client that does not declare it in initialize: this client, as a marketplace, declares neither elicitation, sampling nor roots.';
  if (/^\d+ bytes of the body came, its end did not/.test(actual))
    return 'End the response: call res.end(), close the stream of its body, or send as many bytes as Content-Length says.';
  return undefined;
}

/** Thrown instead of sending a request, because earlier requests stayed unanswered. */
export class NotSent extends NoAnswer {}

/** The error of an answer that is too long. */
export function answerTooLong(): NoAnswer {
  return new NoAnswer(`the response is longer than ${maximumBytes} bytes`);
}

/** The error of a stream with too many events. */
export function tooManyEvents(): NoAnswer {
  return new NoAnswer(`the response has more than ${maximumEvents} events`);
}

export interface Received {
  readonly bytes: Buffer;
  /** Whether a stream of events stayed open after its JSON-RPC messages. */
  readonly open: boolean;
  /** The time of the last JSON-RPC message, by the clock of the run. */
  readonly endedAt: number;
}

/**
 * Reads an HTTP response to its end. After a JSON-RPC message, a stream of events is read for `streamLingerMs`, or for
 * `missingResponseMs` if further messages are expected.
 *
 * @param expectedMessages the number of JSON-RPC responses in a stream of events
 * @param arrival is updated with each chunk
 * @throws NoAnswer if it is too long or has too many events, or the error that ends the connection.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: each chunk passes all limits, in this order
export async function receive(
  incoming: IncomingMessage,
  isStream: boolean,
  expectedMessages: number,
  arrival: Arrival = {},
  clock = nowMs,
): Promise<Received> {
  const watch = isStream ? new ResponseWatch() : undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  let messages = 0;
  let answeredAt: number | undefined;
  let linger: NodeJS.Timeout | undefined;
  let open = false;
  const stopReading = () => {
    open = true;
    incoming.destroy();
  };
  try {
    for await (const chunk of incoming) {
      chunks.push(chunk);
      size += chunk.length;
      arrival.bytes = size;
      if (size > maximumBytes) throw answerTooLong();
      if (watch === undefined) continue;
      const eventCount = watch.count(chunk.toString('utf8'));
      arrival.request = watch.request;
      if (watch.isOverlong) throw tooManyEvents();
      if (eventCount === 0 || messages >= Math.max(expectedMessages, 1)) continue;
      messages += eventCount;
      answeredAt = clock();
      clearTimeout(linger);
      linger = setTimeout(stopReading, messages < expectedMessages ? missingResponseMs : streamLingerMs);
    }
  } catch (error) {
    if (!open) throw error;
  } finally {
    clearTimeout(linger);
  }
  return { bytes: Buffer.concat(chunks), open, endedAt: answeredAt ?? clock() };
}

/** Returns the decompressed body, or the unchanged body if Content-Encoding is wrong. */
export function decompressed(bytes: Buffer, coding: string | undefined): Buffer {
  if (coding === undefined) return bytes;
  try {
    const options = { maxOutputLength: maximumBytes };
    if (coding === 'br') return brotliDecompressSync(bytes, options);
    return unzipSync(bytes, options);
  } catch {
    return bytes;
  }
}
