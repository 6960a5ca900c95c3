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
 * Holds items of a limited total size, each owned by an address. When the limit is exceeded, the oldest items of the address
 * that holds the most end, or the new item if none of those may end. So no address can displace the others.
 *
 * @param mayEnd whether an item may end for the sake of another
 */
export function createHoldings<Item>(
  most: number,
  mayEnd: (item: Item, other: Item) => boolean,
  end: (item: Item) => void,
) {
  /** The items of each owner and their sizes, oldest first. */
  const owners = new Map<string, Map<Item, number>>();
  let total = 0;
  const remove = (owner: string, item: Item) => {
    const own = owners.get(owner);
    total -= own?.get(item) ?? 0;
    own?.delete(item);
    if (own?.size === 0) owners.delete(owner);
  };
  return {
    /** Adds an item, or to the size of an item. Returns false if an item had to end. */
    add(owner: string, item: Item, size = 1): boolean {
      const own = owners.get(owner) ?? new Map<Item, number>();
      owners.set(owner, own.set(item, (own.get(item) ?? 0) + size));
      total += size;
      const fits = total <= most;
      while (total > most) {
        let [richest, its] = [owner, own];
        for (const [other, theirs] of owners)
          if (sizeOf(theirs) > sizeOf(its)) [richest, its] = [other, theirs];
        const oldest = [...its.keys()].find((one) => one !== item && mayEnd(one, item));
        remove(oldest ? richest : owner, oldest ?? item);
        end(oldest ?? item);
      }
      return fits;
    },
    remove,
  };
}

function sizeOf(items: ReadonlyMap<unknown, number>): number {
  let sum = 0;
  for (const size of items.values()) sum += size;
  return sum;
}

/** The HTTP status of a refused body: too slow, too large, or over the budget. */
export type BodyRefusal = 408 | 413 | 503;

interface Body {
  readonly address: string;
  /** Size of its buffers. */
  held: number;
  refuse(): void;
}

const blockBytes = 16_384;
const noBytes = Buffer.alloc(0);
/** Many clients and proxies read no answer before they have sent the whole request. */
const discardMs = 500;

/** Discards the rest of an answered request for a moment, then closes the connection if the request is still incomplete. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.complete || request.destroy(), discardMs).unref();
}

/**
 * Reads bodies. A body that does not come in one piece is copied into a buffer of its declared size, or into blocks, because
 * a chunk of one byte takes two hundred bytes of memory. A body whose buffer exceeds the budget of all bodies is refused before
 * more of it is read.
 */
export function createBodies(limits: Limits, report: Report) {
  const { maxBodyBytes, unpaidBodyBytes, unpaidBodyMs, bodyBudgetBytes } = limits;
  const unfinished = createHoldings<Body>(
    bodyBudgetBytes,
    // Equal bodies of one address do not displace each other: each would be read before it is refused.
    (body, other) => body.address !== other.address || body.held > other.held,
    (body) => body.refuse(),
  );
  return {
    /**
     * Resolves with the body, or with the HTTP status of a refusal.
     *
     * @param isPaid whether the request has something that looks like a token
     */
    read(request: IncomingMessage, address: string, isPaid: boolean): Promise<Buffer | BodyRefusal> {
      const most = isPaid ? maxBodyBytes : Math.min(maxBodyBytes, unpaidBodyBytes);
      const declared = Number(request.headers['content-length'] ?? 0);
      return new Promise((resolve) => {
        let blocks: Buffer[] = [];
        let free = noBytes;
        let size = 0;
        let deadline: NodeJS.Timeout | undefined;
        let isRefused = false;
        const release = () => {
          clearTimeout(deadline);
          unfinished.remove(address, body);
          blocks = [];
        };
        const finish = (outcome: Buffer | BodyRefusal) => {
          release();
          resolve(outcome);
        };
        const refuse = (status: BodyRefusal, variable: string) => {
          isRefused = true;
          report(variable);
          finish(status);
        };
        const refuseSoon = () => {
          isRefused = true;
          release();
          setTimeout(finish, discardMs, 413).unref();
        };
        const body: Body = { address, held: 0, refuse: () => refuse(503, 'BODY_BUDGET_BYTES') };
        const keep = (chunk: Buffer) => {
          for (let from = 0; from < chunk.length; ) {
            if (free.length === 0) {
              const bytes = declared || blockBytes;
              body.held += bytes;
              unfinished.add(address, body, bytes);
              if (isRefused) return;
              free = Buffer.allocUnsafeSlow(bytes);
              blocks.push(free);
            }
            const copied = chunk.copy(free, 0, from);
            free = free.subarray(copied);
            from += copied;
          }
        };
        if (!isPaid) deadline = setTimeout(refuse, unpaidBodyMs, 408, 'UNPAID_BODY_MS').unref();
        if (declared > most) refuseSoon();
        request.on('data', (chunk: Buffer) => {
          if (isRefused) return;
          size += chunk.length;
          if (size > most) refuseSoon();
          else if (chunk.length === declared) blocks = [chunk];
          else keep(chunk);
        });
        const joined = () => {
          const [first] = blocks;
          return first?.length === size ? first : Buffer.concat(blocks, size);
        };
        request.on('end', () => finish(isRefused ? 413 : joined()));
        request.on('error', () => finish(408)); // the caller disconnected
      });
    },
  };
}

/** Node copies longer texts twice: behind the head, and as bytes. */
const largeLength = 65_536;

/**
 * Sends answers, and counts those whose reader does not keep up. When they exceed the budget, the oldest ones of the address with
 * the most are dropped with their connections. So is an answer without progress for too long.
 */
export function createAnswers({ answerBudgetBytes, answerStallMs }: Limits, report: Report) {
  const giveUp = (response: ServerResponse, variable: string) => {
    report(variable);
    response.req.socket.destroy();
  };
  const unread = createHoldings<ServerResponse>(
    answerBudgetBytes,
    () => true,
    (response) => giveUp(response, 'ANSWER_BUDGET_BYTES'),
  );
  return {
    /** Sends the body of a response whose head is written. */
    send(response: ServerResponse, body: string, address: string): void {
      response.end(body.length > largeLength ? Buffer.from(body) : body);
      if (response.writableLength === 0) return;
      unread.add(address, response, Buffer.byteLength(body));
      response.once('close', () => unread.remove(address, response));
      // Node counts the time without progress, from the turn of a pipelined answer on, and keeps counting after its end.
      response.setTimeout(answerStallMs, () => giveUp(response, 'ANSWER_STALL_MS'));
      response.prependOnceListener('finish', () => response.setTimeout(0));
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
