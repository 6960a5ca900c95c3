// The maximum number of requests to a source, at once and per minute.

import { randomUUID } from 'node:crypto';
import PQueue from 'p-queue';
import { sharedSourceState } from '../replicas.ts';
import { isolatesRequests } from '../server/limits.ts';
import { provideGauge } from '../server/log.ts';
import { rateLimitedError } from './source-errors.ts';

export interface BudgetOptions {
  /** Requests that run at the same time. */
  readonly concurrency: number;
  /** Requests that the source may receive within any 60 seconds; no limit by default. */
  readonly perMinute?: number | undefined;
  /** How long a request may wait in the queue, in milliseconds. */
  readonly queueMs: number;
  /** The source, for which all replicas together have one budget if they share a store. */
  readonly source?: string;
}

/** How long a request counts after its end: a minute, and a second for differing clocks and aborted requests. */
const windowMs = 61_000;
/** How much longer a request counts if its replica ends before it reports the end of the request. */
const lostMs = 60_000;

/**
 * Limits the requests to an API: at once (`concurrency`) and per minute (`perMinute`). A request that would wait longer than `queueMs` for
 * the budget of the minute fails at once. A request that waits for a free place fails after `queueMs`.
 *
 * A request counts from its start until a minute after its end, because the source receives it at an unknown time between the two. So the
 * source never receives more than `perMinute` in any minute. With a shared store, the limit holds for all replicas together while the store
 * answers; otherwise, it holds for this replica.
 */
export class Budget {
  readonly #queue: PQueue;
  readonly #perMinute: number;
  readonly #queueMs: number;
  readonly #source: string;
  #waiting = 0;
  #running = 0;
  /** The times at which the requests that still count ended, in order. */
  readonly #ends: number[] = [];

  constructor({ concurrency, perMinute = Number.POSITIVE_INFINITY, queueMs, source = '' }: BudgetOptions) {
    this.#queue = new PQueue({ concurrency });
    this.#perMinute = perMinute;
    this.#queueMs = queueMs;
    this.#source = source;
    if (perMinute === Number.POSITIVE_INFINITY || !URL.canParse(source)) return;
    const labels = { server_address: new URL(source).host };
    provideGauge('budgetRemaining', () => ({ value: Math.max(0, this.#freeCount()), labels }), source);
  }

  /**
   * Runs a request when its turn has come.
   *
   * @param signal ends the wait
   * @throws SourceError `RATE_LIMITED`
   */
  async run<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (isolatesRequests()) return this.#runAlone(request, signal);
    const waitMs = this.#waitMs();
    if (waitMs > this.#queueMs) throw rateLimitedError(waitMs / 1000);
    const waitAbort = new AbortController();
    const stop = () => waitAbort.abort(signal.reason);
    const timer = setTimeout(() => waitAbort.abort(rateLimitedError(this.#waitMs() / 1000)), this.#queueMs);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    this.#waiting += 1;
    let isWaiting = true;
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      if (isWaiting) this.#waiting -= 1;
      isWaiting = false;
    };
    try {
      return await this.#queue.add(
        async () => {
          while (this.#freeCount() <= 0)
            await pause((this.#ends[0] ?? budgetClockMs()) + windowMs - budgetClockMs(), waitAbort.signal);
          const leave = await this.#takeReplicaPlace(waitAbort.signal);
          settle();
          return this.#runCounted(request).finally(leave);
        },
        { signal: waitAbort.signal },
      );
    } finally {
      settle();
    }
  }

  /** Without the queue, where requests are isolated: a request counts from its start, because its end may never come. */
  async #runAlone<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const lateAt = budgetClockMs() + this.#queueMs;
    while (this.#freeCount() <= 0) {
      const until = (this.#ends[0] ?? budgetClockMs()) + windowMs;
      if (until > lateAt) throw rateLimitedError((until - budgetClockMs()) / 1000);
      await pause(until - budgetClockMs(), signal);
    }
    if (this.#perMinute !== Number.POSITIVE_INFINITY) this.#ends.push(budgetClockMs());
    return request();
  }

  /** Waits for one of the places of all replicas. Returns a function that keeps it until the request no longer counts. */
  async #takeReplicaPlace(signal: AbortSignal): Promise<() => void> {
    const replicas = this.#perMinute === Number.POSITIVE_INFINITY ? null : sharedSourceState();
    if (!replicas) return () => {};
    const place = randomUUID();
    const take = (ms: number) => replicas.take(`budget ${this.#source}`, place, this.#perMinute, ms);
    for (;;) {
      const waitMs = await take(windowMs + lostMs);
      if (waitMs <= 0) return () => void take(windowMs);
      if (waitMs > this.#queueMs) throw rateLimitedError(waitMs / 1000);
      await pause(waitMs, signal);
    }
  }

  async #runCounted<T>(request: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await request();
    } finally {
      this.#running -= 1;
      if (this.#perMinute !== Number.POSITIVE_INFINITY) this.#ends.push(budgetClockMs());
    }
  }

  /** Requests that may start now. */
  #freeCount(): number {
    while (this.#ends[0] !== undefined && budgetClockMs() - this.#ends[0] >= windowMs) this.#ends.shift();
    return this.#perMinute - this.#running - this.#ends.length;
  }

  /** How long the next request waits for the minute's budget, in milliseconds. A lower bound while requests run: their ends are unknown. */
  #waitMs(): number {
    const missing = this.#waiting - this.#freeCount();
    if (missing < 0) return 0;
    // Each waiting request replaces one that ended, in order.
    const rounds = Math.floor(missing / this.#perMinute);
    const end = this.#ends[missing % this.#perMinute] ?? budgetClockMs();
    return end + windowMs * (rounds + 1) - budgetClockMs();
  }
}

function budgetClockMs(): number {
  return performance.now();
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal.addEventListener('abort', end);
  });
}
