// The call in which a request to a source runs, and the memory of its responses.

import { AsyncLocalStorage } from 'node:async_hooks';
import { isProduction } from '../process.ts';
import { estimateAnswerMemory, type ReservedMemory, reserveForSource } from '../server/call-memory.ts';
import { attachCallsToSignals, callOfSignal, type RunningCall, wrapToolRuns } from '../server/run-call.ts';
import { overloadedError } from './source-errors.ts';

/** The call whose tool runs. Empty in production, unless a check with `--live` (`SOURCES=live`) runs. */
export const currentCall = new AsyncLocalStorage<RunningCall>();
attachCallsToSignals();
// AsyncLocalStorage makes a request 7% slower, so in production the call is found only by its signal.
const storesCall = !isProduction() || process.env.SOURCES === 'live';
if (storesCall) wrapToolRuns((call, run) => currentCall.run(call, run));

/** The name of the tool that runs; undefined outside of a call, and in production unless a check with `--live` (`SOURCES=live`) runs. */
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
 * @param reservedMemory of the response; empty or undefined if another call has taken it over, so that this call reserves further memory
 * @throws SourceError `OVERLOADED`
 */
export async function chargeResponse(
  text: string,
  reservedMemory: ReservedMemory | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const canTakeOver = reservedMemory?.isEmpty === false;
  const neededBytes = canTakeOver ? 0 : estimateAnswerMemory(text);
  if (!canTakeOver && neededBytes === 0) return;
  const callMemory = (currentCall.getStore() ?? callOfSignal(signal))?.memory;
  const chargedMemory = callMemory ?? reserveForSource();
  if (!chargedMemory) return;
  if (!callMemory) chargedMemory.releaseLater();
  if (canTakeOver) chargedMemory.adopt(reservedMemory);
  else if (!(await chargedMemory.addBytes(neededBytes))) throw overloadedError();
}
