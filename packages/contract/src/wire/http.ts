import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Agent as PlainAgent,
  request as plainRequest,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as startTimer } from 'node:timers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Json } from '../json/value.ts';
import { nowMs, tenths } from './clock.ts';
import { Connections } from './connections.ts';
import { isEventStream, requestsIn, valuesIn } from './events.ts';
import { isReset, networkReason } from './network-error.ts';
import { afterDeadline, NotRun } from './not-run.ts';
import {
  AnswerTimeout,
  type Arrival,
  ConnectionReset,
  decompressed,
  NoAnswer,
  NotSent,
  receive,
} from './receive.ts';
import { bodyMs, confirmMs, maximumUnanswered, settleMs } from './timeouts.ts';

const chunkBytes = 64 * 1024;

/** One HTTP request. Each character of a header is one byte (ISO 8859-1), and a text body is UTF-8. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** The request target (RFC 9112 §3.2), sent unchanged; by default the path of the URL. */
  readonly target?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** A further header line, with the name of one in `headers`. */
  readonly repeatedHeader?: readonly [name: string, value: string];
  /** Sends the body in chunks, without Content-Length. */
  readonly chunked?: boolean;
  /** The version of HTTP; 1.1 by default. */
  readonly httpVersion?: '1.0';
  /** Sends the request over a new connection, which the server accepts after all earlier connections. */
  readonly newConnection?: boolean;
  /** Milliseconds until the exchange counts as unanswered. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Set for a request that a server may leave unanswered although it answers others. Its silence does not count for `SilenceLimit`. */
  readonly mayHang?: boolean;
  /**
   * Called when the server has confirmed the headers (`Expect: 100-continue`), or has had enough time
   * to read them. The body follows.
   */
  readonly onHeadersRead?: () => void;
}

/** The parts of a request that its answer keeps. The values of the caller's own headers are replaced by `$VALUE`. */
export type SentRequest = Pick<
  HttpRequest,
  'method' | 'url' | 'target' | 'headers' | 'repeatedHeader' | 'body' | 'chunked' | 'httpVersion'
>;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty for the answer to a GET that is a stream of events: it stays open, so only its headers are read. */
  readonly body: string;
  /** The bytes of the body, decompressed; absent if the body was not read. */
  readonly bytes?: Uint8Array;
  /** Whether the request was not sent, because earlier requests stayed unanswered. */
  readonly isUnsent?: boolean;
  /** The number of bytes that followed the body, beyond its declared length. */
  readonly surplus?: number;
  /** The request, without secrets, where it can be shown. */
  readonly request?: SentRequest;
  /**
   * The JSON values of the answer: its body, or the data of its server-sent events. Empty if there are none, or if
   * the body is not in UTF-8, as JSON must be (RFC 8259 §8.1).
   */
  readonly values: readonly Json[];
  /** Whether it is a stream of events that stayed open after the responses had arrived. */
  readonly open: boolean;
  /** Milliseconds from the first byte sent to the last byte received. */
  readonly ms: number;
}

export interface Http {
  /** @throws NoAnswer, and what `requireMaySend` throws. */
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  /** @throws NotRun after the deadline, NotSent after too many unanswered requests. */
  requireMaySend(): void;
  /** Counts a request without a complete answer in time. @returns the error to throw */
  countTimeout(timeoutMs: number, arrival?: Arrival): Error;
  close(): void;
}

/**
 * HTTP over connections that are kept alive, as a marketplace's are.
 *
 * @param deadlineAt the time, by `nowMs()`, after which nothing is sent or awaited: `NotRun` is thrown instead.
 * @param clock measures the answers.
 */
export function createHttp(deadlineAt = Number.POSITIVE_INFINITY, clock = nowMs): Http {
  const connections = new Connections();
  let unanswered = 0;
  const requireMaySend = (): void => {
    if (nowMs() >= deadlineAt) throw deadlinePassed();
    if (unanswered < maximumUnanswered) return;
    throw new NotSent(`not sent: the server left ${unanswered} earlier requests unanswered`);
  };
  const uncountedTimeoutError: Http['countTimeout'] = (timeoutMs, arrival) =>
    nowMs() >= deadlineAt ? deadlinePassed() : new AnswerTimeout(timeoutMs, arrival);
  const countTimeout: Http['countTimeout'] = (timeoutMs, arrival) => {
    const error = uncountedTimeoutError(timeoutMs, arrival);
    if (error instanceof AnswerTimeout) unanswered += 1;
    return error;
  };
  return {
    async exchange(request) {
      requireMaySend();
      const send = async (onNewConnection: boolean): Promise<HttpAnswer> => {
        await noticeClosedConnections();
        const limited = limitedRequest(request, deadlineAt - nowMs());
        const agent = !onNewConnection && connections.agentFor(request.url);
        return exchange(
          limited,
          agent,
          request.mayHang === true ? uncountedTimeoutError : countTimeout,
          clock,
        );
      };
      try {
        return await send(request.newConnection === true || request.httpVersion !== undefined);
      } catch (error) {
        const isStale = error instanceof ConnectionReset && error.isReused;
        if (!isStale || mayCall(request.body)) throw error;
        return send(true);
      }
    },
    requireMaySend,
    countTimeout,
    close() {
      connections.close();
    },
  };
}

/**
 * Lets Node notice connections that the server closed while the check computed. Node has read all connections when the second turn
 * begins.
 */
async function noticeClosedConnections(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

function limitedRequest(request: HttpRequest, leftMs: number): HttpRequest {
  if (leftMs < request.timeoutMs) return { ...request, timeoutMs: Math.max(1, Math.ceil(leftMs)) };
  return request;
}

/** The reason for a rule that was not run before the deadline of the run. */
export function deadlinePassed(): NotRun {
  return NotRun.because('deadline', afterDeadline);
}

async function exchange(
  request: HttpRequest,
  agent: PlainAgent | false,
  onTimeout: Http['countTimeout'],
  clock: () => number,
): Promise<HttpAnswer> {
  const limit = new AbortController();
  const arrival: Arrival = {};
  const timer = startTimer(() => limit.abort(onTimeout(request.timeoutMs, arrival)), request.timeoutMs);
  let bodyTimer: NodeJS.Timeout | undefined;
  const interrupt = (): void => limit.abort(new NoAnswer('interrupted'));
  request.signal?.addEventListener('abort', interrupt);
  try {
    const startMs = clock();
    const outgoing = openRequest(request, agent, limit.signal);
    let surplus = 0;
    outgoing.on('error', (error: ParseError) => {
      surplus = (error.rawPacket?.length ?? 0) - (error.bytesParsed ?? 0);
    });
    sendBody(outgoing, request).catch((error: Error) => outgoing.destroy(error));
    const incoming = await responseTo(outgoing);
    const { statusCode: status = 0, headers } = incoming;
    arrival.bytes = 0;
    const isStream = isEventStream(headers['content-type']);
    if (isStream && request.method === 'GET') {
      outgoing.destroy();
      return { status, headers, body: '', values: [], open: true, ms: tenths(clock() - startMs) };
    }
    if (!isStream) bodyTimer = startTimer(() => limit.abort(onTimeout(bodyMs, arrival)), bodyMs);
    const received = await receive(incoming, isStream, requestsIn(request.body), arrival, clock);
    // The unsent rest of a body that was refused early would precede the next request.
    if (!outgoing.writableFinished) outgoing.destroy();
    const bytes = decompressed(received.bytes, headers['content-encoding']);
    const body = bytes.toString('utf8');
    const values = isUtf8(bytes) ? valuesIn(body, headers['content-type']) : [];
    const ms = tenths(received.endedAt - startMs);
    const answer: HttpAnswer = { status, headers, body, bytes, values, open: received.open, ms };
    return surplus > 0 ? { ...answer, surplus } : answer;
  } catch (error) {
    if (limit.signal.aborted) throw limit.signal.reason;
    if (error instanceof NoAnswer) throw error;
    throw new NoAnswer(networkReason(error), { cause: error });
  } finally {
    clearTimeout(timer);
    clearTimeout(bodyTimer);
    request.signal?.removeEventListener('abort', interrupt);
  }
}

/** Opens a request without its body. */
function openRequest(request: HttpRequest, agent: PlainAgent | false, signal: AbortSignal): ClientRequest {
  const { method, url, body, chunked, target, httpVersion, repeatedHeader, onHeadersRead } = request;
  const headers: Record<string, string | number> = {};
  if (body !== undefined && !chunked) headers['content-length'] = Buffer.byteLength(body);
  if (onHeadersRead) headers.expect = '100-continue';
  const send = url.protocol === 'https:' ? secureRequest : plainRequest;
  const outgoing = send(url, {
    method,
    ...(target !== undefined && { path: target }),
    headers: { ...headers, ...request.headers },
    agent,
    setHost: request.headers.host === undefined,
    signal,
  });
  outgoing.on('socket', prepareSocket);
  if (httpVersion === '1.0') outgoing.on('socket', sendAsHttp10);
  if (repeatedHeader) outgoing.appendHeader(...repeatedHeader);
  return outgoing;
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
    await setTimeout(settleMs);
  }
  // Node writes headers that are sent together with a text in the encoding of that text.
  const bytes = body === undefined ? undefined : Buffer.from(body);
  if (!chunked || bytes === undefined) {
    outgoing.end(bytes);
    return;
  }
  for (let at = 0; at < bytes.length; at += chunkBytes) outgoing.write(bytes.subarray(at, at + chunkBytes));
  outgoing.end();
}

/** An error of Node's parser of HTTP. */
type ParseError = Error & { readonly rawPacket?: Uint8Array; readonly bytesParsed?: number };

/** Resolves to the head of the answer. An unrequested protocol upgrade closes the connection without an answer. */
function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let earlierBytes = 0;
    outgoing.once('socket', (socket: Socket) => {
      earlierBytes = socket.bytesRead;
    });
    outgoing.once('response', resolve).once('error', (error) => {
      const hasBegun = (outgoing.socket?.bytesRead ?? earlierBytes) > earlierBytes;
      reject(isReset(error) && !hasBegun ? new ConnectionReset(outgoing.reusedSocket, error) : error);
    });
    outgoing.once('close', () => reject(new NoAnswer('the connection ended without an answer')));
  });
}

/**
 * Makes a connection write headers byte for byte (Node sometimes names no encoding for them), and prevents its errors from
 * ending this process: a broken pipe may follow an early answer when the request is over and nothing else listens.
 */
function prepareSocket(socket: Socket): void {
  if (socket.listeners('error').includes(ignore)) return;
  socket.on('error', ignore);
  socket.setDefaultEncoding('latin1');
}

function ignore(): void {}

/** Changes the request line, which is written first: Node's client has only HTTP/1.1. */
function sendAsHttp10(socket: Socket): void {
  const write = socket.write.bind(socket) as (...data: unknown[]) => boolean;
  socket.write = (head: unknown, ...rest: unknown[]) => {
    socket.write = write;
    return write(String(head).replace(' HTTP/1.1\r\n', ' HTTP/1.0\r\n'), ...rest);
  };
}

/** Whether a body may run a tool, in whatever form it names the method. Such a request has the timeout of a call, and is not repeated. */
export function mayCall(body: string | Uint8Array | undefined): boolean {
  return body !== undefined && /tools.{1,6}call/i.test(Buffer.from(body).toString('latin1', 0, 20_000));
}
