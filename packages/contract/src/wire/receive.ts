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

/** What has come of an answer. */
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

/** What to do about an answer of which only the end is missing, if a problem got one. */
export function fixOfEnd(actual: string): string | undefined {
  if (actual.includes(waitsForClient))
    return 'Send no request to a client that does not declare it in initialize: this client, as a marketplace, declares neither elicitation, sampling nor roots.';
  if (/^\d+ bytes of the body came, its end did not/.test(actual))
    return 'End the response: call res.end(), close the stream of its body, or send as many bytes as Content-Length says.';
  return undefined;
}

/** Thrown in place of a request that would stay unanswered, as earlier ones did. */
export class NotSent extends NoAnswer {}

/** The error of an answer that is too long. */
export function answerTooLong(): NoAnswer {
  return new NoAnswer(`an answer of more than ${maximumBytes} bytes`);
}

/** The error of a stream with too many events. */
export function tooManyEvents(): NoAnswer {
  return new NoAnswer(`an answer of more than ${maximumEvents} events`);
}

export interface Received {
  readonly bytes: Buffer;
  /** Whether it is a stream of events that did not end with the response it was opened for. */
  readonly open: boolean;
  /** When all responses had arrived, by the clock. */
  readonly endedAt: number;
}

/**
 * Reads an answer to its end. A stream of events is read a little longer after the last expected response, and longer
 * if some are missing.
 *
 * @param due the number of expected responses.
 * @param arrival is kept up to date.
 * @throws NoAnswer if it is too long or has too many events, or the error that ends the connection.
 */
export async function receive(
  incoming: IncomingMessage,
  isStream: boolean,
  due: number,
  arrival: Arrival = {},
  clock = nowMs,
): Promise<Received> {
  const watch = isStream ? new ResponseWatch() : undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  let responses = 0;
  let answeredAt: number | undefined;
  let linger: NodeJS.Timeout | undefined;
  let open = false;
  const leave = () => {
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
      if (eventCount === 0 || responses >= Math.max(due, 1)) continue;
      responses += eventCount;
      answeredAt = clock();
      clearTimeout(linger);
      linger = setTimeout(leave, responses < due ? missingResponseMs : streamLingerMs);
    }
  } catch (error) {
    if (!open) throw error;
  } finally {
    clearTimeout(linger);
  }
  return { bytes: Buffer.concat(chunks), open, endedAt: answeredAt ?? clock() };
}

/** A body without its compression; as it came if it is not what Content-Encoding says. */
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
