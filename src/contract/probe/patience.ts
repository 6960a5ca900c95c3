/**
 * Milliseconds that bound every request. Where the profile sets a limit, this is granted beyond it, so that lateness
 * can be measured.
 */
export const patienceMs = 10_000;
