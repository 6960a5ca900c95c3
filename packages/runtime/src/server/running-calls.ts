// Aborts running calls when the server stops.

/** Aborts the running calls of a server when it stops. */
export class RunningCalls {
  readonly #aborts = new Set<() => void>();
  #areStopped = false;
  #abortedCount = 0;

  /** Whether no call may start any more. */
  get areStopped(): boolean {
    return this.#areStopped;
  }

  /** Number of calls that were aborted because the server stops. */
  get abortedCount(): number {
    return this.#abortedCount;
  }

  /** Calls `abort` when the server stops, at once if it has. The returned function unsubscribes. */
  readonly onStop = (abort: () => void): (() => void) => {
    if (this.#areStopped) this.#abort(abort);
    else this.#aborts.add(abort);
    return () => this.#aborts.delete(abort);
  };

  /** Aborts all calls, and those that begin later. */
  stop(): void {
    this.#areStopped = true;
    for (const abort of this.#aborts) this.#abort(abort);
  }

  #abort(abort: () => void): void {
    this.#abortedCount++;
    abort();
  }
}
