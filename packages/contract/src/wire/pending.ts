import { nowMs } from './clock.ts';
import type { Asked } from './http.ts';

/** The requests that may have ended a server: it answered neither them nor one that was sent after their failure. */
export class Pending {
  readonly #sent = new Map<Asked, { readonly at: number; failedAt: number }>();

  /** Follows the exchange of a request to its end. */
  async follow<T>(request: Asked, exchange: Promise<T>): Promise<T> {
    const ownRequest = { at: nowMs(), failedAt: Number.POSITIVE_INFINITY };
    this.#sent.set(request, ownRequest);
    try {
      const answer = await exchange;
      this.#sent.delete(request);
      for (const [otherRequest, { failedAt }] of this.#sent)
        if (failedAt < ownRequest.at) this.#sent.delete(otherRequest);
      return answer;
    } catch (error) {
      ownRequest.failedAt = nowMs();
      const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
      if (cause?.code === 'ECONNREFUSED') this.#sent.delete(request);
      throw error;
    }
  }

  /** The last one first. */
  get last(): readonly Asked[] {
    return [...this.#sent.keys()].toReversed();
  }
}
