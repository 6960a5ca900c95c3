/**
 * Milliseconds that bound every request. Where the profile sets a limit, this is granted beyond it, so that lateness
 * can be measured.
 */
export const patienceMs = 10_000;

/** Milliseconds in which what was sent is surely read at the other end. */
export const momentMs = 50;
