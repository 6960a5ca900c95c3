import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from './server/log.ts';
import { provide } from './server/readings.ts';
import type { Replicas } from './server/session.ts';

/**
 * A store that all replicas of a server use. Each method rejects if the store does not answer in time; the server then works
 * alone. Keys are short ASCII texts; times are in milliseconds.
 */
export interface SharedState {
  /** Adds entries to the end of a list, which then keeps about its last `most`. */
  append(list: string, entries: readonly string[], most: number): Promise<void>;
  /** Some entries of a list, in order, after a position (null: the beginning). If there are none, waits so long for one. */
  read(list: string, after: string | null, waitMs: number): Promise<readonly SharedEntry[]>;
  /** Whether nobody has claimed the key; from now on, and for that time, it is claimed. */
  claim(key: string, ms: number): Promise<boolean>;
  /**
   * Takes one of the places of a key for that time; one that is taken already stays taken for that time from now.
   *
   * @returns 0, or how long until one of the places is free
   */
  take(key: string, place: string, places: number, ms: number): Promise<number>;
  /** The text of a key; null if it has none, or has expired. */
  get(key: string): Promise<string | null>;
  set(key: string, text: string, ms: number): Promise<void>;
}

/** An entry of a list. */
export interface SharedEntry {
  readonly position: string;
  readonly text: string;
}

/** What the requests to APIs share. Nothing here rejects. */
export type SourceState = Pick<SharedState, 'take' | 'get' | 'set'>;

const endedList = 'ended-sessions';
const maxEnded = 100_000;
/** Ended sessions that are kept for a store that does not answer. */
const maxUnsent = 10_000;
const batch = 100;
const maxIdLength = 100;
const maxReason = 200;
const readMs = 1_000;
const retryMs = 1_000;
const probeMs = 60_000;

let ofSources: SourceState | null = null;

/** What the requests to APIs share; null if they share nothing. */
export function sharedBySources(): SourceState | null {
  return ofSources;
}

/** Lets the requests to APIs, whose files are loaded before the server starts, share from now on. */
export function shareWithSources(state: SourceState): void {
  ofSources = state;
}

/**
 * Connects a replica to the others by a store. While the store does not answer, the replica asks it for nothing but whether it is
 * back, and works alone: each claim and each place is granted, and no key has a text. The log says so once.
 *
 * @param namespace of all keys, so that servers can share a store
 * @param hide removes what the log must not contain
 */
export function createReplicas(
  state: SharedState,
  namespace: string,
  log: Log,
  hide = (text: string) => text,
) {
  const prefix = `market-mcp:${namespace}:`;
  const list = prefix + endedList;
  const listeners: ((id: string) => void)[] = [];
  let status: 'unknown' | 'shared' | 'alone' = 'unknown';
  provide('shared', () => ({ value: Number(status === 'shared') }));
  let isDecided = () => {};
  const unsent: string[] = [];
  let sending: Promise<void> | undefined;

  const decide = (next: 'shared' | 'alone') => {
    status = next;
    isDecided();
  };
  const lose = (error: unknown) => {
    if (status !== 'alone') {
      log('state', { shared: false, reason: hide(textOf(error)).slice(0, maxReason) });
    }
    decide('alone');
  };
  const ask = async <T>(command: () => Promise<T>, alone: T): Promise<T> => {
    if (status !== 'shared') return alone;
    try {
      return await command();
    } catch (error) {
      lose(error);
      return alone;
    }
  };

  const send = async () => {
    await null; // what ends in this turn is sent together
    while (unsent.length > 0 && status === 'shared') {
      const entries = unsent.splice(0, batch);
      try {
        await state.append(list, entries, maxEnded);
      } catch (error) {
        unsent.unshift(...entries);
        lose(error);
      }
    }
    sending = undefined;
  };

  const retry = () => pause(retryMs, undefined, { ref: false });
  /** Whether the store takes what calls wait for, in time. */
  const probe = async () => {
    try {
      await state.set(`${prefix}probe`, '', probeMs);
    } catch (error) {
      lose(error);
      return retry();
    }
    if (status === 'alone') log('state', { shared: true });
    decide('shared');
    sending ??= send();
  };

  /** Reads what others append, all of it again after each failure: the store may have lost it or be another one. */
  const run = async () => {
    let after: string | null = null;
    for (;;) {
      try {
        const entries = await state.read(list, after, status === 'shared' ? readMs : 0);
        for (const { position, text } of entries) {
          after = position;
          if (text.length <= maxIdLength) for (const listener of listeners) listener(text);
        }
        if (status !== 'shared' && entries.length === 0) await probe();
      } catch (error) {
        after = null;
        lose(error);
        await retry();
      }
    }
  };

  const keyOf = (key: string) => prefix + createHash('sha256').update(key).digest('base64url');
  const replicas: Replicas & SourceState = {
    endSession(id) {
      if (unsent.length >= maxUnsent) unsent.shift();
      unsent.push(id);
      sending ??= send();
      return sending;
    },
    follow: (ended) => void listeners.push(ended),
    claim: (key, ms) => ask(() => state.claim(keyOf(key), ms), true),
    take: (key, place, places, ms) => ask(() => state.take(keyOf(key), place, places, ms), 0),
    get: (key) => ask(() => state.get(keyOf(key)), null),
    set: (key, text, ms) => ask(() => state.set(keyOf(key), text, ms), undefined),
  };
  return {
    replicas,
    /** Resolves when all sessions that have ended are known, or when the store has not answered for so many milliseconds. */
    start(waitMs: number): Promise<void> {
      const decided = new Promise<void>((resolve) => {
        isDecided = resolve;
      });
      const late = setTimeout(() => lose(new Error(`no answer in ${waitMs} ms`)), waitMs);
      void run();
      return decided.finally(() => clearTimeout(late));
    },
  };
}

/** An error of several connection attempts has no message, but a code. */
function textOf(error: unknown): string {
  const { message, code } = error as Partial<NodeJS.ErrnoException>;
  return message || code || String(error);
}
