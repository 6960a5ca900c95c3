// Stops a server: waits for running calls, then aborts them and closes the connections.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Connection, isIdle, isUnanswered } from './connections.ts';

/** Interval at which idle connections are closed. */
const sweepMs = 50;

/** Time in which a call that is being sent when the server stops may arrive. */
const arrivalMs = 500;

/** Time for the failures of aborted calls to reach their callers; half of a shorter grace period. */
const abortMs = 1_000;

/**
 * Accepts no more connections and closes those that are idle. Calls `stopCalls` shortly before the end of a grace period, and then
 * closes the other connections.
 *
 * @returns the number of requests that were cut off
 */
export function closeServer(
  server: Server,
  open: ReadonlyMap<Socket, Connection>,
  graceMs: number,
  stopCalls: () => void,
): Promise<number> {
  let cut = 0;
  const destroy = ({ socket, pending }: Connection) => {
    cut += [...pending].filter(isUnanswered).length;
    socket.destroy();
  };
  return new Promise((resolve) => {
    const lateAt = performance.now() + arrivalMs;
    // Node closes the connections that wait for a further request, but not the connections without any.
    for (const { socket, hasSentRequest, openedAt } of open.values())
      if (!hasSentRequest && performance.now() - openedAt > sweepMs) socket.destroy();
    const sweep = () => {
      const isLate = performance.now() > lateAt;
      for (const connection of open.values()) {
        if (connection.pending.size === 0 || (isLate && isIdle(connection))) destroy(connection);
      }
    };
    // After the next read, because requests may have arrived while this process was busy.
    const sweeping = setInterval(() => setImmediate(sweep), sweepMs);
    const lastMs = Math.min(abortMs, graceMs / 2);
    let deadline = setTimeout(() => {
      stopCalls();
      // Set only now, so that the failures have their full time even after a long turn of the event loop.
      deadline = setTimeout(() => {
        for (const connection of open.values()) destroy(connection);
      }, lastMs);
    }, graceMs - lastMs);
    server.close(() => {
      clearInterval(sweeping);
      clearTimeout(deadline);
      resolve(cut);
    });
  });
}
