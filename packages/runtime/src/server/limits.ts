// The limits on what callers can cause, and the shares of memory.

/** Limits on the memory and work that callers can cause. Sizes are in bytes, times in milliseconds. */
export interface Limits {
  /** Body of a request with a valid token. */
  readonly maxBodyBytes: number;
  /** Any other body, and the time to receive it. */
  readonly unpaidBodyBytes: number;
  readonly unpaidBodyMs: number;
  /** All memory that callers cause: bodies, arguments, responses of sources, results, and responses that are not read yet. */
  readonly maxMemoryBytes: number;
  /** Time without progress after which an answer is dropped. */
  readonly answerStallMs: number;
  /** Open event streams. */
  readonly maxStreams: number;
  /** Calls that run at once, in total and with one token; they have no effect on a host that isolates requests. */
  readonly maxCalls: number;
  readonly maxCallsPerToken: number;
}

/** The shares of `maxMemoryBytes`. No part can take from another. */
export const memoryShares = {
  /** Bodies of requests without a valid token. */
  unpaidBodies: 1 / 8,
  /** Other bodies. */
  paidBodies: 1 / 4,
  /** Responses that their callers have not read yet. */
  unread: 1 / 8,
  /** Arguments of calls, answers of sources, and results. */
  calls: 1 / 2,
} as const;

/**
 * Whether the host isolates requests, as workerd does. Such a host ends the work of a request with the request: no other request may wait
 * for this work, and its `finally` may never run. The host itself limits the number of requests.
 */
export function isolatesRequests(): boolean {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
