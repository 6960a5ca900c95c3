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

export interface CallOptions {
  /** Ends the call when it aborts: the caller is gone. */
  readonly signal?: AbortSignal;
  /** Deadline in milliseconds; none by default. */
  readonly timeoutMs?: number;
  /** Receives faults of the tool; by default they are written to stderr. */
  readonly report?: (incident: Incident) => void;
}

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
  return (await runCall(compileTool(tool), args, options)).result;
}

/** `callTool` for a compiled tool and arguments of any kind. */
export async function runCall(
  compiled: CompiledTool,
  args: unknown,
  { signal, timeoutMs, report = writeIncident }: CallOptions,
): Promise<{ readonly result: CallResult; readonly ending: Ending }> {
  const failed = (ending: Ending, code: string, message: string) => ({
    result: failure(compiled, { kind: 'fail', code, message }),
    ending,
  });
  const incident = (ending: Ending, code: string, message: string, detail: string) => {
    const id = randomUUID();
    report({ id, tool: compiled.tool.name, detail });
    return failed(ending, code, `${message} (incident ${id}).`);
  };

  const input = copyArguments(args);
  const wrong = misfit(compiled.validateInput, input, 'arguments');
  if (wrong !== null) return failed('invalid-arguments', 'INVALID_ARGUMENTS', wrong);

  let outcome: Outcome;
  try {
    outcome = await runWithin(compiled.tool, input as object, timeoutMs, signal);
  } catch (error) {
    if (error === cancelled) return failed('cancelled', 'CANCELLED', 'The caller went away.');
    if (error === expired) return failed('timeout', 'TIMEOUT', `No answer within ${timeoutMs} ms.`);
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

/** The tool's outcome, or a rejection with `expired` or `cancelled`, whichever comes first. */
function runWithin(
  tool: Tool,
  input: object,
  timeoutMs: number | undefined,
  caller: AbortSignal | undefined,
): Promise<Outcome> {
  if (caller?.aborted) return Promise.reject(cancelled);
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const release = () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onGone);
    };
    const end = (reason: symbol) => {
      release();
      reject(reason);
      controller.abort();
    };
    const onGone = () => end(cancelled);
    const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs, expired);
    caller?.addEventListener('abort', onGone);
    const run = async () => tool.run(input, { ...ways, signal: controller.signal });
    run().then(resolve, reject).finally(release);
  });
}

const ways: Omit<Outcomes<object>, 'signal'> = {
  found: (data) => ({ kind: 'found', data }),
  empty: (reason) => ({ kind: 'empty', reason }),
  fail: (code, message, hints) => ({ kind: 'fail', code, message, hints }),
};

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function writeIncident(incident: Incident): void {
  console.error(JSON.stringify(incident));
}
