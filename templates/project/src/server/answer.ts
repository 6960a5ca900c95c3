import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';

/** What a request gets: a status, headers, and a text, a stream or nothing. */
export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Readable;
}

/** An answer whose body is a value as JSON. */
export function json(status: number, value: object, headers: OutgoingHttpHeaders = {}): Answer {
  return jsonText(status, JSON.stringify(value), headers);
}

/** An answer whose body is JSON already. */
export function jsonText(status: number, body: string, headers: OutgoingHttpHeaders = {}): Answer {
  const length = Buffer.byteLength(body);
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
    body,
  };
}

/** Sends an answer whole, or streams it until its source or its reader ends. */
export function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers);
  if (body instanceof Readable) pipeline(body, response, () => {});
  else response.end(body);
}
