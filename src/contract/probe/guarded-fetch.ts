import { setTimeout as startTimer } from 'node:timers';
import { isEventStream, ResponseWatch } from './events.ts';
import { answerTooLong, maximumBytes } from './receive.ts';

export interface Guarded {
  /** Milliseconds until a POST counts as unanswered. A GET is a stream that stays open. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Throws if no further request may be sent. */
  admit(): void;
  /** Called for each request that stays unanswered for so many milliseconds; the returned error is thrown. */
  onLate(timeoutMs: number): Error;
}

/** `fetch` for the SDK's client, with the limits of all requests of a probe: time and bytes. */
export function guardedFetch({ timeoutMs, admit, onLate }: Guarded): typeof fetch {
  return async (input, init = {}) => {
    admit();
    const limit = new AbortController();
    const stop = (): void => limit.abort(init.signal?.reason);
    init.signal?.addEventListener('abort', stop, { once: true });
    let late: Error | undefined;
    const overdue = startTimer(() => {
      late = onLate(timeoutMs);
      limit.abort(late);
    }, timeoutMs);
    const settle = (): void => {
      clearTimeout(overdue);
      init.signal?.removeEventListener('abort', stop);
    };
    if (init.method === 'GET') clearTimeout(overdue);
    try {
      const { body, status, statusText, headers } = await fetch(input, { ...init, signal: limit.signal });
      const watch = isEventStream(headers.get('content-type')) ? new ResponseWatch() : undefined;
      if (!body) settle();
      return new Response(body && guarded(body, watch, settle), { status, statusText, headers });
    } catch (error) {
      settle();
      throw late ?? error;
    }
  };
}

/** Passes a body on until it is too long. `settle` is called at its end, or once it contains the responses. */
function guarded(
  body: ReadableStream<Uint8Array>,
  watch: ResponseWatch | undefined,
  settle: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        settle();
        throw error;
      });
      bytes += value?.byteLength ?? 0;
      const responses = watch?.count(decoder.decode(value, { stream: true })) ?? 0;
      if (done || bytes > maximumBytes || responses > 0) settle();
      if (done) return controller.close();
      if (bytes <= maximumBytes) return controller.enqueue(value);
      await reader.cancel();
      throw answerTooLong();
    },
    async cancel(reason) {
      settle();
      await reader.cancel(reason);
    },
  });
}
