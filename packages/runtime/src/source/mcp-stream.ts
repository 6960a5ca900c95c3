import { SourceError } from './errors.ts';
import { literally, type Message } from './mcp-message.ts';
import { parsed } from './mcp-result.ts';

/** A longer event is an answer, not a request. It is parsed at the end, when the memory for the whole stream is taken. */
const longestRequest = 100_000;
/** A server that asks more while it answers one call gets no further answers: each costs a request. */
const maxRequests = 20;
/** An answer with more events fails. */
const maxEvents = 10_000;
/** Characters that are parsed in one turn of the event loop, as of the body of a request with a token. */
const charactersPerTurn = 65_536;
/** A text that is no JSON costs an exception, which takes as long as parsing so many characters. */
const charactersOfError = 512;

const blankLine = /\r?\n\r?\n/;

/** Resolves when the next turn begins. */
export type Turn = () => Promise<void>;

/**
 * Reads an event stream while it arrives, and parses each event once. Requests of the server are answered at once, because a server
 * that waits for their answers would never answer the call.
 */
export class EventReader {
  readonly #id: number;
  readonly #turn: Turn;
  readonly #answer: (message: object) => void;
  readonly #decoder = new TextDecoder();
  /** The beginning of the next event. */
  #open = '';
  /** The end of what has come: an event ends only where a chunk completes a blank line. */
  #end = '';
  /** Whether the beginning of the next event was dropped because the event is long. */
  #isOpenDropped = false;
  #hasLongEvent = false;
  #events = 0;
  #answered = 0;
  #parsedInTurn = 0;
  #response: Message | undefined;

  /**
   * @param id of the request whose response the stream contains
   * @param answer receives the answer to each request: `ping` succeeds, no other method exists here (JSON-RPC 2.0 §5.1)
   */
  constructor(id: number, turn: Turn, answer: (message: object) => void) {
    this.#id = id;
    this.#turn = turn;
    this.#answer = answer;
  }

  /** @throws SourceError `SOURCE_MALFORMED` if there are too many events */
  async take(chunk: Uint8Array): Promise<void> {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (this.#response) return;
    const isEnded = blankLine.test(this.#end + text);
    this.#open += text;
    this.#end = (this.#end + text).slice(-3);
    if (!isEnded) {
      // `#end` may belong to the blank line behind the event.
      const isLong = this.#open.length - this.#end.length > longestRequest;
      if (!isLong) return;
      this.#isOpenDropped = true;
      this.#open = this.#end;
      return;
    }
    const events = this.#open.split(blankLine);
    this.#open = events.pop() ?? '';
    this.#events += events.length;
    if (this.#events > maxEvents) {
      const message = `The source sent more than ${maxEvents} events instead of an answer.`;
      throw new SourceError('SOURCE_MALFORMED', message);
    }
    for (const event of events) await this.#readIfShort(event);
  }

  /**
   * The response; undefined if there is none.
   *
   * @param stream the whole stream
   */
  async response(stream: string): Promise<Message | undefined> {
    await this.#readIfShort(this.#open);
    if (!this.#hasLongEvent) return this.#response;
    for (const event of stream.split(blankLine)) {
      if (event.length > longestRequest) await this.#read(event);
    }
    return this.#response;
  }

  async #readIfShort(event: string): Promise<void> {
    const isLong = this.#isOpenDropped || event.length > longestRequest;
    this.#isOpenDropped = false;
    if (isLong) this.#hasLongEvent = true;
    else await this.#read(event);
  }

  async #read(event: string): Promise<void> {
    if (this.#response) return;
    const data = eventData(event);
    if (!/^[ \t\r\n]*\{/.test(data)) return;
    await this.#admit(data.length);
    const message = parsed<Message>(data, literally);
    const { method, id } = message ?? {};
    if (typeof method === 'string') this.#answerRequest(method, id);
    else if (id === this.#id) this.#response = message;
  }

  /** Waits for a turn in which so many characters may be parsed. */
  async #admit(characters: number): Promise<void> {
    const cost = Math.max(characters, charactersOfError);
    this.#parsedInTurn += cost;
    if (this.#parsedInTurn <= charactersPerTurn) return;
    await this.#turn();
    this.#parsedInTurn = cost;
  }

  #answerRequest(method: string, id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    if (this.#answered >= maxRequests) return;
    this.#answered += 1;
    const error = { code: -32601, message: 'Method not found' };
    this.#answer(method === 'ping' ? { id, result: {} } : { id, error });
  }
}

/** The text of an event. */
function eventData(event: string): string {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length).trimStart()).join('\n');
}
