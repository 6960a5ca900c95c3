import { now } from './clock.ts';
import type { Asked } from './http.ts';

interface Sent {
  readonly asked: Asked;
  readonly at: number;
  failedAt: number;
}

/** The requests that may have ended a server: it answered neither them nor one that was sent after their failure. */
export class Pending {
  readonly #sent = new Set<Sent>();

  /** Follows the exchange of a request to its end. */
  async follow<T>(asked: Asked, exchange: Promise<T>): Promise<T> {
    const one: Sent = { asked, at: now(), failedAt: Number.POSITIVE_INFINITY };
    this.#sent.add(one);
    try {
      const answer = await exchange;
      for (const other of this.#sent) if (other === one || other.failedAt < one.at) this.#sent.delete(other);
      return answer;
    } catch (error) {
      one.failedAt = now();
      const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
      if (cause?.code === 'ECONNREFUSED') this.#sent.delete(one);
      throw error;
    }
  }

  /** The last one first. */
  get last(): readonly Asked[] {
    return [...this.#sent].map(({ asked }) => asked).toReversed();
  }
}
