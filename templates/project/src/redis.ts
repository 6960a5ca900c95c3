import { Redis } from 'ioredis';
import type { SharedState } from 'market-mcp-runtime/serve';

/** Takes one of ARGV[2] places of a key for ARGV[3] ms: 0, or the ms until one is free. */
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
 * What the replicas of this server share, in Redis 5 or later, or Valkey. While Redis does not answer, each replica works alone: a call
 * waits for no command longer than commandTimeout, and for none until Redis is back.
 */
export function redisState(url: string): SharedState {
  const options = {
    lazyConnect: true,
    connectTimeout: 1_000,
    socketTimeout: 5_000,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempts: number) => Math.min(attempts * 100, 1_000),
  };
  const redis = new Redis(url, { ...options, commandTimeout: 100, enableOfflineQueue: false });
  // Waits for new entries, for a second at a time, so it has a connection of its own.
  const reader = new Redis(url, { ...options, commandTimeout: 2_000, enableOfflineQueue: false });
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
    async append(list, entries, most) {
      await Promise.all(entries.map((text) => redis.xadd(list, 'MAXLEN', '~', most, '*', 'text', text)));
    },
    async read(list, after, waitMs) {
      const from = [list, after ?? '0'];
      try {
        for (const connection of [redis, reader]) {
          if (connection.status === 'wait') await connection.connect();
        }
        const [found] =
          (waitMs > 0
            ? await reader.xread('COUNT', 200, 'BLOCK', waitMs, 'STREAMS', ...from)
            : await reader.xread('COUNT', 200, 'STREAMS', ...from)) ?? [];
        return (found?.[1] ?? []).map(([position, fields]) => ({ position, text: fields[1] ?? '' }));
      } catch (error) {
        throw failure ?? error;
      }
    },
    claim: async (key, ms) => (await redis.set(key, '', 'PX', ms, 'NX')) === 'OK',
    take: async (key, place, places, ms) => Number(await redis.eval(takePlace, 1, key, place, places, ms)),
    get: (key) => redis.get(key),
    async set(key, text, ms) {
      await redis.set(key, text, 'PX', ms);
    },
  };
}
