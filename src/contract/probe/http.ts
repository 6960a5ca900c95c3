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
import type { Json } from '../model.ts';
import { momentMs } from './patience.ts';

/** The most of an answer that is read; a longer one counts as no answer. */
const maximumBytes = 8 * 1024 * 1024;
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
  /** Called once the headers have left; the body follows a moment later. */
  readonly onHeadersSent?: () => void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty for the answer to a GET that is a stream of events: it stays open, so only its headers are read. */
  readonly body: string;
  /** The JSON values of the answer: its body, or the data of its server-sent events. Empty where there are none. */
  readonly values: readonly Json[];
  /** Milliseconds from the first byte sent to the last byte received. */
  readonly ms: number;
}

/** Thrown where a request gets no HTTP answer; the message says what happened instead. */
export class NoAnswer extends Error {}

export interface Http {
  /** @throws NoAnswer */
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

/** HTTP over connections that are kept between requests, as a marketplace's are. */
export function createHttp(): Http {
  const options = { keepAlive: true, maxSockets: 32 };
  const plain = new PlainAgent(options);
  const secure = new SecureAgent(options);
  return {
    exchange: (request) => exchange(request, request.url.protocol === 'https:' ? secure : plain),
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

async function exchange(request: HttpRequest, agent: PlainAgent): Promise<HttpAnswer> {
  const { method, url, headers, body, chunked, timeoutMs, signal } = request;
  const started = performance.now();
  const limit = new AbortController();
  const overdue = startTimer(() => limit.abort(`no answer within ${timeoutMs} ms`), timeoutMs);
  const interrupt = (): void => limit.abort('interrupted');
  signal?.addEventListener('abort', interrupt);
  try {
    const send = url.protocol === 'https:' ? secureRequest : plainRequest;
    const length: Record<string, string | number> =
      body === undefined || chunked ? {} : { 'content-length': Buffer.byteLength(body) };
    const outgoing = send(url, {
      method,
      headers: { ...length, ...headers },
      agent,
      setHost: headers.host === undefined,
      signal: limit.signal,
    });
    outgoing.on('error', () => {}); // an early answer may be followed by a broken pipe
    sendBody(outgoing, request);
    const incoming: IncomingMessage = (await once(outgoing, 'response'))[0];
    const endless = method === 'GET' && isEventStream(incoming.headers['content-type']);
    const text = endless ? '' : await read(incoming);
    if (endless) outgoing.destroy();
    return {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      body: text,
      values: valuesOf(text, incoming.headers['content-type']),
      ms: performance.now() - started,
    };
  } catch (error) {
    throw new NoAnswer(limit.signal.aborted ? limit.signal.reason : reasonOf(error), { cause: error });
  } finally {
    clearTimeout(overdue);
    signal?.removeEventListener('abort', interrupt);
  }
}

async function sendBody(
  outgoing: ClientRequest,
  { body, chunked, onHeadersSent }: HttpRequest,
): Promise<void> {
  if (onHeadersSent) {
    outgoing.flushHeaders();
    await setTimeout(momentMs);
    onHeadersSent();
    await setTimeout(momentMs);
  }
  if (chunked) {
    const bytes = Buffer.from(body ?? '');
    for (let at = 0; at < bytes.length; at += chunkBytes) outgoing.write(bytes.subarray(at, at + chunkBytes));
  }
  outgoing.end(chunked ? undefined : body);
}

async function read(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maximumBytes) throw new NoAnswer(`an answer of more than ${maximumBytes} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return error instanceof NoAnswer ? message : (code ?? message);
}

function valuesOf(body: string, contentType = ''): readonly Json[] {
  const texts = isEventStream(contentType) ? eventData(body) : [body];
  return texts.flatMap((text) => {
    try {
      return [JSON.parse(text) as Json];
    } catch {
      return [];
    }
  });
}

function isEventStream(contentType = ''): boolean {
  return contentType.startsWith('text/event-stream');
}

/** The data of each server-sent event, its lines joined. */
function eventData(stream: string): readonly string[] {
  return stream
    .split(/\r?\n\r?\n/)
    .map((event) =>
      event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart())
        .join('\n'),
    )
    .filter((data) => data !== '');
}
