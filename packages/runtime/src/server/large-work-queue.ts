// The turns of large pieces of work, with pauses for other callers.

import { setImmediate as nextEventLoopTurn, setTimeout as pause } from 'node:timers/promises';
import { isolatesRequests } from './limits.ts';

/**
 * Orders large pieces of work, such as large bodies and results. Each begins after a pause as long as the previous piece took. During the
 * pause, the server answers other callers, accepts connections and frees memory.
 *
 * @returns a function that takes the next turn and resolves when it begins
 */
export function createLargeWorkQueue(): () => Promise<void> {
  if (isolatesRequests()) return async () => {};
  let lastTurn = Promise.resolve();
  return () => {
    const turn = lastTurn;
    lastTurn = turn.then(async () => {
      const from = performance.now();
      await nextEventLoopTurn(); // the work is done
      await nextEventLoopTurn(); // and its answer is sent
      await pause(performance.now() - from, undefined, { ref: false });
    });
    return turn;
  };
}
