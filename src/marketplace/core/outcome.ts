import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import { resultText } from 'market-mcp-contract/wire';
import { type DeliberateRefusal, isRefusedWith } from './deliberate-errors.ts';
import { walkableJsonIn } from './values.ts';
import { outcomeOf } from './verdict.ts';

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

/** What an outcome is read from. */
export interface Answered {
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

/** The outcome of an answered request (C§2.2, C§7). */
export function exchangeOutcome({ status, values, id, isCall, refusal }: Answered): ExchangeOutcome {
  if (refusal !== null && isRefusedWith(refusal, status, values)) {
    return { kind: 'refused', code: `HTTP ${status}` };
  }
  const response = (id === undefined ? values.flat() : values)
    .filter(isObject)
    .find(
      (value) => (id === undefined || value.id === id) && (isObject(value.result) || isObject(value.error)),
    );
  const result = isObject(response?.result) ? response.result : undefined;
  const error = isObject(response?.error) ? response.error : undefined;
  if (refusal !== null && result) return failed('not refused');
  if (!isCall && !error) {
    return status < 400 ? { kind: 'answered', code: null } : failed(`HTTP ${status}`);
  }
  const outcome = outcomeOf({ http: { status }, result, error });
  switch (outcome) {
    case 'found':
    case 'empty':
      return { kind: outcome, code: null };
    case 'empty-unsigned':
      return { kind: 'empty', code: 'no signal' };
    case 'fail':
      return failed(codeOf(result));
    case 'error':
      return failed(typeof error?.code === 'number' ? String(error.code) : null);
    default:
      return failed(status < 400 ? 'no result' : `HTTP ${status}`);
  }
}

export function failed(code: string | null): ExchangeOutcome {
  return { kind: 'failed', code };
}

/** The code in the recommended failure payload (C§2.2). */
function codeOf({ structuredContent, content }: JsonObject = {}): string | null {
  const payload = structuredContent ?? walkableJsonIn(resultText(content) ?? '')[0];
  return isObject(payload) && typeof payload.error === 'string'
    ? payload.error.slice(0, shownCharacters)
    : null;
}

/** Of a code: a hostile server makes it as long as an answer. */
const shownCharacters = 80;
