// Reads the event stream of an MCP server.

import { estimateAnswerMemory, type ReservedMemory } from '../server/call-memory.ts';
import { literally, type Message } from './mcp-message.ts';
import { parseContainer } from './mcp-result.ts';
import { overloadedError, SourceError } from './source-errors.ts';

/** Maximum length of an event with a request. A longer event is an answer, for which memory is reserved before it is parsed. */
const longestRequest = 100_000;
/** Maximum number of requests of a server that are answered during one call, because each answer costs a request. */
const maxRequests = 20;
/** Maximum number of events in the response to a call. */
const maxEvents = 10_000;
/** Characters that are parsed in one turn of the event loop, as of the body of a request with a token. */
const charactersPerTurn = 65_536;
/** The time of a parse error, as the number of characters that are parsed in that time. */
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
  readonly #reservedMemory: ReservedMemory | undefined;
  readonly #decoder = new TextDecoder();
  /** The beginning of the next event. */
  #open = '';
  /** The chunks that contain it; the first one may begin with the end of other events. */
  #openChunks: Uint8Array[] = [];
  /** The end of what has come: an event ends only where a chunk completes a blank line. */
  #end = '';
  /** Whether the beginning of the next event was dropped because the event is long. */
  #isOpenDropped = false;
  #events = 0;
  #answered = 0;
  #parsedInTurn = 0;
  #response: Message | undefined;

  /**
   * @param id of the request whose response the stream contains
   * @param answer receives the answer to each request: `ping` succeeds, no other method exists here (JSON-RPC 2.0 §5.1)
   * @param reservedMemory takes the memory of long events
   */
  constructor(id: number, turn: Turn, answer: (message: object) => void, reservedMemory?: ReservedMemory) {
    this.#id = id;
    this.#turn = turn;
    this.#answer = answer;
    this.#reservedMemory = reservedMemory;
  }

  /**
   * Returns `enough` if the response has arrived, so that the rest of the stream is not needed.
   *
   * @throws SourceError `SOURCE_MALFORMED` if there are too many events, `OVERLOADED` if there is no memory for one
   */
  async take(chunk: Uint8Array): Promise<'more' | 'enough'> {
    if (this.#response) return 'enough';
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#openChunks.push(chunk);
    const isEnded = blankLine.test(this.#end + text);
    this.#open += text;
    this.#end = (this.#end + text).slice(-3);
    if (!isEnded) {
      // `#end` may belong to the blank line behind the event.
      const isLong = this.#open.length - this.#end.length > longestRequest;
      if (!isLong) return 'more';
      this.#isOpenDropped = true;
      this.#open = this.#end;
      return 'more';
    }
    const events = this.#open.split(blankLine);
    this.#open = events.pop() ?? '';
    if (this.#isOpenDropped) events[0] = this.#openEvent(events.length);
    this.#isOpenDropped = false;
    this.#openChunks = [chunk];
    this.#events += events.length;
    if (this.#events > maxEvents) {
      const message = `The source sent more than ${maxEvents} events instead of an answer.`;
      throw new SourceError('SOURCE_MALFORMED', message);
    }
    for (const event of events) await this.#read(event);
    return this.#response ? 'enough' : 'more';
  }

  /** Returns the response after the end of the stream; undefined if there is none. */
  async response(): Promise<Message | undefined> {
    await this.#read(this.#isOpenDropped ? this.#openEvent(0) : this.#open);
    return this.#response;
  }

  /** Returns the open event from its chunks. @param laterCount number of blank lines behind its beginning */
  #openEvent(laterCount: number): string {
    const text = new TextDecoder().decode(Buffer.concat(this.#openChunks));
    return text.split(blankLine).at(-1 - laterCount) ?? '';
  }

  async #read(event: string): Promise<void> {
    if (this.#response) return;
    const data = eventData(event);
    if (!/^[ \t\r\n]*\{/.test(data)) return;
    const isLong = event.length > longestRequest;
    if (
      isLong &&
      this.#reservedMemory &&
      !(await this.#reservedMemory.reserveTotal(estimateAnswerMemory(data)))
    )
      throw overloadedError();
    await this.#admit(data.length);
    const message = parseContainer<Message>(data, literally);
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
