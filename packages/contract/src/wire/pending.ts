import { now } from './clock.ts';
import type { Asked } from './http.ts';

/** The requests that may have ended a server: it answered neither them nor one that was sent after their failure. */
export class Pending {
  readonly #sent = new Map<Asked, { readonly at: number; failedAt: number }>();

  /** Follows the exchange of a request to its end. */
  async follow<T>(asked: Asked, exchange: Promise<T>): Promise<T> {
    const own = { at: now(), failedAt: Number.POSITIVE_INFINITY };
    this.#sent.set(asked, own);
    try {
      const answer = await exchange;
      this.#sent.delete(asked);
      for (const [other, { failedAt }] of this.#sent) if (failedAt < own.at) this.#sent.delete(other);
      return answer;
    } catch (error) {
      own.failedAt = now();
      const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
      if (cause?.code === 'ECONNREFUSED') this.#sent.delete(asked);
      throw error;
    }
  }

  /** The last one first. */
  get last(): readonly Asked[] {
    return [...this.#sent.keys()].toReversed();
  }
}
