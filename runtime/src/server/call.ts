import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { JsonObject, Outcome, Outcomes, Tool } from './define-tool.ts';
import {
  type CompiledTool,
  compileTool,
  holdsInfinity,
  isObject,
  type Members,
  type Problem,
} from './schema.ts';

/** A complete `tools/call` result (C§2.2). */
export interface CallResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  /** The parsed text. Absent only if the outputSchema admits no failure. */
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
}

/** An error of a tool. The caller sees only its id. */
export interface Incident {
  readonly id: string;
  readonly tool: string;
  /** A stack trace, or how the answer differs from the outputSchema. */
  readonly detail: string;
}

export interface CallOptions {
  /** Cancels the call, as a caller that disconnects does. */
  readonly signal?: AbortSignal;
  /** Deadline in milliseconds; no deadline by default. */
  readonly timeoutMs?: number;
  /** Receives errors of the tool; by default they are written to stderr. */
  readonly report?: (incident: Incident) => void;
}

/**
 * Calls a tool as the server does, for unit tests (C§5.5). Invalid arguments and errors of the tool give a result with
 * `isError`.
 *
 * @throws Error if a schema of the tool does not compile.
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

/** Calls `leave` when the caller disconnects. The returned function unsubscribes. */
export type OnGone = (leave: () => void) => () => void;

export interface CallContext {
  readonly onGone: OnGone;
  readonly timeoutMs: number | undefined;
  report(incident: Incident): void;
  /** Takes turns with other large answers. */
  readonly turns?: () => Promise<void>;
}

/** Length above which an answer is large, in characters. Building such an answer takes 2 ms or more. */
const largeLength = 250_000;

/** Runs a compiled tool with unvalidated arguments. `ending` is the kind of its outcome, or the code of an error. */
export async function runCall(
  compiled: CompiledTool,
  args: unknown,
  context: CallContext,
): Promise<{ readonly result: CallResult; readonly ending: string }> {
  const failed = (cause: Failure) => ({ result: failure(compiled, cause), ending: cause.code });
  const incident = (code: string, message: string, detail: string) => {
    const id = incidentId();
    context.report({ id, tool: compiled.tool.name, detail: detail.slice(0, maxDetail) });
    return failed({ code, message: `${message} (incident ${id}).` });
  };

  // Without a prototype, `input.constructor` is a parameter or undefined, and defaults apply to every name.
  const input = isObject(args) ? Object.assign(Object.create(null), args) : args;
  const problem = compiled.checkInput(input, 'arguments');
  if (problem) return failed({ code: 'INVALID_ARGUMENTS', message: withoutRetryWords(problem) });
  if (holdsInfinity(args)) {
    return failed({ code: 'INVALID_ARGUMENTS', message: 'arguments: a number is too large' });
  }

  let outcome: Outcome;
  try {
    outcome = await runWithin(compiled.tool, input, context);
  } catch (error) {
    if (error === cancelled) return failed(cancelled);
    if (error === expired) return failed(expired);
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return incident('INTERNAL_ERROR', 'The tool failed unexpectedly', detail);
  }

  const takesTurn = compiled.expectedLength > largeLength;
  if (takesTurn) await context.turns?.();
  const result = resultOf(compiled, outcome);
  if (typeof result === 'string') {
    return incident('OUTPUT_MISMATCH', 'The answer does not match the output schema', result);
  }
  const length = result.content[0].text.length;
  compiled.expectedLength = Math.max(length, compiled.expectedLength / 2);
  if (length > largeLength) {
    if (!takesTurn) void context.turns?.(); // the next large answer waits as if this one had taken a turn
    await nextTurn(); // other callers are served before it is sent
  }
  return { result, ending: outcome.kind };
}

const cancelled: Failure = { code: 'CANCELLED', message: 'The caller disconnected.' };
const expired: Failure = {
  code: 'DEADLINE_EXCEEDED',
  message: 'The tool did not answer before the deadline of a call.',
};

type Around = (tool: string, run: () => Promise<Outcome>) => Promise<Outcome>;
let around: Around | undefined;

/** Runs every later call of a tool inside this function, for code that must know which tool runs. */
export function runInside(wrap: Around): void {
  around = wrap;
}

/** The tool's outcome. Rejects with `expired` or `cancelled`. `Promise.race` would add 5% to the cost of a small call. */
async function runWithin(tool: Tool, input: object, { onGone, timeoutMs }: CallContext): Promise<Outcome> {
  const outcomes = new CallOutcomes();
  let timer: NodeJS.Timeout | undefined;
  let release: (() => void) | undefined;
  let arming: NodeJS.Immediate | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const end = (reason: Failure) => {
        reject(reason);
        outcomes.controller.abort();
      };
      // This is 10% of the cost of a small call, so it waits until the next turn of the event loop.
      arming = setImmediate(() => {
        if (timeoutMs !== undefined) timer = setTimeout(end, timeoutMs, expired);
        release = onGone(() => end(cancelled));
      });
      const run = async () => tool.run(input, outcomes);
      (around ? around(tool.name, run) : run()).then(resolve, reject);
    });
  } finally {
    clearImmediate(arming);
    clearTimeout(timer);
    release?.();
  }
}

class CallOutcomes implements Outcomes<object> {
  readonly controller = new AbortController();
  readonly found = (data: object): Outcome => ({ kind: 'found', data });
  readonly empty = (reason: string): Outcome => ({ kind: 'empty', reason });
  readonly fail = (code: string, message: string, hints?: JsonObject): Outcome => {
    return { kind: 'fail', code, message, hints };
  };

  /** Node creates the signal when it is first read: this is slow, and few tools need it. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }
}

/** The result of an outcome, or text that says how it differs from the tool's outputSchema. */
function resultOf(compiled: CompiledTool, outcome: Outcome): CallResult | string {
  if (outcome?.kind === 'found') return answer(compiled, outcome.data);
  if (outcome?.kind === 'fail') return failure(compiled, outcome);
  if (outcome?.kind !== 'empty') return 'run must return the result of found(), empty() or fail()';
  return answer(compiled, { ...compiled.blank, searchExhausted: true, noResultsReason: outcome.reason });
}

type Failure = Omit<Extract<Outcome, { kind: 'fail' }>, 'kind'>;

/**
 * A failure that matches the outputSchema: empty values, the signal, and the hints that the schema admits. If the schema
 * admits no failure, the result has only text.
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

/** Serializes the data once and validates the parsed text, which is what the caller receives. */
function answer({ checkOutput }: CompiledTool, data: object): CallResult | string {
  let text: string;
  let structuredContent: JsonObject;
  try {
    text = JSON.stringify(data) ?? 'null';
    structuredContent = JSON.parse(text);
    const lost = text.includes('null') && lostIn(data, structuredContent);
    if (lost) return `structuredContent${lost}`;
  } catch (error) {
    return `structuredContent: ${(error as Error).message}`;
  }
  const problem = checkOutput(structuredContent, 'structuredContent', text.length);
  if (problem) return inWords(problem);
  return { content: [{ type: 'text', text }], structuredContent };
}

/** The path of a value that JSON turns into null, such as NaN or an invalid date, and the value; null if there is none. */
function lostIn(value: unknown, parsed: unknown): string | null {
  if (parsed === null && value !== null) return `: JSON turns ${inspect(value)} into null`;
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return null;
  for (const name in parsed as Members) {
    const lost = lostIn((value as Members)[name], (parsed as Members)[name]);
    if (lost) return (Array.isArray(parsed) ? `[${name}]` : `.${name}`) + lost;
  }
  return null;
}

const inWords = ({ path, text }: Problem) => `${path}: ${text}`;

/** A platform retries a call whose error contains these (public source: app lib/ai/skills/mcp.ts). */
const retryWords =
  /econn|etimedout|enotfound|eai_again|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|50[0234]/i;

/** A problem in words that do not make a platform retry with the same arguments. */
function withoutRetryWords(problem: Problem): string {
  const plain = 'does not match the inputSchema';
  const wordings = [inWords(problem), `${problem.path}: ${plain}`];
  return wordings.find((text) => !retryWords.test(text)) ?? `arguments: one ${plain}`;
}

/** Length limit in the log: an error message can contain whatever the tool was sent. */
const maxDetail = 4_000;

/** Only consonants, so that an id never matches `retryWords`. */
const alphabet = 'bcdfghjklmnpqrst';

/** A random id that identifies an error in the log. */
export function incidentId(): string {
  return Array.from(randomBytes(20), (byte) => alphabet[byte % alphabet.length]).join('');
}
