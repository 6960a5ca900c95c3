// Receives the bodies of requests within the limits of size, time and memory.

import type { IncomingMessage } from 'node:http';
import type { Memory } from './call-memory.ts';
import { createFairLimit } from './fair-limit.ts';
import { createLargeWorkQueue } from './large-work-queue.ts';
import { isolatesRequests, type Limits, memoryShares } from './limits.ts';
import type { ReportLimit } from './log.ts';

/** The HTTP status of a refused body: too slow (408), too large (413), or no memory for it (503). */
type RefusalStatus = 408 | 413 | 503;

/** The result of a body that was refused. */
export class BodyRefusal {
  readonly status: RefusalStatus;

  constructor(status: RefusalStatus) {
    this.status = status;
  }
}

interface Body {
  readonly owner: string;
  /** Size of the buffers that contain what has arrived. */
  bufferedBytes: number;
  refuse(): void;
}

const blockBytes = 16_384;
const noBytes = Buffer.alloc(0);
/** Time in which the rest of an answered request is read: many clients and proxies read the response only after they have sent it. */
const discardMs = 500;
/** Maximum size of bodies that do not wait for their turn to be parsed. Parsing takes at most 0.3 ms (unpaid) or 5 ms (paid). */
const smallBytes = { unpaid: 4_096, paid: 65_536 };

/** Average size of the chunks of a request, below which they are tiny. */
const minBytesPerChunk = 6;
/** Bytes that may arrive in smaller chunks. */
const freeBytes = 1_500;

/**
 * Receives the data of a request. Destroys a request with tiny chunks: one read of a socket can contain eleven thousand chunks of one
 * byte, and Node would queue them for a paused request.
 */
function onData(request: IncomingMessage, reserve: (chunk: Buffer) => void): void {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  let chunks = 0;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    chunks += 1;
    if (isChunked && chunks * minBytesPerChunk > bytes + freeBytes) request.destroy();
    else reserve(chunk);
  });
}

/**
 * Discards the rest of an answered request for a moment, then closes the connection if the request is still incomplete. A host that
 * isolates requests does so itself; there, a request without a body is never complete.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || isolatesRequests()) return;
  onData(request, () => {});
  setTimeout(() => request.complete || request.destroy(), discardMs).unref();
}

/** A request whose body is to be read, and how it is parsed. */
interface BodyRequest<Value> {
  readonly request: IncomingMessage;
  /** The caller's network. */
  readonly owner: string;
  /** Whether the request has a valid token; may resolve while the body arrives. */
  readonly hasValidToken: boolean | Promise<boolean>;
  /** Parses the body. Large bodies are parsed one at a time. @param memoryBytes reserved for the parsed value */
  parse(bytes: Buffer, memoryBytes: number): Value;
  /** Estimates the memory of the parsed value of a paid body, in bytes. It is reserved, and the caller of `read` releases it. */
  estimateMemory(bytes: Buffer): number;
}

/**
 * Reads the bodies of requests. A body in several chunks is copied into a buffer of its declared size, or into blocks, because a chunk of
 * one byte takes two hundred bytes of memory. A body is refused as soon as the buffers of all bodies exceed their limit, and counts until
 * it is parsed. A parsed value takes up to twenty times the bytes of its body. For a call with a token, that memory is reserved first.
 */
export function createBodies(limits: Limits, memory: Memory, reportLimit: ReportLimit) {
  const createBodyLimit = (portion: number) =>
    createFairLimit<Body>(
      limits.maxMemoryBytes * portion,
      // Equal bodies of one network do not displace each other: each would be read before it is refused.
      (body, otherBody) => body.owner !== otherBody.owner || body.bufferedBytes > otherBody.bufferedBytes,
      (body) => body.refuse(),
    );
  const shared: SharedBodyState = {
    limits,
    memory,
    reportLimit,
    unfinishedBodies: {
      unpaid: createBodyLimit(memoryShares.unpaidBodies),
      paid: createBodyLimit(memoryShares.paidBodies),
    },
    turns: { unpaid: createLargeWorkQueue(), paid: createLargeWorkQueue() },
    waitingRefusals: new Set(),
    isStopping: false,
  };
  return {
    /** Resolves with the value of a body, or with its refusal. Rejects with an error of `parse`. */
    read<Value extends object>(bodyRequest: BodyRequest<Value>): Promise<Value | BodyRefusal> {
      return new Promise((resolve, reject) => new BodyReading(bodyRequest, shared, resolve, reject));
    },
    /** Refuses the unpaid bodies that wait to be parsed. */
    refuseUnpaid(): void {
      for (const refuseWaiting of shared.waitingRefusals) refuseWaiting();
    },
    /**
     * Refuses large paid bodies instead of parsing them, and every paid body that waits for memory. A tool whose call was aborted may
     * still use its arguments, so their memory is not free although the call has given it back.
     */
    refusePaid(): void {
      shared.isStopping = true;
    },
  };
}

/** The state that all bodies of a server share. */
interface SharedBodyState {
  readonly limits: Limits;
  readonly memory: Memory;
  readonly reportLimit: ReportLimit;
  /** Separate limits, so that unpaid bodies take nothing from paid bodies. While its token is verified, a body counts as paid. */
  readonly unfinishedBodies: {
    readonly [kind in 'unpaid' | 'paid']: ReturnType<typeof createFairLimit<Body>>;
  };
  readonly turns: { readonly [kind in 'unpaid' | 'paid']: ReturnType<typeof createLargeWorkQueue> };
  /** Functions that refuse the unpaid bodies that wait for their turn. */
  readonly waitingRefusals: Set<() => void>;
  isStopping: boolean;
}

/** Reads one body: from its first chunk until it is parsed or refused. */
class BodyReading<Value extends object> implements Body {
  bufferedBytes = 0;
  readonly owner: string;
  readonly #bodyRequest: BodyRequest<Value>;
  readonly #shared: SharedBodyState;
  readonly #resolve: (result: Value | BodyRefusal) => void;
  readonly #reject: (error: unknown) => void;
  /** The size in the header `content-length`; 0 without the header. */
  readonly #declaredBytes: number;
  #maxBytes: number;
  #blocks: Buffer[] = [];
  /** The unused part of the last block. */
  #freeBlock = noBytes;
  #receivedBytes = 0;
  #deadline: NodeJS.Timeout | undefined;
  #isRefused = false;
  #kind: 'unpaid' | 'paid';
  readonly #refuseWaiting = () => this.#refuse(503);

  constructor(
    bodyRequest: BodyRequest<Value>,
    shared: SharedBodyState,
    resolve: (result: Value | BodyRefusal) => void,
    reject: (error: unknown) => void,
  ) {
    const { request, hasValidToken } = bodyRequest;
    this.#bodyRequest = bodyRequest;
    this.#shared = shared;
    this.#resolve = resolve;
    this.#reject = reject;
    this.owner = bodyRequest.owner;
    this.#declaredBytes = Number(request.headers['content-length'] ?? 0);
    this.#maxBytes = shared.limits.maxBodyBytes;
    this.#kind = hasValidToken === false ? 'unpaid' : 'paid';
    if (this.#declaredBytes > this.#maxBytes) this.#refuseAsTooLarge();
    if (hasValidToken === false) this.#limitUnpaid();
    else if (hasValidToken !== true) {
      void hasValidToken.then((isPaid) => {
        if (!isPaid) this.#limitUnpaid();
      });
    }
    onData(request, (chunk) => this.#receive(chunk));
    request.on('end', () => {
      // Answers a body that is too large before `discardMs` has passed. A body that was refused with 408 or 503 was answered already.
      if (this.#isRefused) this.#finishRefused(413);
      else if (hasValidToken === true && this.#receivedBytes <= smallBytes.paid) void this.#parseNow();
      else void this.#parseInTurn();
    });
    request.on('error', () => this.#finishRefused(408)); // the caller disconnected
  }

  /** Refuses this body to make room for others. */
  refuse(): void {
    this.#refuse(503, 'MAX_MEMORY_BYTES');
  }

  #release(): void {
    const { unfinishedBodies, waitingRefusals } = this.#shared;
    clearTimeout(this.#deadline);
    unfinishedBodies[this.#kind].remove(this.owner, this);
    waitingRefusals.delete(this.#refuseWaiting);
    this.#blocks = [];
  }

  #finish(result: Value | BodyRefusal): void {
    this.#release();
    this.#resolve(result);
  }

  #finishRefused(status: RefusalStatus): void {
    this.#finish(new BodyRefusal(status));
  }

  #refuse(status: RefusalStatus, variable?: string): void {
    this.#isRefused = true;
    if (variable) this.#shared.reportLimit(variable);
    this.#finishRefused(status);
  }

  /** Answers when the request has ended, or after the time in which its rest is discarded. */
  #refuseAsTooLarge(): void {
    this.#isRefused = true;
    this.#release();
    setTimeout(() => this.#finishRefused(413), this.#bodyRequest.request.complete ? 0 : discardMs).unref();
  }

  #countBuffered(bytes: number): void {
    this.bufferedBytes += bytes;
    this.#shared.unfinishedBodies[this.#kind].add(this.owner, this, bytes);
  }

  #receive(chunk: Buffer): void {
    if (this.#isRefused) return;
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#maxBytes) this.#refuseAsTooLarge();
    else if (chunk.length === this.#declaredBytes) this.#blocks = [chunk];
    else this.#copy(chunk);
  }

  #copy(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.#freeBlock.length === 0) {
        const bytes = this.#declaredBytes || blockBytes;
        this.#countBuffered(bytes);
        if (this.#isRefused) return;
        this.#freeBlock = Buffer.allocUnsafeSlow(bytes);
        this.#blocks.push(this.#freeBlock);
      }
      const copiedBytes = chunk.copy(this.#freeBlock, 0, from);
      this.#freeBlock = this.#freeBlock.subarray(copiedBytes);
      from += copiedBytes;
    }
  }

  /** Applies the limits for a body without a valid token. */
  #limitUnpaid(): void {
    const { unfinishedBodies, limits } = this.#shared;
    unfinishedBodies.paid.remove(this.owner, this);
    this.#kind = 'unpaid';
    if (this.bufferedBytes > 0 && !this.#isRefused) {
      unfinishedBodies.unpaid.add(this.owner, this, this.bufferedBytes);
    }
    this.#maxBytes = Math.min(limits.maxBodyBytes, limits.unpaidBodyBytes);
    if (this.#isRefused) return;
    if (Math.max(this.#declaredBytes, this.#receivedBytes) > this.#maxBytes) this.#refuseAsTooLarge();
    else if (!this.#bodyRequest.request.complete) {
      const onDeadline = () => this.#refuse(408, 'UNPAID_BODY_MS');
      this.#deadline = setTimeout(onDeadline, limits.unpaidBodyMs).unref();
    }
  }

  #parseNow(): void | Promise<void> {
    const { memory } = this.#shared;
    const [first] = this.#blocks;
    const bytes =
      first?.length === this.#receivedBytes ? first : Buffer.concat(this.#blocks, this.#receivedBytes);
    const memoryBytes = this.#kind === 'paid' ? this.#bodyRequest.estimateMemory(bytes) : 0;
    const reservation = memoryBytes === 0 || memory.reserve(memoryBytes);
    if (reservation === true) return this.#parseWhole(bytes, memoryBytes);
    return Promise.resolve(reservation).then((isReserved) => {
      if (!isReserved) return this.#finishRefused(503);
      const { isStopping } = this.#shared;
      const isGone = this.#bodyRequest.request.socket.destroyed || this.#isRefused;
      if (!isGone && !isStopping) return this.#parseWhole(bytes, memoryBytes);
      memory.release(memoryBytes);
      if (isGone) this.#finishRefused(408);
      else this.#refuse(503, 'SHUTDOWN_GRACE_MS');
    });
  }

  #parseWhole(bytes: Buffer, memoryBytes: number): void {
    try {
      this.#finish(this.#bodyRequest.parse(bytes, memoryBytes));
    } catch (error) {
      this.#shared.memory.release(memoryBytes);
      this.#release();
      this.#reject(error);
    }
  }

  async #parseInTurn(): Promise<void> {
    if (this.#receivedBytes > smallBytes.unpaid && this.bufferedBytes === 0)
      this.#countBuffered(this.#receivedBytes);
    await this.#bodyRequest.hasValidToken;
    clearTimeout(this.#deadline);
    if (this.#receivedBytes > smallBytes[this.#kind] && !this.#isRefused) {
      if (this.#kind === 'unpaid') this.#shared.waitingRefusals.add(this.#refuseWaiting);
      await this.#shared.turns[this.#kind]();
    }
    if (this.#bodyRequest.request.socket.destroyed) this.#finishRefused(408);
    else if (this.#isRefused) return;
    else if (this.#shared.isStopping && this.#kind === 'paid' && this.#receivedBytes > smallBytes.paid)
      this.#refuse(503, 'SHUTDOWN_GRACE_MS');
    else await this.#parseNow();
  }
}
