import { LRUCache } from 'lru-cache';
import { sharedBySources } from '../replicas.ts';
import { isolatesRequests } from '../server/limits.ts';
import { SourceError } from './errors.ts';
import type { SourceResponse } from './recordings.ts';

/** Answers that replicas share are at most this long, with their expiry. */
const maxShared = 100_000;

/** Answers that several callers share: while a request runs, and for some time afterwards, then also with other replicas. */
export class SharedAnswers {
  readonly #running = new Map<string, Flight>();
  readonly #cache: LRUCache<string, SourceResponse> | null;
  readonly #cacheMs: number;

  /**
   * @param cacheMs how long an answer is cached; 0 for not at all
   * @param maxCharacters maximum size of all cached answers together
   */
  constructor(cacheMs: number, maxCharacters = 20_000_000) {
    this.#cacheMs = cacheMs;
    this.#cache =
      cacheMs > 0
        ? new LRUCache({
            max: 1_000,
            maxSize: maxCharacters,
            sizeCalculation: ({ text }, key) => text.length + key.length,
            ttl: cacheMs,
            ttlResolution: 0, // a host may drop its timer, and answers would never expire
          })
        : null;
  }

  /**
   * The answer to a request: from a new one, from an equal one that is running, or from the cache. The request ends when the last of its
   * callers is gone; a caller that leaves does not disturb the others.
   *
   * @param key equal for equal requests
   */
  get(
    key: string,
    signal: AbortSignal | undefined,
    request: (signal: AbortSignal) => Promise<SourceResponse>,
  ): Promise<SourceResponse> {
    const cached = this.#cache?.get(key);
    if (cached !== undefined) return Promise.resolve(cached);
    const running = this.#running.get(key) ?? this.#start(key, request);
    return running.join(signal);
  }

  /** Removes an answer that turned out to be an error. */
  forget(key: string): void {
    this.#cache?.delete(key);
    if (this.#cache) void sharedBySources()?.set(storeKey(key), '', 1);
  }

  #start(key: string, request: (signal: AbortSignal) => Promise<SourceResponse>): Flight {
    let ttl = this.#cacheMs;
    const ask = async (signal: AbortSignal) => {
      const cached = await this.#kept(key);
      if (cached) {
        ttl = cached.ms;
        return cached.reply;
      }
      const reply = await request(signal);
      this.#keep(key, reply);
      return reply;
    };
    const isShared = this.#cache !== null && sharedBySources() !== null;
    const flight = new Flight(isShared ? ask : request, (reply) => {
      if (this.#running.get(key) === flight) this.#running.delete(key);
      if (reply !== null) this.#cache?.set(key, reply, { ttl });
    });
    if (!isolatesRequests()) this.#running.set(key, flight);
    return flight;
  }

  /** An answer that another replica has cached, and how long it may stay so; undefined if there is none. */
  async #kept(key: string): Promise<{ readonly reply: SourceResponse; readonly ms: number } | undefined> {
    const text = await sharedBySources()?.get(storeKey(key));
    if (!text || text.length > maxShared) return undefined;
    try {
      const { until, status, contentType = '', text: answer, headers } = JSON.parse(text);
      const ms = Math.min(until - Date.now(), this.#cacheMs);
      if (!(ms > 0) || typeof status !== 'number' || typeof answer !== 'string') return undefined;
      return { reply: { status, contentType: String(contentType), text: answer, headers }, ms };
    } catch {
      return undefined; // somebody else wrote it
    }
  }

  #keep(key: string, reply: SourceResponse): void {
    const text = JSON.stringify({ ...reply, held: undefined, until: Date.now() + this.#cacheMs });
    if (text.length <= maxShared) void sharedBySources()?.set(storeKey(key), text, this.#cacheMs);
  }
}

function storeKey(key: string): string {
  return `answer ${key}`;
}

/** A request that has one caller. */
export function unshared(
  signal: AbortSignal | undefined,
  request: (signal: AbortSignal) => Promise<SourceResponse>,
): Promise<SourceResponse> {
  return new Flight(request, () => {}).join(signal);
}

/** A request and its waiting callers. */
class Flight {
  readonly #ending = new AbortController();
  readonly #answer: Promise<SourceResponse>;
  readonly #onEnd: (reply: SourceResponse | null) => void;
  #callers = 0;

  /** @param onEnd gets the answer, or null if there is none */
  constructor(
    request: (signal: AbortSignal) => Promise<SourceResponse>,
    onEnd: (reply: SourceResponse | null) => void,
  ) {
    this.#onEnd = onEnd;
    this.#answer = request(this.#ending.signal);
    this.#answer.then(onEnd, () => onEnd(null));
  }

  join(signal: AbortSignal | undefined): Promise<SourceResponse> {
    if (signal?.aborted) {
      if (this.#callers === 0) this.#stop();
      return Promise.reject(cancelled());
    }
    this.#callers += 1;
    if (!signal) return this.#answer;
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(cancelled());
        this.#callers -= 1;
        if (this.#callers === 0) this.#stop();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  /** A call that arrives now starts a new request. */
  #stop(): void {
    this.#onEnd(null);
    this.#ending.abort();
    this.#answer.then(
      ({ held }) => held?.release(),
      () => {},
    );
  }
}

function cancelled(): SourceError {
  return new SourceError('CANCELLED', 'The caller disconnected.');
}
