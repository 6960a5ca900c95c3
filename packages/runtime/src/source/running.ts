import { AsyncLocalStorage } from 'node:async_hooks';
import { declarationOf, firstPlaceIn } from '../place.ts';
import { isProduction, logError } from '../process.ts';
import { callOfSignal, followCalls, type RunningCall, type SourceLine } from '../server/call.ts';
import { answerWeight, type HeldMemory, heldBySource } from '../server/memory.ts';
import { overloaded, type SourceError } from './errors.ts';

const currentCall = new AsyncLocalStorage<RunningCall>();
// AsyncLocalStorage makes a request 7% slower, so production reads the call from its signal.
const storesCall = !isProduction() || process.env.SOURCES === 'live';
followCalls(storesCall ? (call, run) => currentCall.run(call, run) : undefined);

/** The name of the tool that runs; undefined outside of a call, and in production unless a check runs. */
export function runningTool(): string | undefined {
  return currentCall.getStore()?.tool;
}

/** The name of the tool whose call has this signal, or runs; in production, only a signal tells. */
export function callingTool(signal: AbortSignal | undefined): string | undefined {
  return (currentCall.getStore() ?? callOfSignal(signal))?.tool;
}

/**
 * Lets the call that has this signal hold the memory of an answer until its end. In production, a request without a signal belongs to
 * no known call: the answer is then held for as long as a call may take.
 *
 * @param heldMemory what the answer has taken; empty or undefined if another call holds that, and this one needs as much
 * @throws SourceError `OVERLOADED`
 */
export async function holdAnswer(
  text: string,
  heldMemory: HeldMemory | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isTaken = heldMemory?.isEmpty === false;
  const weight = isTaken ? 0 : answerWeight(text);
  if (!isTaken && weight === 0) return;
  const ofCall = (currentCall.getStore() ?? callOfSignal(signal))?.held;
  const ownMemory = ofCall ?? heldBySource();
  if (!ownMemory) return;
  if (!ofCall) ownMemory.releaseLater();
  if (isTaken) ownMemory.adopt(heldMemory);
  else if (!(await ownMemory.add(weight))) throw overloaded();
}

interface Explanation extends Omit<SourceLine, 'code' | 'at'> {
  /** The member of the answer that is wrong: `answer.items[0].owner`. */
  readonly member?: string;
}

const explanations = new WeakMap<object, Explanation & { readonly code: string }>();

/** The same error, with the details for the log, which its caller does not learn. */
export function explained(error: SourceError, explanation: Explanation): SourceError {
  explanations.set(error, { code: error.code, ...explanation });
  return error;
}

/** The HTTP status of the answer that was a failure; undefined if there was none. */
export function failureStatus(error: unknown): number | undefined {
  return explanations.get(error as object)?.status;
}

/**
 * Runs a request of a tool. If it fails, logs why, with the tool and its call: calls that share a request have a line each.
 *
 * @param signal of the call: in production, only the signal says which call runs
 */
export async function logFailureOf<T>(
  request: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const trace = isProduction() ? undefined : new Error();
  try {
    return await request();
  } catch (error) {
    const { member = '', ...explanation } = explanations.get(error as object) ?? {};
    if (!('code' in explanation)) throw error;
    const at = declarationOf(member, firstPlaceIn(trace?.stack));
    const { tool, requestId, traceparent, onSource } = currentCall.getStore() ?? callOfSignal(signal) ?? {};
    const { hint, ...problem } = explanation;
    const line = { ...problem, at, hint };
    logError('source', { tool, request: requestId, traceparent, ...line });
    onSource?.(line);
    throw error;
  }
}
