import { isDeepStrictEqual } from 'node:util';
import { type Problem, resultOutcome } from 'market-mcp-contract/definition';
import { isBlank, isObject, type Json, type JsonObject, mismatches, shorten } from 'market-mcp-contract/json';
import { isDeniedByStatus, listedOutputSchema, type RpcAnswer, resultText } from 'market-mcp-contract/wire';
import { walkableJsonIn } from './answer-values.ts';
import { type DeliberateRefusal, isRefusedWith } from './marketplace-model.ts';

/**
 * How a call ended: one of the three outcomes of C§2.2, an empty result without its signal, a refused
 * token, a JSON-RPC error, another HTTP error, or no answer at all.
 */
export type CallOutcome =
  | 'found'
  | 'empty'
  | 'empty-unsigned'
  | 'fail'
  | 'refused'
  | 'error'
  | 'http-error'
  | 'no-answer';

/** Whether a value matches the outputSchema. */
export interface SchemaVerdict {
  readonly status: 'pass' | 'fail' | 'not-run';
  readonly problems: readonly Problem[];
  /** The reason if it could not be checked. */
  readonly reason?: string;
}

export interface CallVerdict {
  readonly outcome: CallOutcome;
  /** content[0].text, which the submission test parses. */
  readonly text: SchemaVerdict;
  readonly structuredContent: SchemaVerdict;
  /** Whether both contain the same data (C§4.1). */
  readonly same: SchemaVerdict;
}

/** Checks the answer to a tools/call by the definition of its tool, if known. */
export function callVerdict(tool: JsonObject | undefined, answer: RpcAnswer): CallVerdict {
  const { result } = answer;
  const outcome = outcomeOf(answer);
  if (!result) {
    const none = skippedVerdict('the call has no result');
    return { outcome, text: none, structuredContent: none, same: none };
  }
  const schema = tool && listedOutputSchema(tool);
  const text = parseWalkable(resultText(result.content));
  const structured = result.structuredContent;
  const judge = (value: Json | undefined, path: string): SchemaVerdict => {
    if (value === undefined) return schemaVerdict([{ path, expected: 'data', actual: 'no JSON' }]);
    if (!schema) return skippedVerdict(tool ? 'the outputSchema does not compile' : 'the tool is not listed');
    return schemaVerdict(mismatches(schema, value, path));
  };
  const different = { path: 'content[0].text', expected: shorten(structured), actual: shorten(text) };
  return {
    outcome,
    text: judge(text, 'content[0].text'),
    structuredContent: judge(structured, 'structuredContent'),
    same: schemaVerdict(isDeepStrictEqual(text, structured) ? [] : [different]),
  };
}

/** Whether a verdict contains no mismatch. */
export function hasNoMismatch({ text, structuredContent, same: sameContent }: CallVerdict): boolean {
  return [text, structuredContent, sameContent].every(({ status }) => status !== 'fail');
}

/** How a tools/call ended (C§2.2, C§7). */
export function outcomeOf({
  http,
  result,
  error,
}: Pick<RpcAnswer, 'result' | 'error'> & { readonly http: Pick<RpcAnswer['http'], 'status'> }): CallOutcome {
  if (http.status === 0) return 'no-answer';
  if (isDeniedByStatus(http)) return 'refused';
  if (error) return 'error';
  if (!result) return 'http-error';
  const data = resultData(result);
  const outcome = resultOutcome(result, data);
  if (outcome === 'found' && isObject(data) && lacksSignal(data)) return 'empty-unsigned';
  return outcome;
}

/** Whether an answer contains null or an empty list and no other data: it found nothing but has no signal of that. */
function lacksSignal(data: JsonObject): boolean {
  const isNone = (value: Json) => value === null || (Array.isArray(value) && value.length === 0);
  return Object.values(data).some(isNone) && isBlank(data, [null, '', 0, false]);
}

/** The data of a result: structuredContent, else the JSON of its text. */
export function resultData({ structuredContent, content }: JsonObject): Json | undefined {
  return structuredContent ?? parseWalkable(resultText(content));
}

function parseWalkable(text = ''): Json | undefined {
  return walkableJsonIn(text)[0];
}

function schemaVerdict(problems: readonly Problem[]): SchemaVerdict {
  return { status: problems.length > 0 ? 'fail' : 'pass', problems };
}

function skippedVerdict(reason: string): SchemaVerdict {
  return { status: 'not-run', problems: [], reason };
}

/**
 * How an exchange ended. A call is found, empty or failed; `refused` is a refusal that the contract expects; any other request
 * that succeeded is answered.
 */
export const outcomeKinds = ['found', 'empty', 'failed', 'refused', 'answered'] as const;

export interface ExchangeOutcome {
  readonly kind: (typeof outcomeKinds)[number];
  /**
   * Of a failure: the code of the tool or of JSON-RPC, the HTTP status, or what is wrong; null if the tool names no code. Of an
   * empty result: `no signal` if it does not say so (C§2.2).
   */
  readonly code: string | null;
}

/** The parts of an answer that decide its outcome. */
export interface AnsweredExchange {
  /** The HTTP status. */
  readonly status: number;
  /** The JSON values of the answer. */
  readonly values: readonly Json[];
  /** The id of the request: only a response with the same id answers it. Undefined if it has none, as a batch. */
  readonly id: Json | undefined;
  /** Whether the request is a tools/call. */
  readonly isCall: boolean;
  /** The refusal that the contract expects. */
  readonly refusal: DeliberateRefusal | null;
}

/** The JSON-RPC response to the request with this id; without an id, the first response, also in a batch. */
function responseTo(id: Json | undefined, values: readonly Json[]): JsonObject | undefined {
  const messages = (id === undefined ? values.flat() : values).filter(isObject);
  const responses = messages.filter(({ result, error }) => isObject(result) || isObject(error));
  return responses.find((response) => id === undefined || response.id === id);
}

/** The outcome of an answered request (C§2.2, C§7). */
export function exchangeOutcome({ status, values, id, isCall, refusal }: AnsweredExchange): ExchangeOutcome {
  if (refusal !== null && isRefusedWith(refusal, status, values)) {
    return { kind: 'refused', code: `HTTP ${status}` };
  }
  const response = responseTo(id, values);
  const result = isObject(response?.result) ? response.result : undefined;
  const error = isObject(response?.error) ? response.error : undefined;
  if (refusal !== null && result) return failedOutcome('not refused');
  if (!isCall && !error) {
    if (status < 400) return { kind: 'answered', code: null };
    return failedOutcome(`HTTP ${status}`);
  }
  const outcome = outcomeOf({ http: { status }, result, error });
  switch (outcome) {
    case 'found':
    case 'empty':
      return { kind: outcome, code: null };
    case 'empty-unsigned':
      return { kind: 'empty', code: 'no signal' };
    case 'fail':
      return failedOutcome(failureCode(result));
    case 'error':
      return failedOutcome(typeof error?.code === 'number' ? String(error.code) : null);
    default:
      return failedOutcome(status < 400 ? 'no result' : `HTTP ${status}`);
  }
}

export function failedOutcome(code: string | null): ExchangeOutcome {
  return { kind: 'failed', code };
}

/** The code in the recommended failure payload (C§2.2). */
function failureCode(result: JsonObject = {}): string | null {
  const payload = resultData(result);
  if (isObject(payload) && typeof payload.error === 'string') return payload.error.slice(0, shownCharacters);
  return null;
}

/** Of a code: a hostile server makes it as long as an answer. */
const shownCharacters = 80;
