import { constants } from 'node:os';
import { stopAllProgress, watchProgress } from './progress.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The child processes of a program. */
export interface Children {
  /** Calls back before a child starts. */
  watch(listener: () => void): void;
  /** Ends every child. */
  end(): Promise<void>;
}

let children: Children | undefined;
let isHandled = false;
let isEnding = false;

/**
 * On Ctrl-C, SIGTERM or SIGHUP, ends every child and restores the terminal; the exit code names the signal, 130 for Ctrl-C.
 * Before the first child and the first progress line, signals keep their default action, which stops busy code as well.
 */
export function onSignals(childProcesses?: Children): void {
  children = childProcesses;
  childProcesses?.watch(handleSignals);
  watchProgress(handleSignals);
}

let taking: AbortController | undefined;

/** Runs what waits for a signal: the first one aborts the given signal, and does not end the program until `wait` has settled. */
export async function untilSignal<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
  taking = new AbortController();
  handleSignals();
  try {
    return await wait(taking.signal);
  } finally {
    taking = undefined;
  }
}

let interrupted: (() => void) | undefined;

/**
 * Calls back before a signal ends the program, after its children have ended; undefined removes the listener. The listener
 * must be synchronous.
 */
export function onInterrupted(listener: (() => void) | undefined): void {
  interrupted = listener;
  if (listener) handleSignals();
}

/** For the rest of the run: a signal that has arrived is lost if its handler is removed before the event loop sees it. */
function handleSignals(): void {
  if (isHandled) return;
  isHandled = true;
  for (const signal of signals) {
    process.on(signal, () => {
      if (taking) taking.abort();
      else endProgram(128 + constants.signals[signal], () => interrupted?.());
    });
  }
}

/**
 * Ends the children, and then this process, whatever its command still does. Only the first call counts.
 *
 * @param beforeExit called when the children have ended
 */
export async function endProgram(exitCode: number, beforeExit?: () => void): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  stopAllProgress();
  await children?.end();
  beforeExit?.();
  process.exit(exitCode);
}

/** Whether `endProgram` decides the exit code, not the command. */
export function isProgramEnding(): boolean {
  return isEnding;
}
