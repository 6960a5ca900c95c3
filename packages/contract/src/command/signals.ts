import { constants } from 'node:os';
import { stopAllProgress, watchProgress } from './progress.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const reasons = new Set<string>();

/** The child processes of a program. */
export interface Children {
  /** Calls back when the first child starts and when the last one has ended. */
  watch(listener: (some: boolean) => void): void;
  /** Ends every child. */
  end(): Promise<void>;
}

let children: Children | undefined;

/**
 * On Ctrl-C, SIGTERM or SIGHUP, ends every child and restores the terminal; the exit code names the signal, 130 for Ctrl-C.
 * Without children or a progress line, signals keep their default action, which stops busy code as well.
 */
export function onSignals(own?: Children): void {
  children = own;
  own?.watch((some) => handleFor('children', some));
  watchProgress((some) => handleFor('progress', some));
}

let interrupted: (() => void) | undefined;

/**
 * Calls back before a signal ends the program, after its children have ended; undefined removes the listener. The listener
 * must be synchronous.
 */
export function onInterrupted(listener: (() => void) | undefined): void {
  interrupted = listener;
  handleFor('listener', listener !== undefined);
}

function handleFor(reason: string, isGiven: boolean): void {
  if (isGiven) reasons.add(reason);
  else reasons.delete(reason);
  for (const signal of signals) {
    process.off(signal, end);
    if (reasons.size > 0) process.on(signal, end);
  }
}

async function end(signal: NodeJS.Signals): Promise<void> {
  // Progress events while the children end must neither stop nor restart this.
  watchProgress(() => {});
  for (const other of signals) process.off(other, end).on(other, () => {});
  stopAllProgress();
  await children?.end();
  interrupted?.();
  process.exit(128 + constants.signals[signal]);
}
