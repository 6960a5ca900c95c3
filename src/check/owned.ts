import { setTimeout } from 'node:timers/promises';
import type { Ending, OwnedServer } from '../contract/target.ts';
import { crashIn } from './causes.ts';
import type { Launching, Watched } from './launch.ts';
import { type Incident, printedErrors } from './logged.ts';

/** A server of a project that is examined: what it logs is known. */
export interface WatchedServer extends OwnedServer {
  instance(): Watched;
  /** What every process of it has logged of errors in its own code. */
  incidents(): readonly Incident[];
}

/** Milliseconds in which a process that ends closes its output. */
const closingMs = 1_000;
const lastLines = 3;

/**
 * A server whose address stays the same over restarts: tokens are made out to it.
 *
 * @param directory the project; places in it are shown relative to it.
 */
export function ownedBy(first: Watched, launch: Launching, directory: string): WatchedServer {
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
    async ending(): Promise<Ending> {
      const instance = current();
      const exit = await Promise.race([instance.exit, setTimeout(closingMs, undefined, { ref: false })]);
      if (!exit) return {};
      const cause = crashIn(instance.errors(), directory);
      return cause ? { exit, cause } : { exit, lastLines: lastLinesOf(instance.errors()) };
    },
  };
}

function lastLinesOf(errors: string): string {
  return errors.trim().split('\n').slice(-lastLines).join(' | ').slice(-300);
}
