import type { Json } from '../model.ts';
import { isObject } from '../schema.ts';

/** Whether an answer of this Content-Type is a stream of server-sent events. */
export function isEventStream(contentType: string | null | undefined): boolean {
  return contentType?.startsWith('text/event-stream') === true;
}

/** The JSON values of a text; none where it is not JSON. */
export function jsonIn(text: string): readonly Json[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

/** The JSON values in the data of each server-sent event. */
export function eventValues(stream: string): readonly Json[] {
  return eventsOf(stream).map(dataOf).flatMap(jsonIn);
}

/** Looks for a JSON-RPC response in a stream of events as it comes. */
export class ResponseWatch {
  #unfinished = '';

  /** Whether this piece of the stream finishes an event that holds a response. */
  sees(piece: string): boolean {
    this.#unfinished += piece;
    if (!piece.includes('\n')) return false;
    const events = eventsOf(this.#unfinished);
    this.#unfinished = events.pop() ?? '';
    return events
      .map(dataOf)
      .flatMap(jsonIn)
      .some((value) => isObject(value) && ('result' in value || 'error' in value));
  }
}

function eventsOf(stream: string): string[] {
  return stream.split(/\r?\n\r?\n/);
}

/** The lines of data of an event, joined. */
function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
}
