import { Redis } from 'ioredis';
import type { Sentinel, SharedState } from 'market-mcp-runtime/serve';

/** Takes one of the ARGV[2] places at KEYS[1] for ARGV[3] ms. Returns 0, or the ms until a place is free. */
const takePlace = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local isTaken = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not isTaken and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return math.ceil(redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] - now)
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIREAT', KEYS[1], redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return 0`;

/**
 * Stores the text ARGV[1] at KEYS[3] for ARGV[2] ms. KEYS[1] sorts the keys of all such texts by their expiry. KEYS[2] has the bytes of each
 * text, with the memory that Redis adds, and the sum as `all`. If the sum exceeds ARGV[3], the texts that expire first are removed.
 */
const keepText = `
local time = redis.call('TIME')
local size = #ARGV[1] + 2 * #KEYS[3] + 400
local function remove(key)
  redis.call('ZREM', KEYS[1], key)
  redis.call('HINCRBY', KEYS[2], 'all', 0 - (redis.call('HGET', KEYS[2], key) or 0))
  redis.call('HDEL', KEYS[2], key)
  redis.call('DEL', key)
end
remove(KEYS[3])
if size > tonumber(ARGV[3]) then return end
while redis.call('HGET', KEYS[2], 'all') + size > tonumber(ARGV[3]) do
  local first = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if first then remove(first) else redis.call('HSET', KEYS[2], 'all', 0) end
end
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2], KEYS[3])
redis.call('HSET', KEYS[2], KEYS[3], size)
redis.call('HINCRBY', KEYS[2], 'all', size)
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
for index = 1, 2 do redis.call('PEXPIREAT', KEYS[index], last) end`;

/**
 * Claims KEYS[2] for the owner ARGV[1] for ARGV[2] ms. Returns 1 if no other owner has claimed it, and the second since which Redis has
 * lost no claim. The marker at KEYS[1] has that second, and the run of Redis that wrote it. If the marker is missing, of another run, or
 * from before ARGV[3], claims may be lost: it is written with the present second, rounded up.
 */
const claimKey = `
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local marker = redis.call('HMGET', KEYS[1], 'run_id', 'since')
local since = tonumber(marker[2] or 0)
local latest = tonumber(ARGV[3])
if marker[1] ~= run or since < latest then
  since = math.max(redis.call('TIME')[1] + 1, latest)
  redis.call('HSET', KEYS[1], 'run_id', run, 'since', since)
end
local isFree = redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2], 'NX')
local isFirst = isFree or redis.call('GET', KEYS[2]) == ARGV[1]
return { isFirst and 1 or 0, since }`;

/**
 * The state that the replicas of this server share, in Redis 5 or later, or Valkey: at one URL, or where Sentinels say. While Redis does not
 * answer, each replica works alone. The runtime limits how long a call waits for Redis.
 */
export function redisState(url: string, sentinel?: Sentinel): SharedState {
  const options = {
    lazyConnect: true,
    enableOfflineQueue: false,
    connectTimeout: 1_000,
    sentinelCommandTimeout: 1_000,
    socketTimeout: 5_000,
    maxRetriesPerRequest: 0,
    // At a random time, so that not all replicas connect at once.
    retryStrategy: (attempts: number) => Math.min(attempts * 100, 1_000) * (0.5 + Math.random()),
    // After a failover, this server takes no writes, and the name or the Sentinels lead to another one.
    reconnectOnError: ({ message }: Error) => /READONLY|UNBLOCKED/.test(message),
  };
  const connection = () =>
    sentinel
      ? new Redis({ ...options, ...sentinel, sentinels: [...sentinel.sentinels] })
      : new Redis(url, options);
  const redis = connection();
  // Waiting for new entries blocks a connection for up to a second, so it has a separate one.
  const reader = connection();
  const connect = async () => {
    for (const connection of [redis, reader]) {
      if (connection.status === 'wait') await connection.connect();
    }
  };
  let failure: Error | undefined;
  for (const connection of [redis, reader]) {
    connection.on('error', (error: Error) => {
      failure = error;
    });
    connection.on('ready', () => {
      failure = undefined;
    });
  }
  return {
    async append(list, entries, maxEntries) {
      const add = (text: string) => redis.xadd(list, 'MAXLEN', '~', maxEntries, '*', 'text', text);
      await Promise.all(entries.map(add));
    },
    async read(list, after, waitMs) {
      const from = [list, after ?? '0'];
      try {
        await connect();
        const streams =
          waitMs > 0
            ? await reader.xread('COUNT', 200, 'BLOCK', waitMs, 'STREAMS', ...from)
            : await reader.xread('COUNT', 200, 'STREAMS', ...from);
        return (streams?.[0]?.[1] ?? []).map(([position, fields]) => ({ position, text: fields[1] ?? '' }));
      } catch (error) {
        throw failure ?? error;
      }
    },
    claim: async (key, ms, owner) =>
      (await redis.set(key, owner, 'PX', ms, 'NX')) === 'OK' || (await redis.get(key)) === owner,
    async claimSince(key, ms, owner, marker, latestSince) {
      const answer = await redis.eval(claimKey, 2, marker, key, owner, ms, latestSince);
      const [isFirst, since] = answer as [number, number];
      return { isFirst: isFirst === 1, since };
    },
    take: async (key, place, places, ms) => Number(await redis.eval(takePlace, 1, key, place, places, ms)),
    get: (key) => redis.get(key),
    async set(key, text, ms) {
      await redis.set(key, text, 'PX', ms);
    },
    async keep(group, key, text, ms, maxBytes) {
      await redis.eval(keepText, 3, group, `${group}:bytes`, key, text, ms, maxBytes);
    },
    async info() {
      try {
        await connect();
        return await redis.info();
      } catch (error) {
        if ((error as Error).name === 'ReplyError') return null;
        throw failure ?? error;
      }
    },
  };
}
