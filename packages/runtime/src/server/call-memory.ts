// The memory that calls may use: estimated from JSON text, reserved and released.

import { isolatesRequests, type Limits, memoryShares } from './limits.ts';
import type { ReportLimit } from './log.ts';

/** The environment variable that limits all memory here. */
const memoryVariable = 'MAX_MEMORY_BYTES';

/** Upper estimates of what V8 stores: `[{},{}]` takes 64 bytes for each object. */
const bytesPer = { container: 64, separator: 24 };
const [quote, backslash, brace, bracket, closingBrace, closingBracket, comma] = Buffer.from('"\\{[}],');
/** Length of JSON text in bytes, up to which its value is not counted. */
const littleText = 500;
const maxLevels = 500;

/** What parsing the JSON text of a body would take. */
interface BodyEstimate {
  /** The memory of the parsed value; 0 for little memory. */
  readonly memoryBytes: number;
  /** Parsing a text that is nested too deeply would take far longer than this estimate. */
  readonly isTooDeep: boolean;
}

const littleMemory: BodyEstimate = { memoryBytes: 0, isTooDeep: false };

/** Estimates what parsing the JSON text of a body would take, by its separators and brackets. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a scan of each body, which calls of functions would slow down
export function estimateBody(bytes: Uint8Array): BodyEstimate {
  if (bytes.length <= littleText) return littleMemory;
  let depth = 0;
  let memoryBytes = bytes.length;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
    } else if (byte === comma) memoryBytes += bytesPer.separator;
    else if (byte === brace || byte === bracket) {
      memoryBytes += bytesPer.container;
      if (++depth > maxLevels) return { memoryBytes: 0, isTooDeep: true };
    } else if (byte === closingBrace || byte === closingBracket) depth--;
  }
  return { memoryBytes, isTooDeep: false };
}

/** Shorter answers are not counted: the number of calls limits their number. */
const smallAnswer = 65_536;

/**
 * Estimates the memory that a call needs for a JSON text, in bytes; 0 for little memory. It needs the text, its value, a copy of the value
 * to compare with the outputSchema, and the text of the result. JSON inside strings also counts.
 */
export function estimateAnswerMemory(json: Uint8Array | string): number {
  if (json.length < smallAnswer) return 0;
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  let valueBytes = bytes.length;
  for (const byte of bytes) {
    if (byte === comma) valueBytes += bytesPer.separator;
    else if (byte === brace || byte === bracket) valueBytes += bytesPer.container;
  }
  return 2 * valueBytes + 4 * bytes.length;
}

interface WaitingReservation {
  readonly bytes: number;
  end(isGranted: boolean): void;
}

/** The memory that calls may use. */
export interface Memory {
  /**
   * Reserves bytes, at once or when others have released theirs. If more are asked than there are in total, or none are free within half of
   * the time limit of a call, reports the reached limit and returns false.
   */
  reserve(bytes: number): boolean | Promise<boolean>;
  release(bytes: number): void;
  /** The time limit of a call. */
  readonly callTimeoutMs: number;
}

/** Creates the memory of calls, a share of `maxMemoryBytes`. */
export function createMemory(
  { maxMemoryBytes, callTimeoutMs }: Limits & { readonly callTimeoutMs: number },
  reportLimit: ReportLimit,
): Memory {
  const callBytes = maxMemoryBytes * memoryShares.calls;
  let usedBytes = 0;
  const queue = new Set<WaitingReservation>();
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
    reportLimit(memoryVariable);
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
        const waiting: WaitingReservation = {
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

  /** Increases the reservation to this total. Returns false if there is too little memory. */
  async reserveTotal(bytes: number): Promise<boolean> {
    const missingBytes = bytes - this.#bytes;
    if (missingBytes <= 0) return true;
    if (!(await this.#memory.reserve(missingBytes))) return false;
    if (this.#isReleased) this.#memory.release(missingBytes);
    else this.#bytes += missingBytes;
    return true;
  }

  /** Increases the reservation by this much. Returns false if there is too little memory. */
  addBytes(bytes: number): Promise<boolean> {
    return this.reserveTotal(this.#bytes + bytes);
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Releases the memory when every call that runs now has ended. */
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
