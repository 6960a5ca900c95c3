import { AsyncLocalStorage } from 'node:async_hooks';
import { declarationOf, placeIn } from '../place.ts';
import { isProduction, logError } from '../process.ts';
import { callOf, type Running, runInside, type SourceLine } from '../server/call.ts';
import type { SourceError } from './errors.ts';

const running = new AsyncLocalStorage<Running>();
// It makes a call to an API 7% slower.
if (!isProduction() || process.env.SOURCES === 'live') runInside((call, run) => running.run(call, run));

/** The name of the tool that runs; undefined outside of a call, and in production unless a check runs. */
export function runningTool(): string | undefined {
  return running.getStore()?.tool;
}

interface Explanation extends Omit<SourceLine, 'code' | 'at'> {
  /** The member of the answer that is wrong: `answer.items[0].owner`. */
  readonly member?: string;
}

const explanations = new WeakMap<object, Explanation & { readonly code: string }>();

/** The same error, with what the log shall say of it and its caller does not learn. */
export function explained(error: SourceError, explanation: Explanation): SourceError {
  explanations.set(error, { code: error.code, ...explanation });
  return error;
}

/**
 * Runs a request of a tool. If it fails, standard error says why, with the tool and the call that runs: calls that share a
 * request have a line each.
 *
 * @param signal that of the request: in production, only it says which call runs
 */
export async function logged<T>(request: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const trace = isProduction() ? undefined : new Error();
  try {
    return await request();
  } catch (error) {
    const { member = '', ...known } = explanations.get(error as object) ?? {};
    if (!('code' in known)) throw error;
    const at = declarationOf(member, placeIn(trace?.stack));
    const { tool, request: id, traceparent, onSource } = running.getStore() ?? callOf(signal) ?? {};
    const { hint, ...what } = known;
    const line = { ...what, at, hint };
    logError('source', { tool, request: id, traceparent, ...line });
    onSource?.(line);
    throw error;
  }
}
