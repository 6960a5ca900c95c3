import { constants } from 'node:os';
import { endChildren } from '../system/children.ts';
import { stopAllProgress } from './progress.ts';

/** Ctrl-C and a kill end every child first and give the terminal back; the exit code names the signal, 130 for Ctrl-C. */
export function onSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      endChildren();
      stopAllProgress();
      process.exit(128 + constants.signals[signal]);
    });
  }
}
