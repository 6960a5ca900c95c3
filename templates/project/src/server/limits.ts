import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Report } from './log.ts';

/** Limits on the memory and work that callers can cause. Sizes are in bytes, times in milliseconds. */
export interface Limits {
  /** Body of a request with something that looks like a token. */
  readonly maxBodyBytes: number;
  /** Any other body, and the time to receive it. */
  readonly unpaidBodyBytes: number;
  readonly unpaidBodyMs: number;
  /** Total size of unfinished bodies. */
  readonly bodyBudgetBytes: number;
  /** Total size of answers that wait for their readers. */
  readonly answerBudgetBytes: number;
  /** Time without progress after which an answer is dropped. */
  readonly answerStallMs: number;
  readonly maxStreams: number;
  readonly maxCalls: number;
  readonly maxCallsPerToken: number;
}

/**
 * Holds a limited number of items, each owned by an address. When the limit is exceeded, the oldest item of the address
 * with the most items ends, or the new item if none of those may end. So no address can displace the others.
 */
export function createHoldings<Item>(
  most: number,
  mayEnd: (item: Item) => boolean,
  end: (item: Item) => void,
) {
  const held = new Map<string, Set<Item>>();
  let size = 0;
  const remove = (owner: string, item: Item) => {
    const items = held.get(owner);
    if (!items?.delete(item)) return;
    size--;
    if (items.size === 0) held.delete(owner);
  };
  return {
    /** Returns false if an item had to end. */
    add(owner: string, item: Item): boolean {
      const own = held.get(owner) ?? new Set();
      held.set(owner, own.add(item));
      if (++size <= most) return true;
      let [richest, items] = [owner, own];
      for (const [other, its] of held) if (its.size > items.size) [richest, items] = [other, its];
      const oldest = [...items].find((one) => one !== item && mayEnd(one));
      remove(oldest ? richest : owner, oldest ?? item);
      end(oldest ?? item);
      return false;
    },
    remove,
  };
}

/** The HTTP status of a refused body: too slow, too large, or over the budget. */
export type BodyRefusal = 408 | 413 | 503;

interface Body {
  held: number;
  refuse(status: BodyRefusal): void;
}

const blockBytes = 16_384;
/** Many clients and proxies read no answer before they have sent the whole request. */
const discardMs = 500;

/** Discards the rest of an answered request for a moment, then closes the connection if the request is still incomplete. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.complete || request.destroy(), discardMs).unref();
}

/**
 * Reads bodies. Chunks are copied into blocks, because a chunk of one byte takes two hundred bytes of memory. When the blocks
 * of all bodies exceed the budget, the largest body is refused.
 */
export function createBodies(limits: Limits, report: Report) {
  const { maxBodyBytes, unpaidBodyBytes, unpaidBodyMs, bodyBudgetBytes } = limits;
  const unfinished = new Set<Body>();
  let held = 0;
  const hold = (body: Body) => {
    body.held += blockBytes;
    held += blockBytes;
    if (held <= bodyBudgetBytes) return;
    let largest = body;
    for (const other of unfinished) if (other.held > largest.held) largest = other;
    report('BODY_BUDGET_BYTES');
    largest.refuse(503);
  };
  return {
    /**
     * Resolves with the body, or with the HTTP status of a refusal.
     *
     * @param isPaid whether the request has something that looks like a token
     */
    read(request: IncomingMessage, isPaid: boolean): Promise<Buffer | BodyRefusal> {
      const most = isPaid ? maxBodyBytes : Math.min(maxBodyBytes, unpaidBodyBytes);
      const declared = Number(request.headers['content-length']);
      return new Promise((resolve) => {
        let blocks: Buffer[] = [];
        let size = 0;
        let deadline: NodeJS.Timeout | undefined;
        let refusal: NodeJS.Timeout | undefined;
        const release = () => {
          held -= body.held;
          body.held = 0;
          blocks = [];
        };
        const finish = (outcome: Buffer | BodyRefusal) => {
          clearTimeout(deadline);
          clearTimeout(refusal);
          unfinished.delete(body);
          release();
          resolve(outcome);
        };
        const body: Body = { held: 0, refuse: finish };
        const refuseSoon = () => {
          release();
          refusal ??= setTimeout(finish, discardMs, 413).unref();
        };
        const keep = (chunk: Buffer) => {
          for (let from = 0; from < chunk.length; ) {
            const used = size % blockBytes;
            if (used === 0) {
              blocks.push(Buffer.allocUnsafeSlow(blockBytes));
              hold(body);
            }
            const block = blocks.at(-1);
            if (!block) return; // refused
            const copied = chunk.copy(block, used, from);
            size += copied;
            from += copied;
          }
        };
        unfinished.add(body);
        if (!isPaid) {
          deadline = setTimeout(() => {
            report('UNPAID_BODY_MS');
            finish(408);
          }, unpaidBodyMs).unref();
        }
        if (declared > most) refuseSoon();
        request.on('data', (chunk: Buffer) => {
          if (!unfinished.has(body)) return;
          if (refusal || size + chunk.length > most) refuseSoon();
          else if (chunk.length === declared) {
            blocks = [chunk];
            size = declared;
          } else keep(chunk);
        });
        const joined = () =>
          blocks.length === 1 ? blocks[0]?.subarray(0, size) : Buffer.concat(blocks, size);
        request.on('end', () => finish((!refusal && joined()) || 413));
        request.on('error', () => finish(408)); // the caller disconnected
      });
    },
    /** Refuses unfinished bodies after a moment, so that a call that is being sent is still answered. */
    refuseSoon(): void {
      setTimeout(() => {
        for (const body of unfinished) body.refuse(503);
      }, discardMs).unref();
    },
  };
}

const pieceBytes = 65_536;

/**
 * Sends answers, and counts those whose reader does not keep up. When they exceed the budget, the connection without
 * progress for the longest time is closed. An answer without progress for too long is dropped too.
 */
export function createAnswers({ answerBudgetBytes, answerStallMs }: Limits, report: Report) {
  /** In the order of their last progress, oldest first. */
  const unread = new Map<ServerResponse, { readonly bytes: number; readonly stall: NodeJS.Timeout }>();
  let held = 0;
  const forget = (response: ServerResponse) => {
    const { bytes = 0, stall } = unread.get(response) ?? {};
    clearInterval(stall);
    held -= bytes;
    unread.delete(response);
  };
  const giveUp = (response: ServerResponse, variable: string) => {
    report(variable);
    forget(response);
    (response.socket ?? response.req.socket).destroy();
  };
  const count = (response: ServerResponse, bytes: number) => {
    const stall = setInterval(() => {
      // A pipelined answer has no socket until its turn.
      if (response.socket !== null) giveUp(response, 'ANSWER_STALL_MS');
    }, answerStallMs).unref();
    unread.set(response, { bytes, stall });
    response.once('close', () => forget(response));
    held += bytes;
    for (const [oldest] of unread) {
      if (held <= answerBudgetBytes || oldest === response) break;
      giveUp(oldest, 'ANSWER_BUDGET_BYTES');
    }
  };
  /** Records progress of an answer. */
  const move = (response: ServerResponse, bytes: number) => {
    const entry = unread.get(response);
    if (!entry) return count(response, bytes);
    unread.delete(response);
    unread.set(response, entry);
    entry.stall.refresh();
  };
  return {
    /** Sends the body of a response whose head is written. */
    send(response: ServerResponse, text: string): void {
      if (text.length <= pieceBytes) {
        response.end(text);
        if (response.socket?.writableLength !== 0) count(response, text.length);
        return;
      }
      const bytes = Buffer.from(text);
      let at = 0;
      const sendOn = () => {
        const piece = bytes.subarray(at, at + pieceBytes);
        at += pieceBytes;
        if (!response.destroyed) move(response, bytes.length);
        if (at >= bytes.length) response.end(piece);
        else if (response.write(piece)) sendOn();
        else response.once('drain', sendOn);
      };
      sendOn();
    },
  };
}

/** Counts running calls, in total and per token. */
export function createCalls({ maxCalls, maxCallsPerToken }: Limits, report: Report) {
  const running = new Map<string, number>();
  let all = 0;
  return {
    /** Registers a call if the limits allow one more. `leave` unregisters it. */
    enter(token: string): boolean {
      const own = running.get(token) ?? 0;
      if (all >= maxCalls || own >= maxCallsPerToken) {
        report(all >= maxCalls ? 'MAX_CALLS' : 'MAX_CALLS_PER_TOKEN');
        return false;
      }
      all++;
      running.set(token, own + 1);
      return true;
    },
    leave(token: string): void {
      all--;
      const others = (running.get(token) ?? 1) - 1;
      if (others > 0) running.set(token, others);
      else running.delete(token);
    },
  };
}
