import { isObject, parseJsonText } from '../json/json.ts';
import type { Json } from '../json/value.ts';

/** The maximum number of events in an answer; an answer with more counts as no answer. */
export const maximumEvents = 10_000;

const blankLine = /\r?\n\r?\n/;

/** Whether an answer of this Content-Type is a stream of server-sent events. */
export function isEventStream(contentType: string | null | undefined): boolean {
  return contentType?.startsWith('text/event-stream') === true;
}

/** The JSON values of an answer's text: its body, or the data of its first `maximumEvents` server-sent events. */
export function valuesIn(text: string, contentType: string | null | undefined): readonly Json[] {
  if (isEventStream(contentType)) return eventsOf(text).flatMap(eventValues);
  return parseJsonText(text);
}

/** Counts the JSON-RPC responses in a stream of events as they arrive. */
export class ResponseWatch {
  #unfinished = '';
  /** The end of what has come: an event ends only where a chunk completes a blank line. */
  #end = '';
  #events = 0;
  #request: string | undefined;

  /** The method of the first request that the server sent to its client, such as `elicitation/create`. */
  get request(): string | undefined {
    return this.#request;
  }

  /** Whether the stream has more events than allowed. Further events are not parsed. */
  get isOverlong(): boolean {
    return this.#events > maximumEvents;
  }

  /** The number of responses in the events that this chunk completes. */
  count(piece: string): number {
    const isEnded = blankLine.test(this.#end + piece);
    this.#unfinished += piece;
    this.#end = (this.#end + piece).slice(-3);
    if (!isEnded) return 0;
    const events = this.#unfinished.split(blankLine);
    this.#unfinished = events.pop() ?? '';
    this.#events += events.length;
    if (this.isOverlong) return 0;
    const messages = events.flatMap(eventValues).flat().filter(isObject);
    const request = messages.find(({ id, method }) => id !== undefined && typeof method === 'string');
    this.#request ??= request && String(request.method);
    return messages.filter((message) => 'result' in message || 'error' in message).length;
  }
}

/** The number of requests in a body, single or in batches: as many responses are expected. */
export function requestsIn(body: string | Uint8Array | undefined): number {
  if (typeof body !== 'string' || !body.startsWith('[')) return 1;
  const messages = parseJsonText(body).flat(2);
  return messages.filter((message) => isObject(message) && 'method' in message && 'id' in message).length;
}

function eventsOf(stream: string): string[] {
  return stream.split(blankLine, maximumEvents);
}

/** A list of the JSON value of an event. The list is empty if the data are not JSON. */
function eventValues(event: string): readonly Json[] {
  const data = joinEventData(event);
  // A parser throws for a blank text, which takes 10 µs.
  if (data.trim() === '') return [];
  return parseJsonText(data);
}

/** The joined data lines of an event. */
function joinEventData(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
}
