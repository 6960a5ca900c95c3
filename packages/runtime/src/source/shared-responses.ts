// Responses that several callers share: running requests and the cache (`cacheSeconds`).

import { LRUCache } from 'lru-cache';
import { sharedSourceState } from '../replicas.ts';
import { isolatesRequests } from '../server/limits.ts';
import type { SourceResponse } from './recordings.ts';
import { cancelledError } from './source-errors.ts';

/** Maximum length of a response that replicas share, as JSON. */
const maxShared = 100_000;

/** Sends a request, until the signal ends it. */
type Send = (signal: AbortSignal) => Promise<SourceResponse>;

/** Responses that several callers share: of a request that runs, and from the cache (`cacheSeconds`), which replicas share. */
export class SharedResponses {
  readonly #running = new Map<string, RunningRequest>();
  readonly #cache: LRUCache<string, SourceResponse> | null;
  readonly #cacheMs: number;

  /**
   * @param cacheMs how long a response is cached; 0 for not at all
   * @param maxCharacters maximum size of all cached responses together
   */
  constructor(cacheMs: number, maxCharacters = 20_000_000) {
    this.#cacheMs = cacheMs;
    this.#cache = cacheMs > 0 ? createCache(cacheMs, maxCharacters) : null;
  }

  /**
   * The response to a request: from the cache, from an equal request that runs, or from a new request. The request ends when its last
   * caller has disconnected.
   *
   * @param key equal for equal requests
   */
  get(key: string, signal: AbortSignal | undefined, send: Send): Promise<SourceResponse> {
    const cachedResponse = this.#cache?.get(key);
    if (cachedResponse !== undefined) return Promise.resolve(cachedResponse);
    const request = this.#running.get(key) ?? this.#start(key, send);
    return request.join(signal);
  }

  /** Removes a response from the cache, because it is a failure. */
  forget(key: string): void {
    this.#cache?.delete(key);
    if (this.#cache) void sharedSourceState()?.set(storeKey(key), '', 1);
  }

  #start(key: string, send: Send): RunningRequest {
    let ttl = this.#cacheMs;
    const findOrSend = async (signal: AbortSignal) => {
      const sharedResponse = await this.#readSharedCache(key);
      if (sharedResponse) {
        ttl = sharedResponse.remainingMs;
        return sharedResponse.response;
      }
      const response = await send(signal);
      this.#writeSharedCache(key, response);
      return response;
    };
    const isShared = this.#cache !== null && sharedSourceState() !== null;
    const request = new RunningRequest(isShared ? findOrSend : send, (response) => {
      if (this.#running.get(key) === request) this.#running.delete(key);
      if (response !== null) this.#cache?.set(key, response, { ttl });
    });
    if (!isolatesRequests()) this.#running.set(key, request);
    return request;
  }

  /** A response that another replica has cached, with its remaining time; undefined if there is none. */
  async #readSharedCache(
    key: string,
  ): Promise<{ readonly response: SourceResponse; readonly remainingMs: number } | undefined> {
    const text = await sharedSourceState()?.get(storeKey(key));
    if (!text || text.length > maxShared) return undefined;
    try {
      const { until, status, contentType = '', text: body, headers } = JSON.parse(text);
      const remainingMs = Math.min(until - Date.now(), this.#cacheMs);
      if (!(remainingMs > 0) || typeof status !== 'number' || typeof body !== 'string') return undefined;
      return { response: { status, contentType: String(contentType), text: body, headers }, remainingMs };
    } catch {
      return undefined; // another program wrote it
    }
  }

  #writeSharedCache(key: string, response: SourceResponse): void {
    const text = JSON.stringify({ ...response, memory: undefined, until: Date.now() + this.#cacheMs });
    if (text.length <= maxShared) void sharedSourceState()?.set(storeKey(key), text, this.#cacheMs);
  }
}

function createCache(cacheMs: number, maxCharacters: number): LRUCache<string, SourceResponse> {
  return new LRUCache({
    max: 1_000,
    maxSize: maxCharacters,
    sizeCalculation: ({ text }, key) => text.length + key.length,
    ttl: cacheMs,
    ttlResolution: 0, // a host may drop its timer, and responses would never expire
  });
}

function storeKey(key: string): string {
  return `answer ${key}`;
}

/** Sends a request that cannot be shared. */
export function sendForOneCaller(signal: AbortSignal | undefined, send: Send): Promise<SourceResponse> {
  return new RunningRequest(send, () => {}).join(signal);
}

/** A request and its waiting callers. */
class RunningRequest {
  /** Aborted when no caller waits any more. */
  readonly #callersGone = new AbortController();
  readonly #response: Promise<SourceResponse>;
  readonly #onEnd: (response: SourceResponse | null) => void;
  #callers = 0;

  /** @param onEnd receives the response, or null if the request failed */
  constructor(send: Send, onEnd: (response: SourceResponse | null) => void) {
    this.#onEnd = onEnd;
    this.#response = send(this.#callersGone.signal);
    this.#response.then(onEnd, () => onEnd(null));
  }

  /** Waits for the response as one more caller, until the signal says that it has left. @throws SourceError `CANCELLED` */
  join(signal: AbortSignal | undefined): Promise<SourceResponse> {
    if (signal?.aborted) {
      if (this.#callers === 0) this.#stop();
      return Promise.reject(cancelledError());
    }
    this.#callers += 1;
    if (!signal) return this.#response;
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(cancelledError());
        this.#callers -= 1;
        if (this.#callers === 0) this.#stop();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#response.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  /** Ends the request, and removes it, so that the next caller starts a new one. */
  #stop(): void {
    this.#onEnd(null);
    this.#callersGone.abort();
    this.#response.then(
      ({ memory }) => memory?.release(),
      () => {},
    );
  }
}
