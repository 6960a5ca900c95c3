// The state that replicas share through a store.

import { createHash, randomUUID } from 'node:crypto';
import { type Log, provideGauge } from './server/log.ts';
import type { Replicas } from './server/mcp-endpoint.ts';
import type { KeyUse } from './server/used-tokens.ts';
import type { TokenRules } from './server/verify-token.ts';
import { createStore, infoValue, type SharedState, type Store } from './store.ts';

/** What the requests to APIs share. Nothing here rejects. */
export type SourceState = Pick<SharedState, 'take' | 'get' | 'set'>;

/** What replicas share, and where. */
export interface ReplicaOptions {
  /** Of all keys, so that servers can share a store. */
  readonly namespace: string;
  /** Of all cached answers together, in the store. */
  readonly cacheBytes: number;
  /** Whether tokens are valid for one call. */
  readonly once: TokenRules['once'];
  /** The store of used tokens; null if they are in the common store. */
  readonly tokens: SharedState | null;
  readonly log: Log;
  /** Removes what the log must not contain. */
  readonly hide?: (text: string) => string;
}

const endedList = 'ended-sessions';
const maxEnded = 100_000;
/** Ended sessions that are kept for a store that does not answer. */
const maxUnsent = 10_000;
const batch = 100;
const maxIdLength = 100;

const outdated =
  'src/redis.ts is of an earlier version: cached answers are not shared, one late answer of Redis lets used tokens run again, and whether Redis removes keys is not known. Write it again with: market-mcp upgrade';

const withoutSince =
  'src/redis.ts is of an earlier version: after Redis has lost data, TOKEN_ONCE=strict lets used tokens run again. Write it again with: market-mcp upgrade';

let sourceState: SourceState | null = null;

/** The state that the requests of all replicas to APIs share; null if they share nothing. */
export function sharedSourceState(): SourceState | null {
  return sourceState;
}

/** Sets the shared state of the requests to APIs, whose files are loaded before the server starts. */
export function setSharedSourceState(state: SourceState): void {
  sourceState = state;
}

/**
 * Connects a replica to the others by a store. While the store does not answer, the replica works without the others: no key is
 * known to be used, each place is granted, and no key has a text.
 */
export function createReplicas(state: SharedState, options: ReplicaOptions) {
  const { namespace, cacheBytes, once, tokens, log, hide = (text) => text } = options;
  const prefix = `market-mcp:${namespace}:`;
  const list = prefix + endedList;
  const listeners: ((id: string) => void)[] = [];
  const unsent: string[] = [];
  let sending: Promise<void> | undefined;

  const send = async () => {
    await null; // what ends in this turn is sent together
    while (unsent.length > 0 && store.isShared()) {
      const entries = unsent.splice(0, batch);
      const append = async () => {
        await state.append(list, entries, maxEnded);
        return true;
      };
      if (!(await store.ask(append, false))) unsent.unshift(...entries);
    }
    sending = undefined;
  };
  const tokenState = tokens ?? state;
  const comparesRuns = once === 'strict' && tokenState.claimSince !== undefined;
  const onInfo = (variable: string, keepsTokens: boolean) => (info: string | null) => {
    if (keepsTokens && comparesRuns) requireRunId(variable, info);
    const text = warningOf(variable, info === null ? null : infoValue(info, 'maxmemory_policy'), keepsTokens);
    if (state.keep !== undefined && text) log('warning', { text });
    if (keepsTokens && comparesRuns && info !== null && !isDurable(info)) {
      log('warning', { text: `${variable}: ${notDurable}` });
    }
  };
  const sharedOptions = { prefix, log, hide };
  const store: Store = createStore(state, {
    ...sharedOptions,
    list,
    variable: 'STATE_URL',
    onEntry(text) {
      if (text.length <= maxIdLength) for (const listener of listeners) listener(text);
    },
    onInfo: onInfo('STATE_URL', once !== 'off' && tokens === null),
    onShared() {
      sending ??= send();
      if (tokens === null) renewMarker();
    },
  });
  provideGauge('shared', () => ({ value: Number(store.isShared()) }));
  const tokenStore = tokens
    ? createStore(tokens, {
        ...sharedOptions,
        list: `${prefix}tokens`, // nobody writes there: reading it shows that the store answers
        variable: 'TOKEN_STATE_URL',
        onEntry: () => {},
        onInfo: onInfo('TOKEN_STATE_URL', once !== 'off'),
        onShared: () => renewMarker(),
      })
    : null;

  const owner = randomUUID();
  const keyOf = (key: string) => prefix + createHash('sha256').update(key).digest('base64url');
  let latestSince = 0;
  const claimKey = async (key: string, ms: number): Promise<KeyUse> => {
    if (!comparesRuns || !tokenState.claimSince) {
      return { isFirst: await tokenState.claim(keyOf(key), ms, owner), lostBeforeSeconds: null };
    }
    const claim = await tokenState.claimSince(keyOf(key), ms, owner, `${prefix}run`, latestSince);
    latestSince = Math.max(latestSince, claim.since);
    return { isFirst: claim.isFirst, lostBeforeSeconds: claim.since };
  };
  const markUsed = (key: string, ms: number) => (tokenStore ?? store).ask(() => claimKey(key, ms), null);
  /** Marks a key of no token, so that the marker is as old as the connection, not as the first call. */
  const renewMarker = () => {
    if (comparesRuns) void markUsed('marker', 1);
  };
  const replicas: Replicas & SourceState = {
    endSession(id) {
      if (unsent.length >= maxUnsent) unsent.shift();
      unsent.push(id);
      sending ??= send();
      return sending;
    },
    follow: (listener) => void listeners.push(listener),
    markUsed,
    take: (key, place, places, ms) => store.ask(() => state.take(keyOf(key), place, places, ms), 0),
    get: (key) => store.ask(() => state.get(keyOf(key)), null),
    async set(key, text, ms) {
      if (state.keep === undefined || cacheBytes === 0) return;
      await store.ask(async () => state.keep?.(`${prefix}answers`, keyOf(key), text, ms, cacheBytes), null);
    },
  };
  return {
    replicas,
    /**
     * Resolves when all sessions that have ended are known, or when a store has not answered for so many milliseconds.
     *
     * @throws Error that names the variable of a store that cannot be used
     */
    async start(waitMs: number): Promise<void> {
      if (state.keep === undefined) log('warning', { text: outdated });
      if (once === 'strict' && !comparesRuns) log('warning', { text: withoutSince });
      await Promise.all([store.start(waitMs), tokenStore?.start(waitMs)]);
    },
  };
}

const notDurable =
  'the store has neither an append-only file nor replicas, so a restart loses used tokens. TOKEN_ONCE=strict then denies tokens by their iat only, and the clocks must be right. Set appendonly to yes, or add a replica.';

/** @throws Error if INFO has no `run_id` */
function requireRunId(variable: string, info: string | null): void {
  if (info !== null && infoValue(info, 'run_id')) return;
  throw new Error(
    `TOKEN_ONCE: "strict" needs run_id of INFO, which the server of ${variable} hides: lost tokens could not be noticed. Allow its user INFO, use another server, or set TOKEN_ONCE=on.`,
  );
}

/** Whether used tokens are in more places than the memory of one process. */
function isDurable(info: string): boolean {
  return infoValue(info, 'aof_enabled') === '1' || Number(infoValue(info, 'connected_slaves') ?? 0) > 0;
}

/** @param policy of the store when its memory is full; null or undefined if it is not known */
function warningOf(
  variable: string,
  policy: string | null | undefined,
  keepsTokens: boolean,
): string | undefined {
  const set = 'set maxmemory-policy to noeviction';
  if (!policy) {
    return `${variable}: whether the store removes keys when its memory is full cannot be known, because it does not answer INFO; ${set}.`;
  }
  const lost: string[] = [];
  if (keepsTokens && policy !== 'noeviction') lost.push('used tokens, which can then run again');
  if (policy.startsWith('allkeys')) lost.push('ended sessions');
  if (lost.length === 0) return undefined;
  const otherHint =
    keepsTokens && variable === 'STATE_URL'
      ? ', or give tokens a server of their own by TOKEN_STATE_URL'
      : '';
  return `${variable}: when its memory is full, the store removes keys (maxmemory-policy ${policy}): ${lost.join(' and ')}. To keep them, ${set}${otherHint}.`;
}
