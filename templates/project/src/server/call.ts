import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../contract/model.ts';
import { copyArguments } from './arguments.ts';
import { type CompiledTool, compileTool, misfit } from './compile.ts';
import type { Outcome, Outcomes, Tool } from './define-tool.ts';
import { type CallResult, failure, resultOf } from './result.ts';

/** How a call ended, for the log. */
export type Ending =
  | Outcome['kind']
  | 'invalid-arguments'
  | 'output-mismatch'
  | 'exception'
  | 'timeout'
  | 'cancelled';

/** A fault of a tool, of which its caller learns nothing but the id. */
export interface Incident {
  readonly id: string;
  readonly tool: string;
  /** A stack, or where the answer differs from its schema. */
  readonly detail: string;
}

/** Whoever waits for the answer. */
export interface Waiting {
  /** Ends the call when it aborts: the caller is gone. Asked for only by a call that takes a while. */
  readonly signal?: AbortSignal;
}

export interface Limits {
  /** Deadline in milliseconds; none by default. */
  readonly timeoutMs?: number;
  /** Receives faults of the tool; by default they are written to stderr. */
  readonly report?: (incident: Incident) => void;
}

export type CallOptions = Waiting & Limits;

/**
 * Calls a tool just as the server does, for unit tests (C§5.5): defaults, validation, outcome, result. Whatever the
 * tool or the arguments do wrong is a result with `isError`.
 *
 * @throws Error where one of the tool's schemas does not compile.
 */
export async function callTool(
  tool: Tool,
  args: JsonObject = {},
  options: CallOptions = {},
): Promise<CallResult> {
  return (await runCall(compileTool(tool), args, options, options)).result;
}

/** `callTool` for a compiled tool and arguments of any kind. */
export async function runCall(
  compiled: CompiledTool,
  args: unknown,
  caller: Waiting,
  limits: Limits,
): Promise<{ readonly result: CallResult; readonly ending: Ending }> {
  const failed = (ending: Ending, code: string, message: string) => ({
    result: failure(compiled, { kind: 'fail', code, message }),
    ending,
  });
  const incident = (ending: Ending, code: string, message: string, detail: string) => {
    const id = randomUUID();
    (limits.report ?? writeIncident)({ id, tool: compiled.tool.name, detail });
    return failed(ending, code, `${message} (incident ${id}).`);
  };

  const input = copyArguments(args);
  const wrong = misfit(compiled.validateInput, input, 'arguments');
  if (wrong !== null) return failed('invalid-arguments', 'INVALID_ARGUMENTS', wrong);

  let outcome: Outcome;
  try {
    outcome = await runWithin(compiled.tool, input as object, caller, limits.timeoutMs);
  } catch (error) {
    if (error === cancelled) return failed('cancelled', 'CANCELLED', 'The caller went away.');
    if (error === expired) return failed('timeout', 'TIMEOUT', `No answer within ${limits.timeoutMs} ms.`);
    return incident('exception', 'INTERNAL_ERROR', 'The tool failed unexpectedly', stackOf(error));
  }

  const result = resultOf(compiled, outcome);
  if (typeof result !== 'string') return { result, ending: outcome.kind };
  return incident(
    'output-mismatch',
    'OUTPUT_MISMATCH',
    'The answer does not match the output schema',
    result,
  );
}

const cancelled = Symbol('cancelled');
const expired = Symbol('expired');

/**
 * The tool's outcome, or a rejection with `expired` or `cancelled`, whichever comes first. A timer and an abort signal
 * cost as much as a small call: only a call that is still running in the next turn gets them.
 */
function runWithin(
  tool: Tool,
  input: object,
  caller: Waiting,
  timeoutMs: number | undefined,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const ways = new Ways();
    let timer: NodeJS.Timeout | undefined;
    let gone: AbortSignal | undefined;
    const release = () => {
      clearImmediate(arming);
      clearTimeout(timer);
      gone?.removeEventListener('abort', onGone);
    };
    const end = (reason: symbol) => {
      release();
      reject(reason);
      ways.abort();
    };
    const onGone = () => end(cancelled);
    const arming = setImmediate(() => {
      gone = caller.signal;
      if (gone?.aborted) return onGone();
      gone?.addEventListener('abort', onGone);
      if (timeoutMs !== undefined) timer = setTimeout(end, timeoutMs, expired);
    });
    const settle =
      <T>(done: (value: T) => void) =>
      (value: T) => {
        release();
        done(value);
      };
    const run = async () => tool.run(input, ways);
    run().then(settle(resolve), settle(reject));
  });
}

/** The outcomes that a tool chooses from, with a signal that exists once the tool asks for it. */
class Ways implements Outcomes<object> {
  #controller: AbortController | undefined;

  found(data: object): Outcome {
    return { kind: 'found', data };
  }

  empty(reason: string): Outcome {
    return { kind: 'empty', reason };
  }

  fail(code: string, message: string, hints?: JsonObject): Outcome {
    return { kind: 'fail', code, message, hints };
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function writeIncident(incident: Incident): void {
  console.error(JSON.stringify(incident));
}
