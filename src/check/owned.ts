import { setTimeout } from 'node:timers/promises';
import type { OwnedServer, ProcessEnding } from 'market-mcp-contract/wire';
import { findCrash } from './causes.ts';
import type { WatchedInstance, WatchedLaunch } from './launch.ts';
import { type Incident, printedErrors } from './logged.ts';

/** The checked server of a project, with its log. */
export interface WatchedServer extends OwnedServer {
  instance(): WatchedInstance;
  /** The errors in its code that all its processes have logged. */
  incidents(): readonly Incident[];
}

/** Milliseconds within which an ending process closes its output. */
const closingMs = 1_000;
const lastLines = 3;

/**
 * A server that keeps its address when it is restarted: tokens are issued for that address.
 *
 * @param directory the project; places in it are shown relative to it.
 */
export function ownedBy(first: WatchedInstance, launch: WatchedLaunch, directory: string): WatchedServer {
  const all = [first];
  const current = () => all.at(-1) ?? first;
  return {
    instance: current,
    incidents: () =>
      all.flatMap((instance) => [...instance.incidents(), ...printedErrors(instance.errors())]),
    async restart() {
      await current().stop();
      const next = await launch({ PORT: new URL(first.url).port });
      all.push(next);
      return next;
    },
    async ending(): Promise<ProcessEnding> {
      const instance = current();
      const exit = await Promise.race([instance.exit, setTimeout(closingMs, undefined, { ref: false })]);
      if (!exit) return {};
      const errors = instance.errors();
      const cause = findCrash(errors, directory);
      if (cause) return { exit, cause };
      return { exit, lastLines: errors.trim().split('\n').slice(-lastLines).join(' | ').slice(-300) };
    },
  };
}
