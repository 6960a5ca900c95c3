import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './clock.ts';

/** The longest wait after one answer, in milliseconds. */
const longestWaitMs = 30_000;
/** All waits of a run together, in milliseconds. */
export const allWaitsMs = 120_000;
/** Milliseconds to wait after an answer without Retry-After, and after the next ones to the same request. */
const waitsMs = [1_000, 2_000, 4_000] as const;

/** Lets time pass. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>;

export const waitFor: Wait = (ms, signal) => sleep(ms, undefined, signal && { signal });

/** An answer with the status 429 (RFC 6585 §4). */
export interface LimitedAnswer {
  readonly headers: IncomingHttpHeaders;
  /** When its request was sent, by `nowMs()`. */
  readonly sentAt: number;
  /** How often the same request was refused before. */
  readonly attempt: number;
}

/** The limit that a server sets on the rate of requests. All requests of a run wait together. */
export class RateLimit {
  /** Ends with the current wait. */
  #wait: Promise<void> | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #plannedMs = 0;
  #waitedMs = 0;
  #isReached = false;

  /** Whether the server refused a request because of its limit. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /** The time of all waits so far, in milliseconds, by the clock of the run. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** When the last wait ended, by `nowMs()`: a token may be too old then. */
  get endedAt(): number {
    return this.#endedAt;
  }

  /** Resolves when no wait is running. */
  async untilNoWait(): Promise<void> {
    while (this.#wait) await this.#wait;
  }

  /**
   * Waits as long as an answer asks for, if the limits allow it.
   *
   * @param leftMs until the deadline of the run.
   * @param clock of the run.
   * @returns whether to send the request again.
   */
  async waitBeforeRetry(
    { headers, sentAt, attempt }: LimitedAnswer,
    wait: Wait,
    leftMs: number,
    clock: () => number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    this.#isReached = true;
    // A request that was sent before the last wait says nothing new.
    if (this.#wait || sentAt < this.#endedAt) {
      await this.untilNoWait();
      return true;
    }
    const ms = Math.min(retryAfterMs(headers['retry-after']) ?? waitsMs[attempt] ?? 0, longestWaitMs);
    if (ms === 0 || ms >= leftMs || this.#plannedMs + ms > allWaitsMs) return false;
    this.#plannedMs += ms;
    const startMs = clock();
    this.#wait = wait(ms, signal).finally(() => {
      this.#wait = undefined;
      this.#endedAt = nowMs();
      this.#waitedMs += clock() - startMs;
    });
    await this.#wait;
    return true;
  }
}

/** Milliseconds until the time that Retry-After names, in seconds or as a date (RFC 9110 §10.2.3); a second at least. */
export function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  if (Number.isNaN(ms)) return undefined;
  return Math.max(ms, 1_000);
}
