import { randomBytes } from 'node:crypto';
import type { JsonObject, Outcome, Outcomes, Tool } from './define-tool.ts';
import {
  type CompiledTool,
  compileTool,
  holdsInfinity,
  isObject,
  type Problem,
  problemsOf,
} from './schema.ts';

/** A complete `tools/call` result (C§2.2). */
export interface CallResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  /** The value that the text denotes. Absent only where the outputSchema cannot hold a failure. */
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
}

/** An error of a tool, of which its caller learns nothing but the id. */
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
  /** Receives errors of the tool; by default they are written to stderr. */
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
  { signal, timeoutMs, report = (incident) => console.error(JSON.stringify(incident)) }: CallOptions = {},
): Promise<CallResult> {
  const onGone = (leave: () => void) => {
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave);
    return () => signal?.removeEventListener('abort', leave);
  };
  const sent: unknown = JSON.parse(JSON.stringify(args));
  return (await runCall(compileTool(tool), sent, { onGone, timeoutMs, report })).result;
}

/** Calls `leave` when the caller goes away, until the returned function is called. */
export type OnGone = (leave: () => void) => () => void;

/** What a call of the server comes with. */
export interface CallContext {
  readonly onGone: OnGone;
  readonly timeoutMs: number | undefined;
  report(incident: Incident): void;
  /** Waits for the turn of the tool's answer to be made. */
  readonly turns?: Turns;
}

/** Waits until the answer of a tool may be made; undefined where it may be made at once. */
export type Turns = (tool: CompiledTool) => Promise<void> | undefined;

/** A tool whose answers take longer is slow, in milliseconds; and how much slower one answer can make it seem. */
const slowMs = 10;
const mostRiseMs = 3;

/**
 * Lets the answers of slow tools be made one by one, each after a pause as long as the one before it took. So quick tools
 * are answered and connections accepted in between, and the memory of a large answer is given back before the next is made.
 */
export function createTurns(): Turns {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  const take = () => {
    isTaken = true;
    const from = performance.now();
    setImmediate(() => setTimeout(next, performance.now() - from).unref());
  };
  const next = () => {
    isTaken = false;
    const go = waiting.shift();
    if (!go) return;
    take();
    go();
  };
  return (tool) => {
    if (tool.answerMs < slowMs) return undefined;
    if (isTaken) return new Promise((go) => waiting.push(go));
    take();
    return undefined;
  };
}

/** `callTool` for a compiled tool and arguments as they came; how it ended is said in a word, for the log. */
export async function runCall(
  compiled: CompiledTool,
  args: unknown,
  context: CallContext,
): Promise<{ readonly result: CallResult; readonly ending: string }> {
  const failed = (ending: string, code: string, message: string) => ({
    result: failure(compiled, { code, message }),
    ending,
  });
  const incident = (ending: string, code: string, message: string, detail: string) => {
    const id = incidentId();
    context.report({ id, tool: compiled.tool.name, detail: detail.slice(0, mostDetail) });
    return failed(ending, code, `${message} (incident ${id}).`);
  };

  // Arguments inherit nothing: `input.constructor` is a parameter or nothing, and defaults apply to every name.
  const input = isObject(args) ? Object.assign(Object.create(null), args) : args;
  const problems = problemsOf(compiled.validateInput, input, 'arguments');
  if (problems) return failed('invalid-arguments', 'INVALID_ARGUMENTS', withoutRetryWords(problems));
  if (holdsInfinity(args)) {
    return failed('invalid-arguments', 'INVALID_ARGUMENTS', 'arguments: a number is too large');
  }

  let outcome: Outcome;
  try {
    outcome = await runWithin(compiled.tool, input, context);
  } catch (error) {
    if (error === cancelled) return failed('cancelled', 'CANCELLED', 'The caller went away.');
    if (error === expired) {
      const message = 'The tool did not answer before the deadline of a call.';
      return failed('deadline', 'DEADLINE_EXCEEDED', message);
    }
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return incident('exception', 'INTERNAL_ERROR', 'The tool failed unexpectedly', detail);
  }

  await context.turns?.(compiled);
  const from = performance.now();
  const result = resultOf(compiled, outcome);
  compiled.answerMs = Math.min(performance.now() - from, compiled.answerMs + mostRiseMs);
  if (typeof result !== 'string') return { result, ending: outcome.kind };
  const message = 'The answer does not match the output schema';
  return incident('output-mismatch', 'OUTPUT_MISMATCH', message, result);
}

const cancelled = Symbol('cancelled');
const expired = Symbol('expired');

/**
 * The tool's outcome, or a rejection with `expired` or `cancelled`, whichever comes first. Not by `Promise.race`, which
 * costs a twentieth of a small call.
 */
function runWithin(tool: Tool, input: object, { onGone, timeoutMs }: CallContext): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const outcomes = new CallOutcomes();
    let timer: NodeJS.Timeout | undefined;
    let release: (() => void) | undefined;
    // A tenth of the cost of a small call, so only for one that is still running in the next turn.
    const arming = setImmediate(() => {
      if (timeoutMs !== undefined) timer = setTimeout(end, timeoutMs, expired);
      release = onGone(() => end(cancelled));
    });
    const stopWaiting = () => {
      clearImmediate(arming);
      clearTimeout(timer);
      release?.();
    };
    const end = (reason: symbol) => {
      stopWaiting();
      reject(reason);
      outcomes.abort();
    };
    const run = async () => tool.run(input, outcomes);
    run().then(resolve, reject).finally(stopWaiting);
  });
}

/** What `run` chooses from. Few tools ask for the signal: it is made when it is asked for. */
class CallOutcomes implements Outcomes<object> {
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

/** The result of an outcome, or in words how it differs from the tool's outputSchema. */
function resultOf(compiled: CompiledTool, outcome: Outcome): CallResult | string {
  switch (outcome?.kind) {
    case 'found':
      return answer(compiled, outcome.data);
    case 'empty': {
      const signal = { searchExhausted: true, noResultsReason: outcome.reason };
      return answer(compiled, { ...compiled.blank, ...signal });
    }
    case 'fail':
      return failure(compiled, outcome);
    default:
      return 'run must return what found(), empty() or fail() gave';
  }
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hints?: JsonObject;
}

/**
 * A failure that fits the outputSchema: empty values, the signal, and those hints that the schema admits. Where the
 * schema admits no failure at all, the text alone.
 */
function failure(compiled: CompiledTool, { code, message, hints = {} }: Failure): CallResult {
  const signal = { error: code, message };
  let best = answer(compiled, { ...compiled.blank, ...signal });
  if (typeof best === 'string') {
    return { content: [{ type: 'text', text: JSON.stringify(signal) }], isError: true };
  }
  for (const [name, value] of Object.entries(hints)) {
    const wider = answer(compiled, { ...best.structuredContent, [name]: value, ...signal });
    if (typeof wider !== 'string') best = wider;
  }
  return { ...best, isError: true };
}

/** Serializes once and validates the value that the text denotes: what the caller will see. */
function answer({ validateOutput }: CompiledTool, data: object): CallResult | string {
  let text: string;
  try {
    text = JSON.stringify(data) ?? 'null';
  } catch (error) {
    return `structuredContent: ${(error as Error).message}`;
  }
  const structuredContent: JsonObject = JSON.parse(text);
  const problems = problemsOf(validateOutput, structuredContent, 'structuredContent');
  if (problems) return problems.map(inWords).join('; ');
  return { content: [{ type: 'text', text }], structuredContent };
}

const inWords = ({ path, text }: Problem) => `${path}: ${text}`;

/** On these a platform calls again (public source: app lib/ai/skills/mcp.ts), which does no good to a refused call. */
const retryWords =
  /econn|etimedout|enotfound|eai_again|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|50[0234]/i;

/** Problems as one text, of which no part makes a platform call again with the same arguments. */
function withoutRetryWords(problems: readonly Problem[]): string {
  const plain = 'does not match the inputSchema';
  const texts = problems.map((problem) => {
    const wordings = [inWords(problem), `${problem.path}: ${plain}`, `arguments: one ${plain}`];
    return wordings.find((text) => !retryWords.test(text));
  });
  return [...new Set(texts)].join('; ');
}

/** Of what a tool throws, so much is logged: a message may hold whatever the tool was sent. */
const mostDetail = 4_000;

/** Consonants only: digits or words in it could be one of `retryWords`. */
const alphabet = 'bcdfghjklmnpqrst';

/** A name for an error, by which its author finds it in the log. */
export function incidentId(): string {
  return Array.from(randomBytes(20), (byte) => alphabet[byte % alphabet.length]).join('');
}
