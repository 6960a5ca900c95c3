// The memory that calls may use: estimated from JSON text, reserved and released.

import { isolatesRequests, type Limits, memoryShares } from './limits.ts';
import type { ReportLimit } from './log.ts';

/** The variable that limits all memory here. */
const variable = 'MAX_MEMORY_BYTES';

/** Upper estimates of what V8 stores: `[{},{}]` takes 64 bytes for each object. */
const bytesPer = { container: 64, separator: 24 };
const [quote, backslash, brace, bracket, closingBrace, closingBracket, comma] = Buffer.from('"\\{[}],');
/** Bytes of JSON text. The value of a shorter text is not counted. */
const littleText = 500;
const maxLevels = 500;

/**
 * Estimates the memory of the value of JSON text, in bytes; 0 for little memory, null if the text is nested too deeply. Parsing deeply
 * nested text would take far longer than this scan.
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
 * Estimates the memory that a call needs for a JSON text, in bytes: the text, its value, the copy that is compared with the outputSchema,
 * and the text of the result. JSON inside its strings also counts. 0 for little memory.
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

/** The memory that calls may use. */
export interface Memory {
  /**
   * Reserves bytes, at once or when others have released theirs. False, and reported as a reached limit, if the number is above the total,
   * or after half of the time limit of a call.
   */
  reserve(bytes: number): boolean | Promise<boolean>;
  release(bytes: number): void;
  /** The time limit of a call. */
  readonly callTimeoutMs: number;
}

/**
 * Creates the memory of calls, a share of `maxMemoryBytes`.
 */
export function createMemory(
  { maxMemoryBytes, callTimeoutMs }: Limits & { readonly callTimeoutMs: number },
  reportLimit: ReportLimit,
): Memory {
  const callBytes = maxMemoryBytes * memoryShares.calls;
  let usedBytes = 0;
  const queue = new Set<Waiting>();
  const hasIsolatedRequests = isolatesRequests();
  const grantWaiting = () => {
    for (const waiting of queue) {
      if (usedBytes + waiting.bytes > callBytes) return;
      queue.delete(waiting);
      usedBytes += waiting.bytes;
      waiting.end(true);
    }
  };
  const addBytes = (bytes: number) => {
    if (hasIsolatedRequests) return;
    usedBytes += bytes;
    if (bytes < 0 && queue.size > 0) grantWaiting();
  };
  /** Whether a reservation is so small that it need not wait behind larger ones. */
  const isSmall = (bytes: number) => bytes <= callBytes / 16;
  const refuseReservation = () => {
    reportLimit(variable);
    return false;
  };
  return {
    reserve(bytes) {
      if (bytes > callBytes) return refuseReservation();
      if (hasIsolatedRequests || (usedBytes + bytes <= callBytes && (queue.size === 0 || isSmall(bytes)))) {
        addBytes(bytes);
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
          resolve(refuseReservation());
          grantWaiting();
        }, callTimeoutMs / 2).unref();
        queue.add(waiting);
      });
    },
    release: (bytes) => addBytes(-bytes),
    callTimeoutMs,
  };
}

/** The memory that is reserved for one call, or for one response of a source, until it is released. */
export class ReservedMemory {
  readonly #memory: Memory;
  #bytes: number;
  #isReleased = false;

  /** @param bytes that are already reserved */
  constructor(memory: Memory, bytes = 0) {
    this.#memory = memory;
    this.#bytes = bytes;
  }

  /** Reserves as much as is missing to this total. False if there is too little memory. */
  async reserveTotal(bytes: number): Promise<boolean> {
    const missing = bytes - this.#bytes;
    if (missing <= 0) return true;
    if (!(await this.#memory.reserve(missing))) return false;
    if (this.#isReleased) this.#memory.release(missing);
    else this.#bytes += missing;
    return true;
  }

  /** Reserves this much more. False if there is too little memory. */
  addBytes(bytes: number): Promise<boolean> {
    return this.reserveTotal(this.#bytes + bytes);
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Releases it when every call that runs now has ended. */
  releaseLater(): void {
    setTimeout(() => this.release(), this.#memory.callTimeoutMs).unref();
  }

  /** Takes over the memory of another reservation. */
  adopt(source: ReservedMemory): void {
    const bytes = source.#bytes;
    source.#bytes = 0;
    if (this.#isReleased) this.#memory.release(bytes);
    else this.#bytes += bytes;
  }

  release(): void {
    this.#isReleased = true;
    if (this.#bytes > 0) this.#memory.release(this.#bytes);
    this.#bytes = 0;
  }
}

let sourceMemory: Memory | undefined;

/** Sets the memory towards which the responses of all sources of the process count. */
export function setSourceMemory(memory: Memory): void {
  sourceMemory = memory;
}

/** A reservation for a response of a source; undefined if no server runs. */
export function reserveForSource(): ReservedMemory | undefined {
  return sourceMemory && new ReservedMemory(sourceMemory);
}
