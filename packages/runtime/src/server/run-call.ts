// Runs a tool for one call: arguments, time limit, outcome, comparison with the outputSchema, incidents.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { cancelled, expired, isAbortFailure, overloaded, stopped, stoppedReading } from './call-failures.ts';
import { answerWeight, type ReservedMemory } from './call-memory.ts';
import {
  CallFailure,
  type CallResult,
  type CheckedResult,
  dataResult,
  type Failure,
  failureResult,
  formatProblem,
  outcomeResult,
  retryWords,
  serializeData,
} from './call-result.ts';
import type { JsonObject, Outcome, Outcomes, Tool } from './define-tool.ts';
import { errorDetail } from './error-detail.ts';
import { maxDetail, type RequestIds, type RequestLine, type RunningOperation } from './log.ts';
import { addMissingNulls } from './missing-nulls.ts';
import { type CompiledTool, holdsInfinity, isObject, type SchemaProblem } from './schema.ts';

/** An error of a tool. The caller sees only its id. */
export interface Incident {
  /** The id of the request. */
  readonly id: string;
  readonly traceparent?: string | undefined;
  readonly tool: string;
  /** `INTERNAL_ERROR` or `OUTPUT_MISMATCH`. */
  readonly code: string;
  /** An error, or how the answer differs from the outputSchema, with a stack; a mismatch has none in production. */
  readonly detail: string;
  /** What to do, one sentence. */
  readonly hint?: string;
}

/** Subscribes to the end of the caller's connection. The returned function unsubscribes. */
export type OnDisconnect = (listener: () => void) => () => void;

/** The log line of a failure for which a tool gave a cause. The caller gets the code, but nothing of the cause. */
export interface FailureLine extends RequestLine {
  readonly tool: string;
  /** The code that the tool chose. */
  readonly code: string;
  /** The stack of the error and of its causes, without keys. */
  readonly detail: string;
}

/** The log entry of a failed request to a source: never a query, a header or a body. */
export interface SourceLine {
  readonly code: string;
  readonly method?: string;
  readonly host?: string;
  /** As the author wrote it. */
  readonly path?: string;
  /** The HTTP status of the response. */
  readonly status?: number | undefined;
  /** What happened. */
  readonly detail: string;
  /** The place of the author's code, `src/tools/get-gas.ts:24`; absent in production. */
  readonly at?: string | undefined;
  /** What to do, one sentence. */
  readonly hint?: string | undefined;
}

/** A call that runs: the members of its log lines, and its memory. */
export interface RunningCall extends RequestIds {
  readonly tool: string;
  /** Receives the failures of its sources, as they are logged. */
  readonly onSource?: ((line: SourceLine) => void) | undefined;
  /** Reserved for the call until its result is sent. */
  readonly memory?: ReservedMemory | undefined;
}

/** The request that a method answers. */
export interface RequestContext extends RequestIds {
  readonly onDisconnect: OnDisconnect;
  /** Reserved for the request until its response is sent. */
  readonly memory?: ReservedMemory;
  /** The published operation; undefined if nothing subscribes. */
  readonly operation?: RunningOperation | undefined;
}

export interface CallContext extends RequestContext, Pick<RunningCall, 'onSource'> {
  readonly timeoutMs: number | undefined;
  /** Calls `abort` when the server stops before the call has ended. The returned function unsubscribes. */
  readonly onStop?: (abort: () => void) => () => void;
  /** Whether an incident names the line that called `found`. That takes time, so it is false in production. */
  readonly keepsFoundStack?: boolean;
  onIncident(incident: Incident): void;
  /** Receives the cause that the tool gave for a failure. */
  readonly onFailure?: (line: FailureLine) => void;
  /** Whether a required member that the tool left out becomes null, if its schema admits null. Otherwise this is an incident. */
  readonly fillsMissing?: boolean;
  /** Receives the path of each member that was filled. */
  readonly onMissing?: ((path: string) => void) | undefined;
  /** Resolves when the next large result may be built. */
  readonly waitForTurn?: () => Promise<void>;
}

/** Length above which a result is large, in characters. Building a large result takes 2 ms or more. */
const largeLength = 250_000;

/** How a call has ended. */
export interface CallEnd {
  readonly result: CallResult;
  /** The outcome that the tool chose; `error` if its call ended without one. */
  readonly outcome: Outcome['kind'] | 'error';
  /** The code of its failure or error; undefined if it has neither. */
  readonly code: string | undefined;
}

/** Runs a compiled tool with unvalidated arguments. */
export async function runCall(compiled: CompiledTool, args: unknown, context: CallContext): Promise<CallEnd> {
  const { requestId, traceparent, onSource, memory } = context;
  const { name } = compiled.tool;
  const endedInError = (failure: Failure): CallEnd => {
    return { result: failureResult(compiled, failure), outcome: 'error', code: failure.code };
  };
  const incident = (code: string, message: string, detail: string, hint?: string) => {
    context.onIncident({
      id: requestId,
      traceparent,
      tool: name,
      code,
      detail: detail.slice(0, maxDetail),
      hint,
    });
    return endedInError({ code, message: `${message} (incident ${requestId}).` });
  };

  // Without a prototype, `input.constructor` is a parameter or undefined, and defaults apply to every name.
  const input = isObject(args) ? Object.assign(Object.create(null), args) : args;
  const invalid = argumentFailure(compiled, input, args);
  if (invalid) return endedInError(invalid);

  let outcome: Outcome;
  const call: RunningCall = { tool: name, requestId, traceparent, onSource, memory };
  const outcomes = new CallOutcomes(compiled, call, context.keepsFoundStack);
  try {
    outcome = await runWithin(compiled.tool, input, outcomes, context);
  } catch (error) {
    if (isAbortFailure(error)) return endedInError(error);
    if (!(error instanceof CallFailure)) {
      return incident('INTERNAL_ERROR', 'The tool failed unexpectedly', errorDetail(error));
    }
    outcome = outcomes.fail(error.code, error.message, error.hints);
  }

  const expectsLargeResult = compiled.expectedLength > largeLength;
  if (expectsLargeResult) await context.waitForTurn?.();
  const text = outcome?.kind === 'found' ? serializeData(outcome.data) : undefined;
  if (memory && text && text.length > largeLength && !(await memory.reserveTotal(answerWeight(text)))) {
    return endedInError(overloaded);
  }
  const { result, mismatch } = checkedResult(compiled, outcome, outcomes, text, context);
  if (!result) {
    const { stack = '' } = outcomes.foundError ?? {};
    const detail = `${mismatch}${stack.slice(stack.indexOf('\n'))}`;
    return incident('OUTPUT_MISMATCH', 'The answer does not match the output schema', detail, mismatchHint);
  }
  const length = result.content[0].text.length;
  compiled.expectedLength = Math.max(length, compiled.expectedLength / 2);
  if (length > largeLength) await letOthersPass(expectsLargeResult, context);
  if (outcome.kind !== 'fail') return { result, outcome: outcome.kind, code: undefined };
  reportCause(outcome, name, context);
  return { result, outcome: outcome.kind, code: outcome.code };
}

/** Lets other callers be served before a large result is sent. */
function letOthersPass(hasWaited: boolean, { waitForTurn }: CallContext): Promise<void> {
  if (!hasWaited) void waitForTurn?.(); // It did not wait, so it occupies the queue now and the next large result waits.
  return nextTurn();
}

/** The result of an outcome, or how its data does not match the schema. */
function checkedResult(
  compiled: CompiledTool,
  outcome: Outcome,
  outcomes: CallOutcomes,
  text: string | undefined,
  context: CallContext,
): CheckedResult {
  const checked = outcomes.reuseCheckedResult(text) ?? outcomeResult(compiled, outcome, text);
  if (checked.result) return checked;
  return completedResult(compiled, outcome, context, checked);
}

function reportCause(
  { code, cause }: Outcome & { readonly kind: 'fail' },
  tool: string,
  context: CallContext,
): void {
  if (cause === undefined) return;
  const { requestId, traceparent, onFailure } = context;
  onFailure?.({ tool, request: requestId, traceparent, code, detail: errorDetail(cause) });
}

/** Why a tool cannot be called with these arguments; null if it can. */
function argumentFailure(compiled: CompiledTool, input: unknown, args: unknown): Failure | null {
  const problem = compiled.findInputProblem(input, 'arguments');
  if (problem) return { code: 'INVALID_ARGUMENTS', message: problemText(problem) };
  if (holdsInfinity(args)) return { code: 'INVALID_ARGUMENTS', message: 'arguments: a number is too large' };
  return null;
}

/** The result of data whose missing required members are filled with null. Returns `mismatched` if that does not help. */
function completedResult(
  compiled: CompiledTool,
  outcome: Outcome,
  { fillsMissing, onMissing }: CallContext,
  mismatched: CheckedResult,
): CheckedResult {
  const canBeCompleted = fillsMissing && outcome?.kind === 'found' && isObject(outcome.data);
  if (!canBeCompleted) return mismatched;
  const completed = addMissingNulls(compiled.tool.outputSchema, outcome.data);
  if (!completed) return mismatched;
  const checked = dataResult(compiled, completed.data);
  if (!checked.result) return mismatched;
  for (const path of new Set(completed.paths)) onMissing?.(path);
  return checked;
}

const mismatchHint = 'Return what the outputSchema admits, or change the outputSchema.';

type RunWrapper = (call: RunningCall, run: () => Promise<Outcome>) => Promise<Outcome>;
let wrapRun: RunWrapper | undefined;
let areCallsTiedToSignals = false;

/**
 * Makes `callOfSignal` find the call of a signal.
 *
 * @param wrap runs the tool of each call; by default it runs directly
 */
export function tieCallsToSignals(wrap?: RunWrapper): void {
  areCallsTiedToSignals = true;
  wrapRun = wrap;
}

/**
 * Runs a tool until it returns an outcome, its time limit passes, the caller disconnects or the server stops. Rejects with an
 * abort failure (`call-failures.ts`) if the call is aborted. `Promise.race` would add 5% to the cost of a small call.
 */
async function runWithin(
  tool: Tool,
  input: object,
  outcomes: CallOutcomes,
  { onDisconnect, onStop, timeoutMs }: CallContext,
): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  let unsubscribeGone: (() => void) | undefined;
  let unsubscribeStop: (() => void) | undefined;
  let pendingSubscription: NodeJS.Immediate | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const end = (reason: Failure) => {
        reject(reason);
        outcomes.controller.abort();
      };
      // Subscribing costs 10% of a small call, and most have ended before the next turn of the event loop.
      pendingSubscription = setImmediate(() => {
        if (timeoutMs !== undefined) timer = setTimeout(end, timeoutMs, expired);
        unsubscribeGone = onDisconnect(() => end(cancelled));
        unsubscribeStop = onStop?.(() => end(tool.annotations?.readOnlyHint ? stoppedReading : stopped));
      });
      const run = async () => tool.run(input, outcomes);
      (wrapRun ? wrapRun(outcomes.call, run) : run()).then(resolve, reject);
    });
  } finally {
    clearImmediate(pendingSubscription);
    clearTimeout(timer);
    unsubscribeGone?.();
    unsubscribeStop?.();
  }
}

/** The member of a tool's signal that contains its call. A WeakMap would take longer than the signal itself. */
const callKey = Symbol('call');

/** The call whose tool got this signal. */
export function callOfSignal(
  signal: (AbortSignal & { readonly [callKey]?: RunningCall }) | undefined,
): RunningCall | undefined {
  return signal?.[callKey];
}

const empty = (reason: string): Outcome => ({ kind: 'empty', reason });
const fail = (code: string, message: string, hints?: JsonObject, cause?: unknown): Outcome => {
  return { kind: 'fail', code, message, hints, cause };
};

class CallOutcomes implements Outcomes<object> {
  readonly controller = new AbortController();
  readonly #compiled: CompiledTool;
  readonly call: RunningCall;
  readonly keepsFoundStack: boolean;
  /** The stack of the last call of `found`, if its data did not match the outputSchema or was too large to compare there. */
  foundError: Error | undefined;
  #checkedFound: CheckedResult | undefined;

  constructor(compiled: CompiledTool, call: RunningCall, keepsFoundStack = false) {
    this.#compiled = compiled;
    this.call = call;
    this.keepsFoundStack = keepsFoundStack;
  }

  readonly found = (data: object): Outcome => {
    if (this.keepsFoundStack) {
      // Comparing small data takes half the time of creating a stack.
      const checked =
        this.#compiled.expectedLength > largeLength ? undefined : dataResult(this.#compiled, data);
      this.#checkedFound = checked?.result ? checked : undefined;
      if (!this.#checkedFound) this.foundError = new Error();
    }
    return { kind: 'found', data };
  };
  readonly empty = empty;
  readonly fail = fail;

  /**
   * The result that `found` has checked, if the data still has this text. Data with a null is checked again, because NaN has the same
   * text as null.
   */
  reuseCheckedResult(text: string | undefined): CheckedResult | undefined {
    const knownText = this.#checkedFound?.result?.content[0].text;
    const isSame = text !== undefined && knownText === text && !text.includes('null');
    if (isSame) return this.#checkedFound;
    return undefined;
  }

  /** Node creates the signal when it is first read: this is slow, and few tools need it. */
  get signal(): AbortSignal {
    const { signal } = this.controller;
    if (areCallsTiedToSignals) return Object.assign(signal, { [callKey]: this.call });
    return signal;
  }
}

/** The text of a problem, without words that make a platform repeat the call with the same arguments. */
function problemText(problem: SchemaProblem): string {
  const plainMessage = 'does not match the inputSchema';
  const wordings = [formatProblem(problem), `${problem.path}: ${plainMessage}`];
  return wordings.find((text) => !retryWords.test(text)) ?? `arguments: one ${plainMessage}`;
}
