import { setMaxListeners } from 'node:events';
import { setTimeout as startTimer } from 'node:timers';
import { isEventStream, ResponseWatch } from './events.ts';
import { type Arrival, answerTooLong, maximumBytes, tooManyEvents } from './receive.ts';
import type { Recorder } from './recording.ts';

export interface Guarded {
  /** As in `Http`, with the body of the request. */
  admit(body: unknown): void;
  onLate(timeoutMs: number, body: unknown, arrival: Arrival): Error;
  /** Called if events answer a POST, and their stream ends without a response. The SDK's client would wait until its own limit. */
  onLost?(body: unknown, error: Error | undefined): void;
  /** Milliseconds until a POST counts as unanswered. A GET is a stream that stays open. */
  readonly timeoutMs: number;
  /** Ends every request, also a stream that stays open. */
  readonly signal?: AbortSignal | undefined;
  readonly record?: Recorder | undefined;
}

/** `fetch` for the SDK's client, with the limits of all requests of a probe: time and bytes. */
export function guardedFetch({ timeoutMs, signal, admit, onLate, onLost, record }: Guarded): typeof fetch {
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
    const enders = [init.signal, signal].filter(
      (abortSignal) => abortSignal !== undefined && abortSignal !== null,
    );
    const stop = (): void => limit.abort(enders.find(({ aborted }) => aborted)?.reason);
    for (const abortSignal of enders) {
      setMaxListeners(0, abortSignal); // each running request listens to it
      abortSignal.addEventListener('abort', stop, { once: true });
    }
    if (enders.some(({ aborted }) => aborted)) stop();
    const arrival: Arrival = {};
    let overdueError: Error | undefined;
    const overdue = startTimer(() => {
      overdueError = onLate(timeoutMs, init.body, arrival);
      limit.abort(overdueError);
    }, timeoutMs);
    let lacksResponse = false;
    const answered = (): void => {
      clearTimeout(overdue);
      lacksResponse = false;
    };
    const settle = (error?: Error): void => {
      end(error);
      if (lacksResponse) onLost?.(init.body, error);
      answered();
      for (const abortSignal of enders) abortSignal.removeEventListener('abort', stop);
    };
    if (method === 'GET') answered();
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
      if (!body) settle();
      arrival.bytes = 0;
      const take = (bytes: Uint8Array): void => {
        arrival.bytes = (arrival.bytes ?? 0) + bytes.byteLength;
        if (recording) chunks.push(bytes);
      };
      const onRequest = (request: string | undefined): void => {
        arrival.request = request;
      };
      const stream =
        body && guarded(body, { watch, take, onRequest, answered, settle, signal: limit.signal });
      return new Response(stream, { status, statusText, headers });
    } catch (error) {
      settle(overdueError ?? (error as Error));
      throw overdueError ?? error;
    }
  };
}

interface Reading {
  /** Of a stream of events. */
  readonly watch: ResponseWatch | undefined;
  take(bytes: Uint8Array): void;
  /** Called with the method of a request that the server has sent to its client. */
  onRequest(method: string | undefined): void;
  /** Called once the body contains the responses. */
  answered(): void;
  /** Called at its end, first with the error that it ends with. */
  settle(error?: Error): void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Passes a body on until it is too long, or has too many events. */
function guarded(
  body: ReadableStream<Uint8Array>,
  { watch, take, onRequest, answered, settle, signal }: Reading,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  return new ReadableStream({
    start(controller) {
      // `fetch` itself forgets its signal when the garbage collector has taken its request.
      signal.addEventListener('abort', () => {
        settle(watch && signal.reason?.name === 'AbortError' ? undefined : signal.reason);
        controller.error(signal.reason);
        void reader.cancel(signal.reason).catch(() => {});
      });
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        settle(error);
        throw error;
      });
      if (value) take(value);
      bytes += value?.byteLength ?? 0;
      const responses = watch?.count(decoder.decode(value, { stream: true })) ?? 0;
      onRequest(watch?.request);
      if (responses > 0) answered();
      const isOverlong = bytes > maximumBytes || watch?.isOverlong === true;
      if (done || isOverlong) settle();
      if (signal.aborted) return;
      if (done) return controller.close();
      if (!isOverlong) return controller.enqueue(value);
      await reader.cancel();
      throw bytes > maximumBytes ? answerTooLong() : tooManyEvents();
    },
    async cancel(reason) {
      settle();
      await reader.cancel(reason);
    },
  });
}
