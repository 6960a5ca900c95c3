// Responses that several callers share: running requests and the cache (`cacheSeconds`).

import { LRUCache } from 'lru-cache';
import { sharedSourceState } from '../replicas.ts';
import { isolatesRequests } from '../server/limits.ts';
import type { SourceResponse } from './recordings.ts';
import { cancelled } from './source-errors.ts';

/** Maximum length of the text of a response that replicas share. */
const maxShared = 100_000;

/** Responses that several callers share: of a request that runs, and from the cache (`cacheSeconds`), which replicas share. */
export class SharedResponses {
  readonly #running = new Map<string, RunningRequest>();
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
   * The response to a request: from the cache, from an equal request that runs, or from a new request. The request ends when its last
   * caller has disconnected.
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

  /** Removes a response from the cache, because it is a failure. */
  forget(key: string): void {
    this.#cache?.delete(key);
    if (this.#cache) void sharedSourceState()?.set(storeKey(key), '', 1);
  }

  #start(key: string, request: (signal: AbortSignal) => Promise<SourceResponse>): RunningRequest {
    let ttl = this.#cacheMs;
    const ask = async (signal: AbortSignal) => {
      const cached = await this.#readSharedCache(key);
      if (cached) {
        ttl = cached.ms;
        return cached.reply;
      }
      const reply = await request(signal);
      this.#writeSharedCache(key, reply);
      return reply;
    };
    const isShared = this.#cache !== null && sharedSourceState() !== null;
    const flight = new RunningRequest(isShared ? ask : request, (reply) => {
      if (this.#running.get(key) === flight) this.#running.delete(key);
      if (reply !== null) this.#cache?.set(key, reply, { ttl });
    });
    if (!isolatesRequests()) this.#running.set(key, flight);
    return flight;
  }

  /** A response that another replica has cached, with its remaining time; undefined if there is none. */
  async #readSharedCache(
    key: string,
  ): Promise<{ readonly reply: SourceResponse; readonly ms: number } | undefined> {
    const text = await sharedSourceState()?.get(storeKey(key));
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

  #writeSharedCache(key: string, reply: SourceResponse): void {
    const text = JSON.stringify({ ...reply, memory: undefined, until: Date.now() + this.#cacheMs });
    if (text.length <= maxShared) void sharedSourceState()?.set(storeKey(key), text, this.#cacheMs);
  }
}

function storeKey(key: string): string {
  return `answer ${key}`;
}

/** Sends a request that cannot be shared. */
export function sendForOneCaller(
  signal: AbortSignal | undefined,
  request: (signal: AbortSignal) => Promise<SourceResponse>,
): Promise<SourceResponse> {
  return new RunningRequest(request, () => {}).join(signal);
}

/** A request and its waiting callers. */
class RunningRequest {
  readonly #ending = new AbortController();
  readonly #answer: Promise<SourceResponse>;
  readonly #onEnd: (reply: SourceResponse | null) => void;
  #callers = 0;

  /** @param onEnd receives the response, or null if the request failed */
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

  /** Ends the request, and removes it, so that the next caller starts a new one. */
  #stop(): void {
    this.#onEnd(null);
    this.#ending.abort();
    this.#answer.then(
      ({ memory }) => memory?.release(),
      () => {},
    );
  }
}
