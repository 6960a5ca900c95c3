import type { IncomingMessage } from 'node:http';
import { createHoldings, createTurns, isolatesRequests, type Limits, portions } from './limits.ts';
import type { ReportLimit } from './log.ts';
import type { Memory } from './memory.ts';

/** The HTTP status of a refused body: too slow, too large, or over the budget. */
export type BodyRefusal = 408 | 413 | 503;

interface Body {
  readonly owner: string;
  /** Size of its buffers. */
  held: number;
  refuse(): void;
}

const blockBytes = 16_384;
const noBytes = Buffer.alloc(0);
/** Many clients and proxies read no answer before they have sent the whole request. */
const discardMs = 500;
/** Bodies up to this size are parsed at once, which takes at most 0.3 ms and 5 ms. */
const smallBytes = { unpaid: 4_096, paid: 65_536 };

/**
 * Receives the data of a request. A chunk of one byte takes six bytes on the wire, and one read of a socket contains
 * eleven thousand. A request with such chunks is destroyed, because a paused one would make Node queue them.
 */
function onData(request: IncomingMessage, take: (chunk: Buffer) => void): void {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  let chunks = 0;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (isChunked && ++chunks * 6 > bytes + 1_500) request.destroy();
    else take(chunk);
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

/** The purpose of reading the body of a request. */
interface Order<Value> {
  readonly request: IncomingMessage;
  /** The caller's network. */
  readonly owner: string;
  /** Whether the request has a valid token; may resolve while the body arrives. */
  readonly isPaying: boolean | Promise<boolean>;
  /** Is called for one body at a time, small ones excepted. */
  parse(bytes: Buffer, weight: number): Value;
  /** The memory of a paid body's value, in bytes. The caller gives it back when the body is done. */
  weigh(bytes: Buffer): number;
}

/**
 * Reads bodies. A body that does not come in one piece is copied into a buffer of its declared size, or into blocks, because
 * a chunk of one byte takes two hundred bytes of memory. A body whose buffer exceeds the budget of all bodies is refused before
 * more of it is read. A body counts until it is parsed. The value takes up to twenty times its bytes: what a call with a token takes is
 * weighed and taken from the memory of the calls before it is parsed.
 */
export function createBodies(limits: Limits, memory: Memory, reportLimit: ReportLimit) {
  const unfinishedOf = (portion: number) =>
    createHoldings<Body>(
      limits.maxMemoryBytes * portion,
      // Equal bodies of one network do not displace each other: each would be read before it is refused.
      (body, otherBody) => body.owner !== otherBody.owner || body.held > otherBody.held,
      (body) => body.refuse(),
    );
  const sharedState: Common = {
    limits,
    memory,
    reportLimit,
    unfinished: {
      unpaid: unfinishedOf(portions.unpaidBodies),
      paid: unfinishedOf(portions.paidBodies),
    },
    turns: { unpaid: createTurns(), paid: createTurns() },
    waiting: new Set(),
    refusesPaid: false,
  };
  return {
    /** Resolves with the value of a body, or with the HTTP status of a refusal. Rejects with an error of `parse`. */
    read<Value extends object>(order: Order<Value>): Promise<Value | BodyRefusal> {
      return new Promise((resolve, reject) => new Reading(order, sharedState, resolve, reject));
    },
    /** Refuses the bodies that wait to be parsed and are not paid. */
    refuseUnpaid(): void {
      for (const giveUp of sharedState.waiting) giveUp();
    },
    /**
     * Refuses large paid bodies instead of parsing them, and every paid body that waits for memory. A tool whose call was aborted may
     * still use its arguments, so their memory is not free although the call has given it back.
     */
    refusePaid(): void {
      sharedState.refusesPaid = true;
    },
  };
}

/** What all bodies of a server share. */
interface Common {
  readonly limits: Limits;
  readonly memory: Memory;
  readonly reportLimit: ReportLimit;
  /** Bodies without a valid token take nothing from those with one. One whose token is not yet verified counts as paid. */
  readonly unfinished: { readonly [kind in 'unpaid' | 'paid']: ReturnType<typeof createHoldings<Body>> };
  readonly turns: { readonly [kind in 'unpaid' | 'paid']: ReturnType<typeof createTurns> };
  /** Refuses bodies without a valid token that wait for their turn. */
  readonly waiting: Set<() => void>;
  refusesPaid: boolean;
}

/** A body while it arrives, and until it is parsed. */
class Reading<Value extends object> implements Body {
  held = 0;
  readonly owner: string;
  readonly #order: Order<Value>;
  readonly #common: Common;
  readonly #resolve: (outcome: Value | BodyRefusal) => void;
  readonly #reject: (error: unknown) => void;
  /** Its declared size; 0 if none is. */
  readonly #declared: number;
  #most: number;
  #blocks: Buffer[] = [];
  #free = noBytes;
  #size = 0;
  #deadline: NodeJS.Timeout | undefined;
  #isRefused = false;
  #kind: 'unpaid' | 'paid';
  readonly #giveUp = () => this.#refuse(503);

  constructor(
    order: Order<Value>,
    sharedState: Common,
    resolve: (outcome: Value | BodyRefusal) => void,
    reject: (error: unknown) => void,
  ) {
    const { request, isPaying } = order;
    this.#order = order;
    this.#common = sharedState;
    this.#resolve = resolve;
    this.#reject = reject;
    this.owner = order.owner;
    this.#declared = Number(request.headers['content-length'] ?? 0);
    this.#most = sharedState.limits.maxBodyBytes;
    this.#kind = isPaying === false ? 'unpaid' : 'paid';
    if (this.#declared > this.#most) this.#refuseSoon();
    if (isPaying === false) this.#limitUnpaid();
    else if (isPaying !== true) void isPaying.then((isPaying) => isPaying || this.#limitUnpaid());
    onData(request, (chunk) => this.#take(chunk));
    request.on('end', () => {
      if (this.#isRefused) this.#finish(413);
      else if (isPaying === true && this.#size <= smallBytes.paid) void this.#parseNow();
      else void this.#parseInTurn();
    });
    request.on('error', () => this.#finish(408)); // the caller disconnected
  }

  /** Ends it for the sake of others. */
  refuse(): void {
    this.#refuse(503, 'MAX_MEMORY_BYTES');
  }

  #release(): void {
    const { unfinished, waiting } = this.#common;
    clearTimeout(this.#deadline);
    unfinished[this.#kind].remove(this.owner, this);
    waiting.delete(this.#giveUp);
    this.#blocks = [];
  }

  #finish(outcome: Value | BodyRefusal): void {
    this.#release();
    this.#resolve(outcome);
  }

  #refuse(status: BodyRefusal, variable?: string): void {
    this.#isRefused = true;
    if (variable) this.#common.reportLimit(variable);
    this.#finish(status);
  }

  #refuseSoon(): void {
    this.#isRefused = true;
    this.#release();
    setTimeout(() => this.#finish(413), this.#order.request.complete ? 0 : discardMs).unref();
  }

  #hold(bytes: number): void {
    this.held += bytes;
    this.#common.unfinished[this.#kind].add(this.owner, this, bytes);
  }

  #take(chunk: Buffer): void {
    if (this.#isRefused) return;
    this.#size += chunk.length;
    if (this.#size > this.#most) this.#refuseSoon();
    else if (chunk.length === this.#declared) this.#blocks = [chunk];
    else this.#keep(chunk);
  }

  #keep(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.#free.length === 0) {
        const bytes = this.#declared || blockBytes;
        this.#hold(bytes);
        if (this.#isRefused) return;
        this.#free = Buffer.allocUnsafeSlow(bytes);
        this.#blocks.push(this.#free);
      }
      const copied = chunk.copy(this.#free, 0, from);
      this.#free = this.#free.subarray(copied);
      from += copied;
    }
  }

  /** From now on the limits for a body without a valid token hold. */
  #limitUnpaid(): void {
    const { unfinished, limits } = this.#common;
    unfinished.paid.remove(this.owner, this);
    this.#kind = 'unpaid';
    if (this.held > 0 && !this.#isRefused) unfinished.unpaid.add(this.owner, this, this.held);
    this.#most = Math.min(limits.maxBodyBytes, limits.unpaidBodyBytes);
    if (this.#isRefused) return;
    if (Math.max(this.#declared, this.#size) > this.#most) this.#refuseSoon();
    else if (!this.#order.request.complete) {
      const onDeadline = () => this.#refuse(408, 'UNPAID_BODY_MS');
      this.#deadline = setTimeout(onDeadline, limits.unpaidBodyMs).unref();
    }
  }

  #parseNow(): void | Promise<void> {
    const { memory } = this.#common;
    const [first] = this.#blocks;
    const bytes = first?.length === this.#size ? first : Buffer.concat(this.#blocks, this.#size);
    const weight = this.#kind === 'paid' ? this.#order.weigh(bytes) : 0;
    const reservation = weight === 0 || memory.take(weight);
    if (reservation === true) return this.#parseWhole(bytes, weight);
    return Promise.resolve(reservation).then((isTaken) => {
      if (!isTaken) return this.#finish(503);
      const { refusesPaid } = this.#common;
      const isGone = this.#order.request.socket.destroyed || this.#isRefused;
      if (!isGone && !refusesPaid) return this.#parseWhole(bytes, weight);
      memory.give(weight);
      if (isGone) this.#finish(408);
      else this.#refuse(503, 'SHUTDOWN_GRACE_MS');
    });
  }

  #parseWhole(bytes: Buffer, weight: number): void {
    try {
      this.#finish(this.#order.parse(bytes, weight));
    } catch (error) {
      this.#common.memory.give(weight);
      this.#release();
      this.#reject(error);
    }
  }

  async #parseInTurn(): Promise<void> {
    if (this.#size > smallBytes.unpaid && this.held === 0) this.#hold(this.#size);
    await this.#order.isPaying;
    clearTimeout(this.#deadline);
    if (this.#size > smallBytes[this.#kind] && !this.#isRefused) {
      if (this.#kind === 'unpaid') this.#common.waiting.add(this.#giveUp);
      await this.#common.turns[this.#kind]();
    }
    if (this.#order.request.socket.destroyed) this.#finish(408);
    else if (this.#isRefused) return;
    else if (this.#common.refusesPaid && this.#kind === 'paid' && this.#size > smallBytes.paid)
      this.#refuse(503, 'SHUTDOWN_GRACE_MS');
    else await this.#parseNow();
  }
}
