// Runs a tool for one call: arguments, time limit, outcome, comparison with the outputSchema, incidents.

import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import {
  cancelledFailure,
  expiredFailure,
  isAbortFailure,
  overloadedFailure,
  stoppedFailure,
  stoppedReadFailure,
} from './call-failures.ts';
import { estimateAnswerMemory, type ReservedMemory } from './call-memory.ts';
import {
  CallFailure,
  type CallResult,
  type CheckedResult,
  dataResult,
  type Failure,
  failureResult,
  formatProblem,
  isOutcome,
  outcomeResult,
  retryWords,
  serializeData,
} from './call-result.ts';
import type { JsonObject, Outcome, Outcomes, Tool } from './define-tool.ts';
import { errorDetail } from './error-detail.ts';
import type { RequestContext } from './json-rpc.ts';
import { type FailureLine, type Incident, maxDetail, type RequestIds, type SourceLine } from './log.ts';
import { addMissingNulls } from './missing-nulls.ts';
import { type CompiledTool, holdsInfinity, isObject, type SchemaProblem } from './schema.ts';

/** What a call needs beside its tool and its arguments. */
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
  /** Takes a turn in the queue of large work. Resolves when the large result may be built. */
  readonly takeLargeWorkTurn?: () => Promise<void>;
}

/** How a call has ended. */
export interface CallEnd {
  readonly result: CallResult;
  /**
   * The outcome that the tool chose, `fail` also if the tool threw a `CallFailure`; `error` if the runtime ended the call: arguments, time,
   * disconnection, stop, memory, incident.
   */
  readonly outcome: Outcome['kind'] | 'error';
  /** The code of its failure or error; undefined if it has neither. */
  readonly code: string | undefined;
}

/** Runs a compiled tool with unvalidated arguments. */
export async function runCall(
  compiledTool: CompiledTool,
  args: unknown,
  context: CallContext,
): Promise<CallEnd> {
  const { requestId, traceparent, onSource, memory } = context;
  const { tool, lengthEstimate } = compiledTool;
  const { name } = tool;
  const endByRuntime = (failure: Failure): CallEnd => {
    return { result: failureResult(compiledTool, failure), outcome: 'error', code: failure.code };
  };
  const endInIncident = (code: string, message: string, detail: string, hint?: string) => {
    context.onIncident({
      id: requestId,
      traceparent,
      tool: name,
      code,
      detail: detail.slice(0, maxDetail),
      hint,
    });
    return endByRuntime({ code, message: `${message} (incident ${requestId}).` });
  };

  // The input has no prototype: `input.constructor` is then an argument or undefined, and a default applies to that name too.
  const input = isObject(args) ? Object.assign(Object.create(null), args) : args;
  const argumentFailure = prepareInput(compiledTool, input, args);
  if (argumentFailure) return endByRuntime(argumentFailure);

  const call: RunningCall = { tool: name, requestId, traceparent, onSource, memory };
  const outcomes = new CallOutcomes(compiledTool, call, context.keepsFoundStack);
  const endInMismatch = (mismatch: string) => {
    const detail = mismatch + outcomes.framesOfFound();
    return endInIncident(
      'OUTPUT_MISMATCH',
      'The answer does not match the output schema',
      detail,
      mismatchHint,
    );
  };
  let outcome: unknown;
  try {
    outcome = await runWithin(tool, input, outcomes, context);
  } catch (error) {
    if (isAbortFailure(error)) return endByRuntime(error);
    if (!(error instanceof CallFailure)) {
      return endInIncident('INTERNAL_ERROR', 'The tool failed unexpectedly', errorDetail(error));
    }
    outcome = outcomes.fail(error.code, error.message, error.hints);
  }
  if (!isOutcome(outcome)) return endInMismatch('run must return the result of found(), empty() or fail()');

  const expectsLargeResult = lengthEstimate.current > largeLength;
  if (expectsLargeResult) await context.takeLargeWorkTurn?.();
  const text = outcome.kind === 'found' ? serializeData(outcome.data) : undefined;
  if (!(await reserveForResult(text, memory))) return endByRuntime(overloadedFailure);
  const { result, mismatch } = checkOutcome(compiledTool, outcome, outcomes, text, context);
  if (!result) return endInMismatch(mismatch);
  const { length } = result.content[0].text;
  lengthEstimate.update(length);
  if (length > largeLength) await yieldToOtherCallers(expectsLargeResult, context);
  if (outcome.kind !== 'fail') return { result, outcome: outcome.kind, code: undefined };
  reportCause(outcome, name, context);
  return { result, outcome: outcome.kind, code: outcome.code };
}

/** Length above which a result is large, in characters. Building a large result takes 2 ms or more. */
const largeLength = 250_000;

/** Reserves the memory of a large result. Returns false if there is too little memory. */
function reserveForResult(
  text: string | undefined,
  memory: ReservedMemory | undefined,
): boolean | Promise<boolean> {
  if (text === undefined || text.length <= largeLength || !memory) return true;
  return memory.reserveTotal(estimateAnswerMemory(text));
}

/** Lets other callers be served before a large result is sent. @param expectsLargeResult whether the call has waited for a turn already */
function yieldToOtherCallers(expectsLargeResult: boolean, { takeLargeWorkTurn }: CallContext): Promise<void> {
  // The large result was not expected. Its call takes a turn now, so that the next large result waits.
  if (!expectsLargeResult) void takeLargeWorkTurn?.();
  return nextEventLoopTurn();
}

/** Returns the result of an outcome, or how its data differs from the schema. */
function checkOutcome(
  compiledTool: CompiledTool,
  outcome: Outcome,
  outcomes: CallOutcomes,
  text: string | undefined,
  context: CallContext,
): CheckedResult {
  const checkedResult = outcomes.reuseCheckedResult(text) ?? outcomeResult(compiledTool, outcome, text);
  if (checkedResult.result) return checkedResult;
  return completeResult(compiledTool, outcome, context, checkedResult);
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

/** Sets the defaults of absent arguments in the input. Returns why the tool cannot be called with it; null if it can. */
function prepareInput({ applyInputSchema }: CompiledTool, input: unknown, args: unknown): Failure | null {
  const problem = applyInputSchema(input, 'arguments');
  if (problem) return { code: 'INVALID_ARGUMENTS', message: problemText(problem) };
  if (holdsInfinity(args)) return { code: 'INVALID_ARGUMENTS', message: 'arguments: a number is too large' };
  return null;
}

/** Returns the result of data whose missing required members are filled with null, or `mismatchedResult` if the data still does not match. */
function completeResult(
  compiledTool: CompiledTool,
  outcome: Outcome,
  { fillsMissing, onMissing }: CallContext,
  mismatchedResult: CheckedResult,
): CheckedResult {
  const canBeCompleted = fillsMissing && outcome.kind === 'found' && isObject(outcome.data);
  if (!canBeCompleted) return mismatchedResult;
  const completion = addMissingNulls(compiledTool.tool.outputSchema, outcome.data);
  if (!completion) return mismatchedResult;
  const checkedResult = dataResult(compiledTool, completion.data);
  if (!checkedResult.result) return mismatchedResult;
  for (const path of new Set(completion.paths)) onMissing?.(path);
  return checkedResult;
}

const mismatchHint = 'Return what the outputSchema admits, or change the outputSchema.';

/** A call that runs: the members of its log lines, and its memory. */
export interface RunningCall extends RequestIds {
  readonly tool: string;
  /** Receives the failures of its sources, as they are logged. */
  readonly onSource?: ((line: SourceLine) => void) | undefined;
  /** Reserved for the call until its result is sent. */
  readonly memory?: ReservedMemory | undefined;
}

type RunWrapper = (call: RunningCall, run: () => Promise<Outcome>) => Promise<Outcome>;
let wrapRun: RunWrapper | undefined;
let areCallsOnSignals = false;

/** From now on, the signal of each call carries its call, for `callOfSignal`. */
export function attachCallsToSignals(): void {
  areCallsOnSignals = true;
}

/** Sets the function that runs the tool of each later call. */
export function wrapToolRuns(wrap: RunWrapper): void {
  wrapRun = wrap;
}

/**
 * Runs a tool until it returns, its time limit passes, the caller disconnects or the server stops. Rejects with an
 * abort failure (`call-failures.ts`) if the call is aborted. `Promise.race` would add 5% to the cost of a small call.
 */
async function runWithin(
  tool: Tool,
  input: object,
  outcomes: CallOutcomes,
  { onDisconnect, onStop, timeoutMs }: CallContext,
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  let unsubscribeDisconnect: (() => void) | undefined;
  let unsubscribeStop: (() => void) | undefined;
  let pendingSubscription: NodeJS.Immediate | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const end = (reason: Failure) => {
        reject(reason);
        outcomes.controller.abort();
      };
      // Subscribing costs 10% of a small call, and most calls end before the next turn of the event loop.
      pendingSubscription = setImmediate(() => {
        if (timeoutMs !== undefined) timer = setTimeout(end, timeoutMs, expiredFailure);
        unsubscribeDisconnect = onDisconnect(() => end(cancelledFailure));
        unsubscribeStop = onStop?.(() =>
          end(tool.annotations?.readOnlyHint ? stoppedReadFailure : stoppedFailure),
        );
      });
      const run = async () => tool.run(input, outcomes);
      const pendingOutcome = wrapRun ? wrapRun(outcomes.call, run) : run();
      pendingOutcome.then(resolve, reject);
    });
  } finally {
    clearImmediate(pendingSubscription);
    clearTimeout(timer);
    unsubscribeDisconnect?.();
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
  readonly #compiledTool: CompiledTool;
  readonly call: RunningCall;
  readonly keepsFoundStack: boolean;
  /** The result of the last call of `found`; undefined if its data did not match the outputSchema, or was not checked there. */
  #checkedResult: CheckedResult | undefined;
  /** Has the stack of the last `found` whose data was not confirmed to match. */
  #errorInFound: Error | undefined;

  constructor(compiledTool: CompiledTool, call: RunningCall, keepsFoundStack = false) {
    this.#compiledTool = compiledTool;
    this.call = call;
    this.keepsFoundStack = keepsFoundStack;
  }

  readonly found = (data: object): Outcome => {
    if (this.keepsFoundStack) {
      this.#checkedResult = this.#checkSmallData(data);
      // Data that matches needs no stack. Small data is checked first, because that takes half the time of a stack.
      if (!this.#checkedResult) this.#errorInFound = new Error();
    }
    return { kind: 'found', data };
  };
  readonly empty = empty;
  readonly fail = fail;

  /** The result of data that is expected to be small; undefined if the data may be large, or does not match the outputSchema. */
  #checkSmallData(data: object): CheckedResult | undefined {
    if (this.#compiledTool.lengthEstimate.current > largeLength) return undefined;
    const checkedResult = dataResult(this.#compiledTool, data);
    return checkedResult.result ? checkedResult : undefined;
  }

  /**
   * Returns the result that `found` has checked, if the data still has this text. Data with a null is checked again, because NaN has the
   * same text as null.
   */
  reuseCheckedResult(text: string | undefined): CheckedResult | undefined {
    const checkedText = this.#checkedResult?.result?.content[0].text;
    if (text === undefined || text !== checkedText || text.includes('null')) return undefined;
    return this.#checkedResult;
  }

  /** The frames of the stack of `found`, after a line break; empty if no stack was created. */
  framesOfFound(): string {
    const { stack = '' } = this.#errorInFound ?? {};
    return stack.slice(stack.indexOf('\n'));
  }

  /** Node creates the signal when it is first read: this is slow, and few tools need it. */
  get signal(): AbortSignal {
    const { signal } = this.controller;
    if (areCallsOnSignals) return Object.assign(signal, { [callKey]: this.call });
    return signal;
  }
}

/** The text of a problem, without words that make a platform repeat the call with the same arguments. */
function problemText(problem: SchemaProblem): string {
  const plainMessage = 'does not match the inputSchema';
  const wordings = [formatProblem(problem), `${problem.path}: ${plainMessage}`];
  return wordings.find((text) => !retryWords.test(text)) ?? `arguments: one ${plainMessage}`;
}
