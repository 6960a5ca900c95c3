import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { setTimeout as startTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { now } from '../clock.ts';
import type { Json } from '../model.ts';
import { eventValues, isEventStream, jsonIn, requestsIn } from './events.ts';
import { confirmMs, maximumUnanswered, momentMs } from './patience.ts';
import { LateAnswer, NoAnswer, receive } from './receive.ts';

const chunkBytes = 64 * 1024;

/** One HTTP request, sent exactly as it stands here. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Sends the body in chunks, without Content-Length. */
  readonly chunked?: boolean;
  /** Milliseconds until the exchange counts as unanswered. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called once the server has the headers, which it is asked to confirm (`Expect: 100-continue`), or has had ample time
   * to read them; the body follows a moment later.
   */
  readonly onHeadersRead?: () => void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty for the answer to a GET that is a stream of events: it stays open, so only its headers are read. */
  readonly body: string;
  /**
   * The JSON values of the answer: its body, or the data of its server-sent events. Empty where there are none, and where
   * the body is not in UTF-8, as JSON must be (RFC 8259 §8.1).
   */
  readonly values: readonly Json[];
  /** Whether it is a stream of events that stayed open after what was asked for had come. */
  readonly open: boolean;
  /** Milliseconds from the first byte sent to the last byte received. */
  readonly ms: number;
}

export interface Http {
  /** @throws NoAnswer, also where `admit` throws it. */
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  /** @throws NoAnswer once so many requests have stayed unanswered that no further one is sent. */
  admit(): void;
  /** Counts a request that was sent otherwise and stays unanswered. */
  onLate(): void;
  close(): void;
}

/** HTTP over connections that are kept between requests, as a marketplace's are. */
export function createHttp(): Http {
  const options = { keepAlive: true, maxSockets: 32 };
  const plain = new PlainAgent(options);
  const secure = new SecureAgent(options);
  let unanswered = 0;
  const admit = (): void => {
    if (unanswered < maximumUnanswered) return;
    throw new NoAnswer(`not asked: ${unanswered} requests before this one were not answered`);
  };
  const onLate = (): void => {
    unanswered += 1;
  };
  return {
    async exchange(request) {
      admit();
      try {
        return await exchange(request, request.url.protocol === 'https:' ? secure : plain);
      } catch (error) {
        if (error instanceof LateAnswer) onLate();
        throw error;
      }
    },
    admit,
    onLate,
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

async function exchange(request: HttpRequest, agent: PlainAgent): Promise<HttpAnswer> {
  const { method, url, body, chunked, timeoutMs, signal } = request;
  const started = now();
  const limit = new AbortController();
  const overdue = startTimer(
    () => limit.abort(new LateAnswer(`no whole answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const interrupt = (): void => limit.abort(new NoAnswer('interrupted'));
  signal?.addEventListener('abort', interrupt);
  try {
    const send = url.protocol === 'https:' ? secureRequest : plainRequest;
    const length: Record<string, string | number> =
      body === undefined || chunked ? {} : { 'content-length': Buffer.byteLength(body) };
    const outgoing = send(url, {
      method,
      headers: {
        ...length,
        ...(request.onHeadersRead && { expect: '100-continue' }),
        ...request.headers,
      },
      agent,
      setHost: request.headers.host === undefined,
      signal: limit.signal,
    });
    outgoing.on('error', () => {}); // an early answer may be followed by a broken pipe
    sendBody(outgoing, request);
    const incoming: IncomingMessage = (await once(outgoing, 'response'))[0];
    const { statusCode = 0, headers } = incoming;
    const events = isEventStream(headers['content-type']);
    if (events && method === 'GET') {
      outgoing.destroy();
      return {
        status: statusCode,
        headers,
        body: '',
        values: [],
        open: true,
        ms: now() - started,
      };
    }
    const { bytes, open, endedAt } = await receive(incoming, events, requestsIn(body));
    const text = bytes.toString('utf8');
    const values = !isUtf8(bytes) ? [] : events ? eventValues(text) : jsonIn(text);
    return { status: statusCode, headers, body: text, values, open, ms: endedAt - started };
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : new NoAnswer(reasonOf(error), { cause: error });
  } finally {
    clearTimeout(overdue);
    signal?.removeEventListener('abort', interrupt);
  }
}

async function sendBody(
  outgoing: ClientRequest,
  { body, chunked, onHeadersRead }: HttpRequest,
): Promise<void> {
  if (onHeadersRead) {
    const confirmed = once(outgoing, 'continue').catch(() => {});
    outgoing.flushHeaders();
    await Promise.race([confirmed, setTimeout(confirmMs, undefined, { ref: false })]);
    onHeadersRead();
    await setTimeout(momentMs);
  }
  if (chunked) {
    const bytes = Buffer.from(body ?? '');
    for (let at = 0; at < bytes.length; at += chunkBytes) outgoing.write(bytes.subarray(at, at + chunkBytes));
  }
  outgoing.end(chunked ? undefined : body);
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return error instanceof NoAnswer ? message : (code ?? message);
}
