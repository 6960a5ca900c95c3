import { setMaxListeners } from 'node:events';
import { setTimeout as startTimer } from 'node:timers';
import { isEventStream, ResponseWatch } from './events.ts';
import { type Arrival, answerTooLong, maximumBytes, tooManyEvents } from './receive.ts';
import type { Recorder } from './recording.ts';

export interface FetchGuards {
  /** As in `Http`, with the body of the request. */
  admit(body: unknown): void;
  onLate(timeoutMs: number, body: unknown, arrival: Arrival): Error;
  /** Called if events answer a POST, and their stream ends without a response. The SDK's client would wait until its own limit. */
  onStreamEndedEarly?(body: unknown, error: Error | undefined): void;
  /** Milliseconds until a POST counts as unanswered. A GET is a stream that stays open. */
  readonly timeoutMs: number;
  /** Ends every request, also a stream that stays open. */
  readonly signal?: AbortSignal | undefined;
  readonly record?: Recorder | undefined;
}

/** `fetch` for the SDK's client, with the limits of all requests of a probe: time and bytes. */
export function guardedFetch({
  timeoutMs,
  signal,
  admit,
  onLate,
  onStreamEndedEarly,
  record,
}: FetchGuards): typeof fetch {
  return async (input, init = {}) => {
    admit(init.body);
    const { method = 'GET' } = init;
    const shownRequest = {
      method,
      url: new URL(String(input)),
      headers: Object.fromEntries(new Headers(init.headers)),
    };
    const recording = record?.(
      typeof init.body === 'string' ? { ...shownRequest, body: init.body } : shownRequest,
    );
    const chunks: Uint8Array[] = [];
    let head = { status: 0, headers: {} };
    let end = (_error: Error | undefined): void => {};
    recording?.follow(
      new Promise((resolve, reject) => {
        end = (error) => (error ? reject(error) : resolve({ ...head, bytes: Buffer.concat(chunks) }));
      }),
    );
    const limit = new AbortController();
    const abortSignals = [init.signal, signal].filter(
      (abortSignal) => abortSignal !== undefined && abortSignal !== null,
    );
    const stop = (): void => limit.abort(abortSignals.find(({ aborted }) => aborted)?.reason);
    for (const abortSignal of abortSignals) {
      setMaxListeners(0, abortSignal); // each running request listens to it
      abortSignal.addEventListener('abort', stop, { once: true });
    }
    if (abortSignals.some(({ aborted }) => aborted)) stop();
    const arrival: Arrival = {};
    let overdueError: Error | undefined;
    const overdue = startTimer(() => {
      overdueError = onLate(timeoutMs, init.body, arrival);
      limit.abort(overdueError);
    }, timeoutMs);
    let lacksResponse = false;
    const onResponse = (): void => {
      clearTimeout(overdue);
      lacksResponse = false;
    };
    const onEnd = (error?: Error): void => {
      end(error);
      if (lacksResponse) onStreamEndedEarly?.(init.body, error);
      onResponse();
      for (const abortSignal of abortSignals) abortSignal.removeEventListener('abort', stop);
    };
    if (method === 'GET') onResponse();
    try {
      const sentInit = {
        ...init,
        // A connection that the server has closed meanwhile cannot be used again.
        headers: { ...shownRequest.headers, ...recording?.headers, connection: 'close' },
        signal: limit.signal,
      };
      const { body, status, statusText, headers } = await fetch(input, sentInit);
      head = { status, headers: Object.fromEntries(headers) };
      const watch = isEventStream(headers.get('content-type')) ? new ResponseWatch() : undefined;
      lacksResponse = watch !== undefined && method === 'POST';
      if (!body) onEnd();
      arrival.bytes = 0;
      const onBytes = (bytes: Uint8Array): void => {
        arrival.bytes = (arrival.bytes ?? 0) + bytes.byteLength;
        if (recording) chunks.push(bytes);
      };
      const onRequest = (request: string | undefined): void => {
        arrival.request = request;
      };
      const stream =
        body && guardBody(body, { watch, onBytes, onRequest, onResponse, onEnd, signal: limit.signal });
      return new Response(stream, { status, statusText, headers });
    } catch (error) {
      onEnd(overdueError ?? (error as Error));
      throw overdueError ?? error;
    }
  };
}

interface BodyObserver {
  /** Of a stream of events. */
  readonly watch: ResponseWatch | undefined;
  onBytes(bytes: Uint8Array): void;
  /** Called with the method of a request that the server has sent to its client. */
  onRequest(method: string | undefined): void;
  /** Called once the body contains the responses. */
  onResponse(): void;
  /** Called at its end, first with the error that it ends with. */
  onEnd(error?: Error): void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Passes a body on until it is too long, or has too many events. */
function guardBody(
  body: ReadableStream<Uint8Array>,
  { watch, onBytes, onRequest, onResponse, onEnd, signal }: BodyObserver,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  return new ReadableStream({
    start(controller) {
      // `fetch` itself forgets its signal when the garbage collector has taken its request.
      signal.addEventListener('abort', () => {
        onEnd(watch && signal.reason?.name === 'AbortError' ? undefined : signal.reason);
        controller.error(signal.reason);
        void reader.cancel(signal.reason).catch(() => {});
      });
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        onEnd(error);
        throw error;
      });
      if (value) onBytes(value);
      bytes += value?.byteLength ?? 0;
      const responses = watch?.count(decoder.decode(value, { stream: true })) ?? 0;
      onRequest(watch?.request);
      if (responses > 0) onResponse();
      const isOverlong = bytes > maximumBytes || watch?.isOverlong === true;
      if (done || isOverlong) onEnd();
      if (signal.aborted) return;
      if (done) return controller.close();
      if (!isOverlong) return controller.enqueue(value);
      await reader.cancel();
      throw bytes > maximumBytes ? answerTooLong() : tooManyEvents();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}
