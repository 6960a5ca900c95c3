import { nowMs } from './clock.ts';
import type { SentRequest } from './http.ts';

/**
 * The requests that may have ended a server: unanswered requests without an answer to a later request. A later answer shows that the
 * server still runs.
 */
export class PendingRequests {
  readonly #sent = new Map<SentRequest, { readonly at: number; failedAt: number }>();

  /** Records a request until its exchange ends. */
  async follow<T>(request: SentRequest, exchange: Promise<T>): Promise<T> {
    const entry = { at: nowMs(), failedAt: Number.POSITIVE_INFINITY };
    this.#sent.set(request, entry);
    try {
      const answer = await exchange;
      this.#sent.delete(request);
      for (const [otherRequest, { failedAt }] of this.#sent)
        if (failedAt < entry.at) this.#sent.delete(otherRequest);
      return answer;
    } catch (error) {
      entry.failedAt = nowMs();
      const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
      if (cause?.code === 'ECONNREFUSED') this.#sent.delete(request);
      throw error;
    }
  }

  /** The latest request first. */
  get latestFirst(): readonly SentRequest[] {
    return [...this.#sent.keys()].toReversed();
  }
}
