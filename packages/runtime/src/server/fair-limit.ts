// A limit on connections, bodies, streams and unread responses, shared fairly among the networks of callers.

import { isIPv6 } from 'node:net';

/**
 * Limits the total size of items, each owned by a network. When the limit is exceeded, items end until the rest fits. An item may end if
 * its rank is below the rank of the new item. It may also end if its network has at least as much as the network of the new item. The
 * lowest rank ends first, then the largest network, then the oldest item. If no item may end, the new item ends. So a network cannot displace
 * networks that have less, and many networks with little each do not keep out a new one.
 *
 * @param mayEnd whether an item may end to make room for another
 * @param rankOf the rank of an item, with the size of all items of its network
 */
export function createFairLimit<Item>(
  limit: number,
  mayEnd: (item: Item, otherItem: Item) => boolean,
  end: (item: Item) => void,
  rankOf: (item: Item, networkSize: number) => number = () => 0,
) {
  /** The items by network. The order of an item is the number of items added before it. */
  const networks = new Map<string, NetworkItems<Item>>();
  let totalSize = 0;
  let addedCount = 0;
  const remove = (owner: string, item: Item) => {
    const ownItems = networks.get(owner);
    const listedItem = ownItems?.items.get(item);
    if (!ownItems || !listedItem) return;
    totalSize -= listedItem.size;
    ownItems.size -= listedItem.size;
    ownItems.items.delete(item);
    if (ownItems.items.size === 0) networks.delete(owner);
  };

  return {
    /** Adds an item, or increases its size. Returns false if an item had to end. */
    add(owner: string, item: Item, size = 1): boolean {
      const ownItems = networks.get(owner) ?? { size: 0, items: new Map() };
      const listedItem = ownItems.items.get(item) ?? { size: 0, order: addedCount++ };
      listedItem.size += size;
      ownItems.size += size;
      networks.set(owner, ownItems);
      ownItems.items.set(item, listedItem);
      totalSize += size;
      const fits = totalSize <= limit;
      while (totalSize > limit) {
        const ending = findItemToEnd(networks, owner, item, mayEnd, rankOf);
        remove(ending.owner, ending.item);
        end(ending.item);
      }
      return fits;
    },
    remove,
  };
}

/** The item that ends for a new one, and its owner. */
function findItemToEnd<Item>(
  networks: ReadonlyMap<string, NetworkItems<Item>>,
  owner: string,
  item: Item,
  mayEnd: (item: Item, otherItem: Item) => boolean,
  rankOf: (item: Item, networkSize: number) => number,
) {
  const ownSize = networks.get(owner)?.size ?? 0;
  const ownRank = rankOf(item, ownSize);
  let itemToEnd = { owner, item, rank: Number.POSITIVE_INFINITY, size: 0, order: 0 };
  for (const [otherOwner, { size, items }] of networks) {
    for (const [candidate, { order }] of items) {
      const rank = rankOf(candidate, size);
      if (rank > itemToEnd.rank || (rank >= ownRank && size < ownSize)) continue;
      const isWeaker =
        rank < itemToEnd.rank ||
        size > itemToEnd.size ||
        (size === itemToEnd.size && order < itemToEnd.order);
      if (isWeaker && candidate !== item && mayEnd(candidate, item))
        itemToEnd = { owner: otherOwner, item: candidate, rank, size, order };
    }
  }
  return itemToEnd;
}

interface NetworkItems<Item> {
  size: number;
  readonly items: Map<Item, { size: number; readonly order: number }>;
}

/**
 * The network of a caller, which owns the caller's connections, bodies and streams. It is an IPv4 address, or the first 64 bits of an
 * IPv6 address, because one machine has all addresses that begin with these bits.
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
