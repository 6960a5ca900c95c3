/**
 * Milliseconds that bound every request. Where the profile sets a limit, this is granted beyond it, so that lateness
 * can be measured.
 */
export const graceMs = 10_000;

/** Milliseconds in which what was sent is mostly read at the other end. */
export const momentMs = 50;

/** Milliseconds for which a server is awaited that does not confirm the headers of a request. */
export const confirmMs = 1_000;

/** Milliseconds for which a stream of events is read on after the last response that it was opened for. */
export const lingerMs = 250;

/** Milliseconds for which a stream of events is read on that still owes responses to a batch. */
export const owingMs = 2_000;

/** So many requests may stay unanswered; then no further one is sent. */
export const maximumUnanswered = 24;
