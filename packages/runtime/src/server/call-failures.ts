// The failures of calls that end for a reason of the server or of the caller.

import type { Failure } from './call-result.ts';

export const overloadedFailure: Failure = {
  code: 'OVERLOADED',
  message: 'The server has too little memory for this result at the moment.',
};
export const cancelledFailure: Failure = { code: 'CANCELLED', message: 'The caller disconnected.' };
export const expiredFailure: Failure = {
  code: 'DEADLINE_EXCEEDED',
  message: 'The tool did not answer before the deadline of a call.',
};
/** For tools that only read: it contains a word that makes a platform call again. */
export const stoppedReadFailure: Failure = {
  code: 'SERVER_STOPPING',
  message: 'The server stopped before the tool answered (503). Call it again.',
};
export const stoppedFailure: Failure = {
  code: 'SERVER_STOPPING',
  message: 'The server stopped before the tool answered. It is not known whether the call took effect.',
};
const abortFailures: ReadonlySet<unknown> = new Set([
  cancelledFailure,
  expiredFailure,
  stoppedReadFailure,
  stoppedFailure,
]);

/** Returns whether a value is the failure of a call that was aborted while its tool ran. */
export function isAbortFailure(value: unknown): value is Failure {
  return abortFailures.has(value);
}
