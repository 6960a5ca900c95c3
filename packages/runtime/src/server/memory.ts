import { isolatesRequests, type Limits, portions } from './limits.ts';
import type { ReportLimit } from './log.ts';

/** The variable that limits all memory here. */
const variable = 'MAX_MEMORY_BYTES';

/** Upper estimates of what V8 stores: `[{},{}]` takes 64 bytes for each object. */
const bytesPer = { container: 64, separator: 24 };
const [quote, backslash, brace, bracket, closingBrace, closingBracket, comma] = Buffer.from('"\\{[}],');
/** The value of a shorter text takes little memory. */
const littleText = 500;
const maxLevels = 500;

/**
 * The memory of the value of JSON text, estimated by its values, in bytes; 0 for little memory, null if it is nested too deeply. The
 * text is scanned before it is parsed: parsing deeply nested text takes far longer than this scan.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a scan of each body, which calls of functions would slow down
export function estimateMemory(bytes: Uint8Array): number | null {
  if (bytes.length <= littleText) return 0;
  let depth = 0;
  let weight = bytes.length;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
    } else if (byte === comma) weight += bytesPer.separator;
    else if (byte === brace || byte === bracket) {
      weight += bytesPer.container;
      if (++depth > maxLevels) return null;
    } else if (byte === closingBrace || byte === closingBracket) depth--;
  }
  return weight;
}

/** Shorter answers are not counted: the number of calls limits their number. */
const smallAnswer = 65_536;

/**
 * The memory of a JSON text and of all that becomes of it in a call, in bytes: its value, the copy that is compared with the
 * outputSchema, and the text of the result. JSON inside its strings also counts. 0 for little memory.
 */
export function answerWeight(json: Uint8Array | string): number {
  if (json.length < smallAnswer) return 0;
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  let weight = bytes.length;
  for (const byte of bytes) {
    if (byte === comma) weight += bytesPer.separator;
    else if (byte === brace || byte === bracket) weight += bytesPer.container;
  }
  return 2 * weight + 4 * bytes.length;
}

interface Waiting {
  readonly bytes: number;
  end(isGranted: boolean): void;
}

/** The memory of calls. */
export interface Memory {
  /**
   * Takes bytes, at once or when others have given theirs back. False: they are more than there can be, or the wait was too long. Both are
   * reported.
   */
  take(bytes: number): boolean | Promise<boolean>;
  give(bytes: number): void;
  /** The time limit of a call. */
  readonly callTimeoutMs: number;
}

/**
 * The memory of calls, a part of all memory.
 *
 * @param limits of which a call waits for its turn for half of its time limit
 */
export function createMemory(
  { maxMemoryBytes, callTimeoutMs }: Limits & { readonly callTimeoutMs: number },
  reportLimit: ReportLimit,
): Memory {
  const callBytes = maxMemoryBytes * portions.calls;
  let usedBytes = 0;
  const queue = new Set<Waiting>();
  const isAlone = isolatesRequests();
  const serve = () => {
    for (const waiting of queue) {
      if (usedBytes + waiting.bytes > callBytes) return;
      queue.delete(waiting);
      usedBytes += waiting.bytes;
      waiting.end(true);
    }
  };
  const add = (bytes: number) => {
    if (isAlone) return;
    usedBytes += bytes;
    if (bytes < 0 && queue.size > 0) serve();
  };
  /** What takes little does not wait behind what takes much. */
  const isLittle = (bytes: number) => bytes <= callBytes / 16;
  const refuse = () => {
    reportLimit(variable);
    return false;
  };
  return {
    take(bytes) {
      if (bytes > callBytes) return refuse();
      if (isAlone || (usedBytes + bytes <= callBytes && (queue.size === 0 || isLittle(bytes)))) {
        add(bytes);
        return true;
      }
      return new Promise((resolve) => {
        const waiting: Waiting = {
          bytes,
          end(isGranted) {
            clearTimeout(timer);
            resolve(isGranted);
          },
        };
        const timer = setTimeout(() => {
          queue.delete(waiting);
          resolve(refuse());
          serve();
        }, callTimeoutMs / 2).unref();
        queue.add(waiting);
      });
    },
    give: (bytes) => add(-bytes),
    callTimeoutMs,
  };
}

/** The memory that one call, or one answer of a source, holds until it is released. */
export class HeldMemory {
  readonly #memory: Memory;
  #bytes: number;
  #isReleased = false;

  /** @param bytes that it has taken already */
  constructor(memory: Memory, bytes = 0) {
    this.#memory = memory;
    this.#bytes = bytes;
  }

  /** Holds this much in all. False if there is too little memory. */
  async reach(bytes: number): Promise<boolean> {
    const missing = bytes - this.#bytes;
    if (missing <= 0) return true;
    if (!(await this.#memory.take(missing))) return false;
    if (this.#isReleased) this.#memory.give(missing);
    else this.#bytes += missing;
    return true;
  }

  /** Holds this much more. */
  add(bytes: number): Promise<boolean> {
    return this.reach(this.#bytes + bytes);
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Releases it when every call of now has ended. */
  releaseLater(): void {
    setTimeout(() => this.release(), this.#memory.callTimeoutMs).unref();
  }

  /** Holds what another one held. */
  adopt(source: HeldMemory): void {
    const bytes = source.#bytes;
    source.#bytes = 0;
    if (this.#isReleased) this.#memory.give(bytes);
    else this.#bytes += bytes;
  }

  release(): void {
    this.#isReleased = true;
    if (this.#bytes > 0) this.#memory.give(this.#bytes);
    this.#bytes = 0;
  }
}

let ofSources: Memory | undefined;

/** Makes the answers of all sources of the process count towards this memory. */
export function chargeSourceAnswersTo(memory: Memory): void {
  ofSources = memory;
}

/** What an answer of a source will hold; undefined where no server runs. */
export function heldBySource(): HeldMemory | undefined {
  return ofSources && new HeldMemory(ofSources);
}
