import type { ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { provide, type ReportLimit } from './log.ts';

/** Limits on the memory and work that callers can cause. Sizes are in bytes, times in milliseconds. */
export interface Limits {
  /** Body of a request with a valid token. */
  readonly maxBodyBytes: number;
  /** Any other body, and the time to receive it. */
  readonly unpaidBodyBytes: number;
  readonly unpaidBodyMs: number;
  /** Everything that calls hold: bodies, arguments, answers of sources, results, and answers that wait for their readers. */
  readonly maxMemoryBytes: number;
  /** Time without progress after which an answer is dropped. */
  readonly answerStallMs: number;
  /** Open event streams. */
  readonly maxStreams: number;
  /** Calls that run at once, in total and with one token; they have no effect on a host that isolates requests. */
  readonly maxCalls: number;
  readonly maxCallsPerToken: number;
}

/** How the memory of everything that callers make the server hold is divided: no part can take from another. */
export const portions = {
  /** Bodies of requests without a valid token. */
  unpaidBodies: 1 / 8,
  /** Other bodies. */
  paidBodies: 1 / 4,
  /** Answers that wait for their readers. */
  unread: 1 / 8,
  /** Arguments of calls, answers of sources, and results. */
  calls: 1 / 2,
} as const;

/**
 * Holds items of a limited total size, each owned by a network. When the limit is exceeded, items end until the rest fits: of a
 * rank below that of the new item, or of a network that holds at least as much as the new item's; the lowest rank first, then the
 * network with the most, then the oldest. If there is none, the new item ends. So no network can displace those that hold less,
 * and many networks with little each do not keep out a new one.
 *
 * @param mayEnd whether an item may end for the sake of another
 * @param rankOf the rank of an item whose network holds this much
 */
export function createHoldings<Item>(
  limit: number,
  mayEnd: (item: Item, otherItem: Item) => boolean,
  end: (item: Item) => void,
  rankOf: (item: Item, heldCount: number) => number = () => 0,
) {
  /** Sizes by owner. An item has the number of all items before it. */
  const owners = new Map<string, Holder<Item>>();
  let total = 0;
  let count = 0;
  const remove = (owner: string, item: Item) => {
    const ownItems = owners.get(owner);
    const heldItem = ownItems?.items.get(item);
    if (!ownItems || !heldItem) return;
    total -= heldItem.size;
    ownItems.size -= heldItem.size;
    ownItems.items.delete(item);
    if (ownItems.items.size === 0) owners.delete(owner);
  };

  return {
    /** Adds an item, or to the size of an item. Returns false if an item had to end. */
    add(owner: string, item: Item, size = 1): boolean {
      const ownItems = owners.get(owner) ?? { size: 0, items: new Map() };
      const heldItem = ownItems.items.get(item) ?? { size: 0, order: count++ };
      heldItem.size += size;
      ownItems.size += size;
      owners.set(owner, ownItems);
      ownItems.items.set(item, heldItem);
      total += size;
      const fits = total <= limit;
      while (total > limit) {
        const ending = weakestItem(owners, owner, item, mayEnd, rankOf);
        remove(ending.owner, ending.item);
        end(ending.item);
      }
      return fits;
    },
    remove,
  };
}

/** The item that ends for a new one, and its owner. */
function weakestItem<Item>(
  owners: ReadonlyMap<string, Holder<Item>>,
  owner: string,
  item: Item,
  mayEnd: (item: Item, otherItem: Item) => boolean,
  rankOf: (item: Item, heldCount: number) => number,
) {
  const least = owners.get(owner)?.size ?? 0;
  const ownRank = rankOf(item, least);
  let found = { owner, item, rank: Number.POSITIVE_INFINITY, size: 0, order: 0 };
  for (const [otherOwner, { size, items }] of owners) {
    for (const [candidate, { order }] of items) {
      const rank = rankOf(candidate, size);
      if (rank > found.rank || (rank >= ownRank && size < least)) continue;
      const isWeaker = rank < found.rank || size > found.size || (size === found.size && order < found.order);
      if (isWeaker && candidate !== item && mayEnd(candidate, item))
        found = { owner: otherOwner, item: candidate, rank, size, order };
    }
  }
  return found;
}

interface Holder<Item> {
  size: number;
  readonly items: Map<Item, { size: number; readonly order: number }>;
}

/**
 * The network of a caller, which owns what the caller makes the server keep: an IPv4 address, or the first 64 bits of an IPv6
 * address, since one machine has all addresses that begin with them.
 *
 * @param address with or without brackets and zone; any other text is its own network
 */
export function networkOf(address: string): string {
  if (/^[\d.]+$/.test(address)) return address;
  const bareAddress = address.replace(/^\[([^\]]*)\].*$|%.*$/, '$1').toLowerCase();
  const plainAddress = bareAddress === '' ? address : bareAddress;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plainAddress)?.[1];
  // In Node 20, the expression of isIPv6 takes 3 ms to compile.
  if (mapped !== undefined || !plainAddress.includes(':') || !isIPv6(plainAddress))
    return mapped ?? plainAddress;
  const [head = '', tail] = plainAddress.split('::');
  const groups = head === '' ? [] : head.split(':');
  // An IPv4 address at the end stands for two groups.
  const endingOf = (text: string) =>
    text.split(':').flatMap((group) => (group.includes('.') ? [group, group] : group));
  const ending = tail ? endingOf(tail) : [];
  while (groups.length + ending.length < 8) groups.push('0');
  const first = [...groups, ...ending].slice(0, 4);
  return `${first.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** Node copies longer texts twice: behind the head, and as bytes. */
const largeLength = 65_536;

/**
 * Sends answers, and counts those whose reader does not keep up. When they exceed the budget, the oldest ones of the address with
 * the most are dropped with their connections. So is an answer without progress for too long.
 */
export function createAnswers({ maxMemoryBytes, answerStallMs }: Limits, reportLimit: ReportLimit) {
  const giveUp = (response: ServerResponse, variable: string) => {
    reportLimit(variable);
    response.req.socket.destroy();
  };
  const unread = createHoldings<ServerResponse>(
    maxMemoryBytes * portions.unread,
    () => true,
    (response) => giveUp(response, 'MAX_MEMORY_BYTES'),
  );
  return {
    /** Sends the body of a response whose head is written. @param owner asked only if the reader does not keep up */
    send(response: ServerResponse, body: string, owner: () => string): void {
      response.end(body.length > largeLength ? Buffer.from(body) : body);
      if (response.writableLength === 0) return;
      const address = owner();
      unread.add(address, response, Buffer.byteLength(body));
      response.once('close', () => unread.remove(address, response));
      // Node counts the time without progress, from the turn of a pipelined answer on, and keeps counting after its end.
      response.setTimeout(answerStallMs, () => giveUp(response, 'ANSWER_STALL_MS'));
      response.prependOnceListener('finish', () => response.setTimeout(0));
    },
  };
}

/**
 * Whether the host isolates requests, as workerd does: it drops what a request has begun when that request ends, so no other request
 * may wait for it, and no `finally` counts down what a caller that disconnects has begun. The host itself limits them.
 */
export function isolatesRequests(): boolean {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}

interface Calls {
  /** Registers a call if the limits allow one more. `leave` unregisters it. A call without a token (null) counts only in total. */
  enter(token: string | null): boolean;
  leave(token: string | null): void;
}

/** Counts running calls, in total and per token. */
export function createCalls({ maxCalls, maxCallsPerToken }: Limits, reportLimit: ReportLimit): Calls {
  if (isolatesRequests()) return { enter: () => true, leave() {} };
  const tokens = new Map<string, number>();
  let allCalls = 0;
  provide('calls', () => ({ value: allCalls }));
  provide('callsLimit', () => ({ value: maxCalls }));
  return {
    enter(token) {
      const callsOfToken = token === null ? 0 : (tokens.get(token) ?? 0);
      if (allCalls >= maxCalls || callsOfToken >= maxCallsPerToken) {
        reportLimit(allCalls >= maxCalls ? 'MAX_CALLS' : 'MAX_CALLS_PER_TOKEN');
        return false;
      }
      if (token !== null) tokens.set(token, callsOfToken + 1);
      allCalls++;
      return true;
    },
    leave(token) {
      allCalls--;
      if (token === null) return;
      const callsOfToken = tokens.get(token) ?? 0;
      if (callsOfToken > 1) tokens.set(token, callsOfToken - 1);
      else tokens.delete(token);
    },
  };
}

/** Nobody waits longer for others of the turn, in milliseconds, except for one piece of their work. */
const longTurn = 1;

/**
 * Lets the answers of one turn of the event loop be sent together: a write that finds its reader awake takes half the time of one that
 * wakes it, and code that runs again at once is in the caches.
 *
 * @returns a function that resolves when the turn ends, or has taken long
 */
export function createTurnEnd(): () => Promise<void> | undefined {
  if (isolatesRequests()) return () => undefined;
  let turn: ReturnType<typeof begin> | undefined;
  const begin = () => {
    let end = () => {};
    const promise = new Promise<void>((resolve) => {
      end = () => {
        if (turn?.promise === promise) turn = undefined;
        resolve();
      };
    });
    setImmediate(end);
    return { since: performance.now(), promise, end };
  };
  return () => {
    turn ??= begin();
    const { since, promise, end } = turn;
    if (performance.now() - since > longTurn) end();
    return promise;
  };
}

/**
 * Long work is done piece by piece, each after a pause as long as the previous piece took. During the pause the server answers
 * other callers, accepts connections and frees memory.
 *
 * @returns a function that takes the next turn and resolves when it begins
 */
export function createTurns(): () => Promise<void> {
  if (isolatesRequests()) return async () => {};
  let lastTurn = Promise.resolve();
  return () => {
    const turn = lastTurn;
    lastTurn = turn.then(async () => {
      const from = performance.now();
      await nextTurn(); // the work is done
      await nextTurn(); // and its answer is sent
      await pause(performance.now() - from, undefined, { ref: false });
    });
    return turn;
  };
}
