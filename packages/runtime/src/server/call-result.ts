// From an outcome (found, empty, fail) to the result of a call.

import { inspect } from 'node:util';
import type { JsonObject, Outcome } from './define-tool.ts';
import { type CompiledTool, isObject, type Members, type SchemaProblem } from './schema.ts';

/** A complete `tools/call` result (C§2.2). */
export interface CallResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  /** The parsed text. Absent only if the outputSchema admits no failure. */
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
}

/** A result that matches the tool's outputSchema, or text that says how it differs. */
export type CheckedResult =
  | { readonly result: CallResult; readonly mismatch?: undefined }
  | { readonly mismatch: string; readonly result?: undefined };

/** The result of an outcome. An empty result has `searchExhausted` and the reason, beside empty values. */
export function outcomeResult(compiledTool: CompiledTool, outcome: Outcome, text?: string): CheckedResult {
  if (outcome.kind === 'found') return dataResult(compiledTool, outcome.data, text);
  if (outcome.kind === 'fail') return { result: failureResult(compiledTool, outcome) };
  return dataResult(compiledTool, {
    ...compiledTool.blank,
    searchExhausted: true,
    noResultsReason: outcome.reason,
  });
}

/** Returns whether a value is an outcome: a tool without type checks may return anything. */
export function isOutcome(value: unknown): value is Outcome {
  return isObject(value) && outcomeKinds.has(value.kind);
}

const outcomeKinds: ReadonlySet<unknown> = new Set<Outcome['kind']>(['found', 'empty', 'fail']);

/** An error that a tool may throw: its code and message become the failure of the call. */
export class CallFailure extends Error {
  readonly code: string;
  readonly hints: JsonObject;

  constructor(code: string, message: string, hints: JsonObject) {
    super(message);
    this.code = code;
    this.hints = hints;
  }
}

export type Failure = Omit<Extract<Outcome, { kind: 'fail' }>, 'kind'>;

/**
 * A failure that matches the outputSchema: empty values, the signal, and the hints that the schema admits. If the schema
 * admits no failure, the result has only text.
 */
export function failureResult(
  compiledTool: CompiledTool,
  { code, message, hints = {} }: Failure,
): CallResult {
  const signal = { error: code, message };
  let result = dataResult(compiledTool, { ...compiledTool.blank, ...signal }).result;
  if (!result) {
    return { content: [{ type: 'text', text: JSON.stringify(signal) }], isError: true };
  }
  for (const [name, value] of Object.entries(hints)) {
    const extendedResult = dataResult(compiledTool, {
      ...result.structuredContent,
      [name]: value,
      ...signal,
    });
    result = extendedResult.result ?? result;
  }
  return { ...result, isError: true };
}

/** The data as JSON; undefined if it cannot be serialized. */
export function serializeData(data: object): string | undefined {
  try {
    return JSON.stringify(data);
  } catch {
    return undefined; // `dataResult` fails in the same way, and reports the error
  }
}

/** Serializes the data once and validates the parsed text, which is what the caller receives. */
export function dataResult(
  { findOutputProblem }: CompiledTool,
  data: object,
  serialized?: string,
): CheckedResult {
  let text: string;
  let structuredContent: JsonObject;
  try {
    text = serialized ?? JSON.stringify(data) ?? 'null';
    structuredContent = JSON.parse(text);
    const nullifiedProblem = text.includes('null') && findNullifiedProblem(data, structuredContent);
    if (nullifiedProblem) return { mismatch: `structuredContent${nullifiedProblem}` };
  } catch (error) {
    return { mismatch: `structuredContent: ${(error as Error).message}` };
  }
  const problem = findOutputProblem(structuredContent, 'structuredContent', text.length);
  if (problem) return { mismatch: formatProblem(problem) };
  return { result: { content: [{ type: 'text', text }], structuredContent } };
}

/** Path and words of the problem, for a value such as NaN or an invalid date: `.price: JSON turns NaN into null`; null if there is none. */
function findNullifiedProblem(value: unknown, parsed: unknown): string | null {
  if (parsed === null && value !== null) return `: JSON turns ${inspect(value)} into null`;
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return null;
  for (const name in parsed as Members) {
    const nullifiedProblem = findNullifiedProblem((value as Members)[name], (parsed as Members)[name]);
    if (nullifiedProblem) return (Array.isArray(parsed) ? `[${name}]` : `.${name}`) + nullifiedProblem;
  }
  return null;
}

export function formatProblem({ path, text }: SchemaProblem): string {
  return `${path}: ${text}`;
}

/** Words that make a platform repeat a failed call (public source: app lib/ai/skills/mcp.ts). */
export const retryWords =
  /econn|etimedout|enotfound|eai_again|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|50[0234]/i;

const everyRetryWord = new RegExp(retryWords, 'gi');

/** A text of an API, in which an ellipsis replaces each word that makes a platform repeat the call. */
export function withoutRetryWords(text: string): string {
  return text.replaceAll(everyRetryWord, '…');
}
