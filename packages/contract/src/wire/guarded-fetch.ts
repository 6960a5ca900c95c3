import { setMaxListeners } from 'node:events';
import { setTimeout as startTimer } from 'node:timers';
import { isEventStream, ResponseWatch } from './events.ts';
import type { SentRequest } from './http.ts';
import { type Arrival, answerTooLong, maximumBytes, tooManyEvents } from './receive.ts';
import type { Recorder } from './recording.ts';

export interface FetchGuards {
  /** See `Http.requireMaySend`. @throws NotRun, NotSent for a request that is not to be sent */
  admit(body: unknown): void;
  /** See `Http.countTimeout`. */
  countTimeout(timeoutMs: number, body: unknown, arrival: Arrival): Error;
  /** Called if a stream of events answers a POST and ends without a response. The SDK's client would wait until its own limit. */
  onStreamEndedEarly?(body: unknown, error: Error | undefined): void;
  /** Milliseconds until a POST counts as unanswered. A GET is a stream that stays open. */
  readonly timeoutMs: number;
  /** Ends every request, also a stream that stays open. */
  readonly signal?: AbortSignal | undefined;
  readonly record?: Recorder | undefined;
}

/** `fetch` for the SDK's client, with the limits of all requests of a probe: time and bytes. */
export function guardedFetch(guards: FetchGuards): typeof fetch {
  const { timeoutMs, signal, admit, countTimeout, onStreamEndedEarly, record } = guards;
  return async (input, init = {}) => {
    admit(init.body);
    const { method = 'GET' } = init;
    const url = new URL(String(input));
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = typeof init.body === 'string' ? { body: init.body } : {};
    const recording = startRecording(record, { method, url, headers, ...body });
    const limit = new AbortController();
    const stopListening = abortWith(limit, [init.signal, signal]);
    const arrival: Arrival = {};
    let timeoutError: Error | undefined;
    const timer = startTimer(() => {
      timeoutError = countTimeout(timeoutMs, init.body, arrival);
      limit.abort(timeoutError);
    }, timeoutMs);
    let lacksResponse = false;
    const onResponse = (): void => {
      clearTimeout(timer);
      lacksResponse = false;
    };
    const onEnd = (error?: Error): void => {
      recording.onEnd(error);
      if (lacksResponse) onStreamEndedEarly?.(init.body, error);
      onResponse();
      stopListening();
    };
    if (method === 'GET') onResponse();
    try {
      // The SDK's client must not reuse a connection that the server has closed.
      const sentHeaders = { ...headers, ...recording.headers, connection: 'close' };
      const response = await fetch(input, { ...init, headers: sentHeaders, signal: limit.signal });
      recording.onHead(response);
      const watch = isEventStream(response.headers.get('content-type')) ? new ResponseWatch() : undefined;
      lacksResponse = watch !== undefined && method === 'POST';
      if (!response.body) onEnd();
      arrival.bytes = 0;
      const onBytes = (bytes: Uint8Array): void => {
        arrival.bytes = (arrival.bytes ?? 0) + bytes.byteLength;
        recording.onBytes(bytes);
      };
      const onRequest = (request: string | undefined): void => {
        arrival.request = request;
      };
      const observer = { watch, onBytes, onRequest, onResponse, onEnd, signal: limit.signal };
      return new Response(response.body && guardBody(response.body, observer), response);
    } catch (error) {
      onEnd(timeoutError ?? (error as Error));
      throw timeoutError ?? error;
    }
  };
}

/** The record of one exchange. Does nothing if the requests are not recorded. */
interface ExchangeRecording {
  /** Headers that the recorder adds to the request. */
  readonly headers: Readonly<Record<string, string>>;
  onHead(response: Response): void;
  onBytes(bytes: Uint8Array): void;
  onEnd(error?: Error): void;
}

function startRecording(record: Recorder | undefined, request: SentRequest): ExchangeRecording {
  const recording = record?.(request);
  if (!recording) return { headers: {}, onHead() {}, onBytes() {}, onEnd() {} };
  const chunks: Uint8Array[] = [];
  let head = { status: 0, headers: {} };
  let onEnd = (_error?: Error): void => {};
  recording.follow(
    new Promise((resolve, reject) => {
      onEnd = (error) => (error ? reject(error) : resolve({ ...head, bytes: Buffer.concat(chunks) }));
    }),
  );
  return {
    headers: recording.headers,
    onHead({ status, headers }) {
      head = { status, headers: Object.fromEntries(headers) };
    },
    onBytes(bytes) {
      chunks.push(bytes);
    },
    onEnd,
  };
}

/** Aborts with the reason of the first signal that is aborted. Returns a function that removes the listeners. */
function abortWith(
  controller: AbortController,
  optionalSignals: readonly (AbortSignal | null | undefined)[],
): () => void {
  const signals = optionalSignals.filter((signal) => signal !== undefined && signal !== null);
  const abort = (): void => controller.abort(signals.find(({ aborted }) => aborted)?.reason);
  for (const signal of signals) {
    setMaxListeners(0, signal); // each running request listens to it
    signal.addEventListener('abort', abort, { once: true });
  }
  if (signals.some(({ aborted }) => aborted)) abort();
  return () => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  };
}

/** Observes the body of a response while it is read. */
interface BodyObserver {
  /** Counts the responses in a stream of events; absent for any other body. */
  readonly watch: ResponseWatch | undefined;
  onBytes(bytes: Uint8Array): void;
  /** Called with the method of a request that the server has sent to its client. */
  onRequest(method: string | undefined): void;
  /** Called once the body contains the responses. */
  onResponse(): void;
  /** Called at the end of the body. The first call has the error, if the body ended with one. */
  onEnd(error?: Error): void;
  /** Ends the body. */
  readonly signal: AbortSignal;
}

/** Passes a body on until it ends, is too long, or has too many events. */
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
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: each chunk passes all limits, in this order
    async pull(controller) {
      const { done: hasEnded, value } = await reader.read().catch((error) => {
        onEnd(error);
        throw error;
      });
      if (value) onBytes(value);
      bytes += value?.byteLength ?? 0;
      const responses = watch?.count(decoder.decode(value, { stream: true })) ?? 0;
      onRequest(watch?.request);
      if (responses > 0) onResponse();
      const isOverlong = bytes > maximumBytes || watch?.isOverlong === true;
      if (hasEnded || isOverlong) onEnd();
      if (signal.aborted) return;
      if (hasEnded) return controller.close();
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
