/** Added to the profile's limit of a request (0 if it has none) to make its timeout, in milliseconds. */
export const graceMs = 10_000;

/** Milliseconds within which GET /health is answered: even on a busy machine an idle server needs less. */
export const healthMs = 5_000;

/** Milliseconds after which an idle connection is used no more: a server ends it after 5 s or more, perhaps just when a request arrives. */
export const idleMs = 2_000;

/** Milliseconds after which sent data has usually been read. */
export const settleMs = 50;

/** Milliseconds from the head of an answer to its end, unless it is a stream of events: a server that has sent the head usually has the whole answer ready. */
export const bodyMs = 15_000;

/** Milliseconds to wait for a server that does not confirm the headers of a request. */
export const confirmMs = 1_000;

/** Milliseconds for which a stream of events is read after its last expected response. */
export const streamLingerMs = 250;

/** Milliseconds for which a stream of events is read while responses to a batch are missing. */
export const missingResponseMs = 2_000;

/** The number of unanswered requests after which no further one is sent. */
export const maximumUnanswered = 24;
