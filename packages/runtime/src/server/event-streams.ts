// The event streams of `GET /mcp`.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createFairLimit } from './fair-limit.ts';
import type { Limits } from './limits.ts';
import { provideGauge, type ReportLimit } from './log.ts';

const keepAliveMs = 25_000;

const keepAlive = ': keep-alive\n\n';

/**
 * The open event streams of `GET /mcp`: the newest one of each session and of each connection. A server with only tools
 * sends no events; comments keep proxies from closing the stream.
 */
export function createStreams({ maxStreams }: Pick<Limits, 'maxStreams'>, reportLimit: ReportLimit) {
  const newest = new Map<string | Socket, ServerResponse>();
  const streams = createFairLimit<ServerResponse>(
    maxStreams,
    () => true,
    (stream) => stream.end(),
  );
  provideGauge('streams', () => ({ value: new Set(newest.values()).size }));
  return {
    /** Starts a stream on a response whose head is written. */
    open(session: string, address: string, socket: Socket, response: ServerResponse): void {
      const timer = setInterval(() => {
        // An ended response may still wait for others; a write would crash the process.
        if (!response.writableEnded) response.write(keepAlive);
      }, keepAliveMs).unref();
      newest.get(session)?.end();
      for (const owner of [session, socket]) newest.set(owner, response);
      response.once('close', () => {
        clearInterval(timer);
        streams.remove(address, response);
        for (const owner of [session, socket]) {
          if (newest.get(owner) === response) newest.delete(owner);
        }
      });
      response.write(keepAlive);
      if (!streams.add(address, response)) reportLimit('MAX_STREAMS');
    },
    /** Ends the stream of a session or a connection. */
    close(owner: string | Socket): void {
      newest.get(owner)?.end();
    },
    closeAll(): void {
      for (const stream of newest.values()) stream.end();
    },
  };
}
