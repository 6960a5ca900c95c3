// The call in which a request to a source runs, and the memory of its responses.

import { AsyncLocalStorage } from 'node:async_hooks';
import { isProduction } from '../process.ts';
import { answerWeight, type ReservedMemory, reserveForSource } from '../server/call-memory.ts';
import { callOfSignal, type RunningCall, tieCallsToSignals } from '../server/run-call.ts';
import { overloaded } from './source-errors.ts';

/** The call whose tool runs. Empty in production, unless a live check runs. */
export const currentCall = new AsyncLocalStorage<RunningCall>();
// AsyncLocalStorage makes a request 7% slower, so in production the call is found by its signal.
const storesCall = !isProduction() || process.env.SOURCES === 'live';
tieCallsToSignals(storesCall ? (call, run) => currentCall.run(call, run) : undefined);

/** The name of the tool that runs; undefined outside of a call, and in production unless a check runs. */
export function runningTool(): string | undefined {
  return currentCall.getStore()?.tool;
}

/** The name of the tool that runs, or whose call has this signal. In production, only the signal identifies the call. */
export function callingTool(signal: AbortSignal | undefined): string | undefined {
  return (currentCall.getStore() ?? callOfSignal(signal))?.tool;
}

/**
 * Counts the memory of a response for the call that has this signal, until the call ends. In production, the call of a request without a
 * signal is unknown. The memory then stays reserved for the time limit of a call.
 *
 * @param reservedMemory of the response; empty or undefined if another call has taken it over, so that this call reserves its own
 * @throws SourceError `OVERLOADED`
 */
export async function chargeResponse(
  text: string,
  reservedMemory: ReservedMemory | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const canTakeOver = reservedMemory?.isEmpty === false;
  const weight = canTakeOver ? 0 : answerWeight(text);
  if (!canTakeOver && weight === 0) return;
  const ofCall = (currentCall.getStore() ?? callOfSignal(signal))?.memory;
  const ownMemory = ofCall ?? reserveForSource();
  if (!ownMemory) return;
  if (!ofCall) ownMemory.releaseLater();
  if (canTakeOver) ownMemory.adopt(reservedMemory);
  else if (!(await ownMemory.addBytes(weight))) throw overloaded();
}
