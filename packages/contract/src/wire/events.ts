import { isObject, jsonIn } from '../json/json.ts';
import type { Json } from '../json/value.ts';

/** Whether an answer of this Content-Type is a stream of server-sent events. */
export function isEventStream(contentType: string | null | undefined): boolean {
  return contentType?.startsWith('text/event-stream') === true;
}

/** The JSON values of an answer's text: its body, or the data of its server-sent events. */
export function valuesIn(text: string, contentType: string | null | undefined): readonly Json[] {
  return isEventStream(contentType) ? eventsOf(text).map(dataOf).flatMap(jsonIn) : jsonIn(text);
}

/** Counts the JSON-RPC responses in a stream of events as they arrive. */
export class ResponseWatch {
  #unfinished = '';

  /** The number of responses in the events that this chunk completes. */
  count(piece: string): number {
    this.#unfinished += piece;
    if (!piece.includes('\n')) return 0;
    const events = eventsOf(this.#unfinished);
    this.#unfinished = events.pop() ?? '';
    const values = events.map(dataOf).flatMap(jsonIn).flat();
    return values.filter((value) => isObject(value) && ('result' in value || 'error' in value)).length;
  }
}

/** The number of requests in a body, alone or in batches: as many responses are expected. */
export function requestsIn(body: string | Uint8Array | undefined): number {
  if (typeof body !== 'string' || !body.startsWith('[')) return 1;
  const messages = jsonIn(body).flat(2);
  return messages.filter((message) => isObject(message) && 'method' in message && 'id' in message).length;
}

function eventsOf(stream: string): string[] {
  return stream.split(/\r?\n\r?\n/);
}

/** The joined data lines of an event. */
function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
}
