// Follows and asks a shared store, and works without it while it does not answer.

import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Log } from './server/log.ts';

/**
 * A store that all replicas of a server use. Each method rejects if the store cannot be reached; the server then works without it. How long
 * it waits for an answer, the server decides. Keys are short ASCII texts; times are in milliseconds.
 *
 * A store without `keep` is of version 0.3.0: it shares no answers, and its `claim` knows no owner and is called once.
 */
export interface SharedState {
  /** Adds entries to the end of a list, which then keeps about its last `most`. */
  append(list: string, entries: readonly string[], limit: number): Promise<void>;
  /** Some entries of a list, in order, after a position (null: the beginning). If there are none, waits so long for one. */
  read(list: string, after: string | null, waitMs: number): Promise<readonly SharedEntry[]>;
  /** Whether nobody but this owner has claimed the key; from now on, and for that time, it is claimed. */
  claim(key: string, ms: number, owner: string): Promise<boolean>;
  /**
   * Claims a key like `claim`, and returns the time since which the store has lost no claim. In the same step it compares the `run_id` of
   * its INFO with a marker, which has a `run_id` and a `since`. If the marker is missing, has another `run_id`, or has a `since` before
   * `latestSince`, claims may be lost. Then the store writes a marker with its `run_id` and the present time, or `latestSince` if that is
   * later. `since` is Unix time in seconds by the clock of the store, rounded up.
   *
   * @param marker The key of the marker.
   * @param latestSince The latest `since` that this replica has seen.
   */
  claimSince?(
    key: string,
    ms: number,
    owner: string,
    marker: string,
    latestSince: number,
  ): Promise<{ readonly isFirst: boolean; readonly since: number }>;
  /**
   * Takes one of the places of a key for that time; one that is taken already stays taken for that time from now.
   *
   * @returns 0, or how long until one of the places is free
   */
  take(key: string, place: string, places: number, ms: number): Promise<number>;
  /** The text of a key; null if it has none, or has expired. */
  get(key: string): Promise<string | null>;
  set(key: string, text: string, ms: number): Promise<void>;
  /** Like `set`, but the texts of a group use at most so many bytes of the store: those that expire first are removed. */
  keep?(group: string, key: string, text: string, ms: number, mostBytes: number): Promise<void>;
  /** The store's description of itself in the lines of Redis' INFO, such as `maxmemory_policy:noeviction`; null if it refuses. */
  info?(): Promise<string | null>;
}

/** An entry of a list. */
export interface SharedEntry {
  readonly position: string;
  readonly text: string;
}

export interface StoreOptions {
  /** Of the keys that it uses itself. */
  readonly prefix: string;
  /** The list that it follows. */
  readonly list: string;
  /** The variable with its address. */
  readonly variable: 'STATE_URL' | 'TOKEN_STATE_URL';
  readonly log: Log;
  /** Removes what the log must not contain. */
  readonly hide: (text: string) => string;
  readonly onEntry: (text: string) => void;
  /**
   * Called once with the store's description of itself; null if it is unknown.
   *
   * @throws Error if the store cannot be used
   */
  readonly onInfo: (info: string | null) => void;
  /** Called when it can be asked, for the first time and after each outage. */
  readonly onShared: () => void;
}

/** A store in use. */
export interface Store {
  isShared(): boolean;
  /** The answer to a command, which may be sent twice; `localAnswer` if the store cannot be asked. Never rejects. */
  ask<T, A>(command: () => Promise<T>, localAnswer: A): Promise<T | A>;
  /**
   * Resolves when the list is read and the store answers, or when it cannot be asked, at the latest after so many milliseconds.
   *
   * @throws Error if it is a store that cannot be used
   */
  start(waitMs: number): Promise<void>;
}

/** How long a call waits for an answer, at most twice. */
const answerMs = 100;
const readMs = 1_000;
/** More than a connection takes. */
const connectMs = 2_000;
const retryMs = 1_000;
const probeMs = 60_000;
const maxReason = 200;
/** A timer that is so late says that this process was busy. */
const busyMs = 20;

const cluster =
  'it is a Redis Cluster, which is not supported: name one server, or its Sentinels with redis+sentinel:.';

/**
 * Follows a list of a store, and asks it while it answers. While it does not, it is asked for nothing but whether it is back. The log
 * reports that once.
 */
export function createStore(state: SharedState, options: StoreOptions): Store {
  const { prefix, list, variable, log, hide } = options;
  const variableDetail = variable === 'STATE_URL' ? {} : { variable };
  const isTimed = state.keep !== undefined;
  let status: 'unknown' | 'shared' | 'alone' = 'unknown';
  let unusable: Error | undefined;
  let isDecided = () => {};
  let isKnown = false;

  const decide = (next: 'shared' | 'alone') => {
    status = next;
    isDecided();
  };
  const lose = (error: unknown) => {
    if (status !== 'alone') {
      log('state', {
        ...variableDetail,
        shared: false,
        reason: hide(connectionErrorText(error)).slice(0, maxReason),
      });
    }
    decide('alone');
  };
  const answerTo = <T>(command: () => Promise<T>) => (isTimed ? inTime(command) : command());

  const learn = async () => {
    const info = state.info ? await answerWithin(state.info(), readMs + connectMs) : null;
    try {
      if (info !== null && infoValue(info, 'cluster_enabled') === '1')
        throw new Error(`${variable}: ${cluster}`);
      options.onInfo(info);
    } catch (error) {
      unusable = error as Error;
      throw error;
    }
    isKnown = true;
  };

  const followed = follow(async (after) => {
    const waitMs = status === 'shared' ? readMs : 0;
    const reading = state.read(list, after, waitMs);
    if (isTimed) return answerWithin(reading, waitMs + connectMs);
    return reading;
  }, options.onEntry);

  /** Whether the store takes what calls wait for, in time. */
  const probe = async () => {
    await answerTo(() => state.set(`${prefix}probe`, '', probeMs));
    if (status === 'alone') log('state', { ...variableDetail, shared: true });
    decide('shared');
    options.onShared();
  };

  const run = async () => {
    for (;;) {
      try {
        if (!isKnown) await learn();
        const count = await followed.read();
        if (status !== 'shared' && count === 0) await probe();
      } catch (error) {
        followed.resume();
        lose(error);
        // Not all replicas at once.
        await pause(retryMs * (0.5 + Math.random()), undefined, { ref: false });
      }
    }
  };

  return {
    isShared: () => status === 'shared',
    async ask(command, localAnswer) {
      if (status !== 'shared') return localAnswer;
      try {
        return await answerTo(command);
      } catch (error) {
        lose(error);
        return localAnswer;
      }
    },
    async start(waitMs) {
      const decided = new Promise<void>((resolve) => {
        isDecided = resolve;
      });
      const timer = setTimeout(() => lose(new Error(`no answer in ${waitMs} ms`)), waitMs);
      void run();
      await decided.finally(() => clearTimeout(timer));
      if (unusable) throw unusable;
    },
  };
}

/** Follows a list from its beginning. */
function follow(
  entriesAfter: (position: string | null) => Promise<readonly SharedEntry[]>,
  onEntry: (text: string) => void,
) {
  /** The last two positions that were read. */
  let last: string | null = null;
  let previous: string | null = null;
  let isResuming = false;
  /** Reads what follows the last entry; all entries if that one is not there: it is another store, or one that has lost some. */
  const read = async (): Promise<number> => {
    let entries = await entriesAfter(isResuming ? previous : last);
    if (isResuming) {
      isResuming = false;
      if (last !== null && entries[0]?.position !== last) {
        last = null;
        previous = null;
        return read();
      }
      entries = entries.slice(last === null ? 0 : 1);
    }
    for (const { position, text } of entries) {
      previous = last;
      last = position;
      onEntry(text);
    }
    return entries.length;
  };
  return {
    read,
    /** The next read finds out whether the last entry is still there. */
    resume() {
      isResuming = true;
    },
  };
}

/** The value of a line of INFO. */
export function infoValue(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1];
}

/** No answer in time. */
class Late extends Error {
  /** How long this process was busy meanwhile, in milliseconds. */
  readonly busy: number;

  constructor(ms: number, busyTime: number) {
    const busyText = busyTime < busyMs ? '' : `; this replica was busy for ${Math.round(busyTime)} ms`;
    super(`no answer in ${ms} ms${busyText}`);
    this.busy = busyTime;
  }
}

/** Sends a command that is late once more. @throws Error why it has no answer */
async function inTime<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await answerWithin(command(), answerMs);
  } catch (error) {
    if (!(error instanceof Late)) throw error;
    return answerWithin(command(), answerMs).catch((second) => {
      throw second instanceof Late ? new Late(2 * answerMs, error.busy + second.busy) : second;
    });
  }
}

/** An answer; a `Late` error if there is none after that time, nor among what had arrived by then. */
function answerWithin<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const timer = setTimeout(async () => {
      const busyTime = performance.now() - from - ms;
      await nextTurn(); // reads what arrived while this process was busy
      await nextTurn(); // and of a connection that was behind others
      reject(new Late(ms, busyTime));
    }, ms);
    timer.unref();
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** An error of several connection attempts has no message, but a code. */
function connectionErrorText(error: unknown): string {
  const { message, code } = error as Partial<NodeJS.ErrnoException>;
  return message || code || String(error);
}
