import { parsed } from './mcp-result.ts';

/** A longer event is an answer, not a request. */
const longestRequest = 100_000;
/** A server that asks more while it answers one call gets no further answers: each costs a request. */
const mostRequests = 20;

/** The text of an event of a stream. */
export function eventData(event: string): string {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length).trimStart()).join('\n');
}

/** The events in a text, of which the last may be incomplete. */
export function eventsIn(text: string): readonly string[] {
  return text.split(/\r?\n\r?\n/);
}

/**
 * Finds requests of a server in an event stream while it arrives: a server that waits for their answers would never answer the call.
 *
 * @param answer receives the answer to each: `ping` succeeds, no other method exists here (JSON-RPC 2.0 §5.1)
 */
export function requestFinder(answer: (message: object) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let open = '';
  /** The end of `open`: an event ends only where a chunk completes a blank line. */
  let end = '';
  let answered = 0;
  return (chunk) => {
    const text = decoder.decode(chunk, { stream: true });
    const isEnded = /\r?\n\r?\n/.test(end + text);
    open += text;
    end = (end + text).slice(-3);
    if (open.length > longestRequest && !isEnded) open = end;
    if (!isEnded) return;
    const events = eventsIn(open);
    open = events.at(-1) ?? '';
    for (const event of events.slice(0, -1)) {
      if (answered >= mostRequests || event.length > longestRequest) continue;
      const message = parsed<{ readonly method?: unknown; readonly id?: unknown }>(eventData(event));
      const { method, id } = message ?? {};
      if (typeof method !== 'string' || (typeof id !== 'string' && typeof id !== 'number')) continue;
      answered += 1;
      const error = { code: -32601, message: 'Method not found' };
      answer(method === 'ping' ? { id, result: {} } : { id, error });
    }
  };
}
