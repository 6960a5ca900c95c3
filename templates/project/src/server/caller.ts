import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** What a method may know of the HTTP request that brought its message. A class, because V8 makes literals with a getter slowly. */
export class Caller {
  readonly headers: IncomingHttpHeaders;
  readonly #response: ServerResponse;

  constructor({ headers }: IncomingMessage, response: ServerResponse) {
    this.headers = headers;
    this.#response = response;
  }

  /** A signal that aborts when the caller is gone. Few calls last long enough to need one: it is made when it is asked for. */
  get signal(): AbortSignal {
    const gone = new AbortController();
    if (this.#response.destroyed) gone.abort();
    else this.#response.once('close', () => gone.abort());
    return gone.signal;
  }
}
