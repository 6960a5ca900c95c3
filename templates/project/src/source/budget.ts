import PQueue from 'p-queue';
import { rateLimited } from './errors.ts';

export interface BudgetOptions {
  /** Requests that run at the same time. */
  readonly concurrency: number;
  /** Requests that may start within any 60 seconds; no limit by default. */
  readonly perMinute?: number;
  /** How long a request may wait in the queue, in milliseconds. */
  readonly queueMs: number;
}

const minute = 60_000;

/** A queue of requests. One that would wait longer than `queueMs` fails at once. */
export class Budget {
  readonly #queue: PQueue;
  readonly #options: BudgetOptions;
  /** Start times of the latest requests, at most as many as a minute allows. */
  readonly #starts: number[] = [];

  constructor(options: BudgetOptions) {
    const { concurrency, perMinute } = options;
    this.#options = options;
    this.#queue = new PQueue({
      concurrency,
      ...(perMinute !== undefined && { interval: minute, intervalCap: perMinute, strict: true }),
    });
  }

  /**
   * Runs a request when its turn has come.
   *
   * @param signal ends the wait
   * @throws SourceError `RATE_LIMITED`
   */
  async run<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { queueMs } = this.#options;
    const waitMs = this.#waitMs();
    if (waitMs > queueMs) throw rateLimited(waitMs / 1000);
    const waiting = new AbortController();
    const stop = () => waiting.abort(signal.reason);
    const timer = setTimeout(() => waiting.abort(rateLimited(this.#waitMs() / 1000)), queueMs);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    try {
      return await this.#queue.add(
        () => {
          settle();
          this.#note();
          return request();
        },
        { signal: waiting.signal },
      );
    } finally {
      settle();
    }
  }

  /** How long the next request waits for the minute's budget, in milliseconds. */
  #waitMs(): number {
    const { perMinute } = this.#options;
    if (perMinute === undefined) return 0;
    // Each request before it replaces a start that has become older than a minute.
    const ahead = this.#queue.size;
    const free = perMinute - this.#recent();
    if (ahead < free) return 0;
    const rounds = Math.floor((ahead - free) / perMinute);
    const start = this.#starts[(ahead - free) % perMinute] ?? Date.now();
    return Math.max(0, start + minute * (rounds + 1) - Date.now());
  }

  #note(): void {
    const { perMinute } = this.#options;
    if (perMinute === undefined) return;
    this.#starts.push(Date.now());
    if (this.#starts.length > perMinute) this.#starts.shift();
  }

  /** Starts of the last minute; older ones are dropped. */
  #recent(): number {
    while (this.#starts[0] !== undefined && Date.now() - this.#starts[0] >= minute) this.#starts.shift();
    return this.#starts.length;
  }
}
