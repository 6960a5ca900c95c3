import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Report } from './log.ts';

/** What bounds the memory and the work that callers can cause; sizes in bytes, times in milliseconds. */
export interface Limits {
  /** A body whose request carries what looks like a token. */
  readonly maxBodyBytes: number;
  /** Any other body, and the time in which it must have come. */
  readonly unpaidBodyBytes: number;
  readonly unpaidBodyMs: number;
  /** All unfinished bodies together. */
  readonly bodyBudgetBytes: number;
  /** All answers together that wait for their readers. */
  readonly answerBudgetBytes: number;
  /** Time without progress after which an answer is given up. */
  readonly answerStallMs: number;
  readonly maxStreams: number;
  readonly maxCalls: number;
  readonly maxCallsPerToken: number;
}

/**
 * At most so many items, each held by an address. One too many ends an item of the address that holds most, the oldest
 * that may end; where none of its items may, the new one. So nobody can push others out by holding much.
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
    /** Whether nothing had to end for it. */
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

/** The status with which a body is refused: too slow, too large, or one too many. */
export type BodyRefusal = 408 | 413 | 503;

interface Body {
  held: number;
  refuse(status: BodyRefusal): void;
}

const blockBytes = 16_384;
/** Many senders, and proxies between, take no answer before they have sent everything. */
const discardMs = 500;

/**
 * Takes for a moment what still comes of a request that has its answer, then closes the connection: a sender that never
 * ends would hold up whatever comes after.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.complete || request.destroy(), discardMs).unref();
}

/**
 * Reads bodies. What has come of an unfinished one is copied into blocks: kept as they come, chunks of a byte would take
 * two hundred times their size. Where the blocks of all bodies exceed the budget, the body that holds most is refused.
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
     * The whole body, or the status with which it is refused.
     *
     * @param isPaid whether the request carries what looks like a token
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
        request.on('error', () => finish(408)); // the caller is gone
      });
    },
    /** Refuses every body that has not come whole a moment from now: a call that is being sent is still answered. */
    refuseSoon(): void {
      setTimeout(() => {
        for (const body of unfinished) body.refuse(503);
      }, discardMs).unref();
    },
  };
}

const pieceBytes = 65_536;

/**
 * Sends answers. Those whose reader does not keep up are sent in pieces and counted: where they exceed the budget, or one
 * makes no progress for too long, the connection that has stood still for longest ends.
 */
export function createAnswers({ answerBudgetBytes, answerStallMs }: Limits, report: Report) {
  /** Those that have stood still for longest come first. */
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
      // Without a socket it waits for the answers before it.
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
  /** Puts an answer last in the order of standing still. */
  const move = (response: ServerResponse, bytes: number) => {
    const entry = unread.get(response);
    if (!entry) return count(response, bytes);
    unread.delete(response);
    unread.set(response, entry);
    entry.stall.refresh();
  };
  return {
    /** Sends the text of an answer whose head is written. */
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

/** Counts running calls, in all and for each token. */
export function createCalls({ maxCalls, maxCallsPerToken }: Limits, report: Report) {
  const running = new Map<string, number>();
  let all = 0;
  return {
    /** Whether one more may run; `leave` ends it. */
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
