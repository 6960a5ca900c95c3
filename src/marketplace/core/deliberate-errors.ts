import { isObject, type Json } from 'market-mcp-contract/json';

/** Errors that a caller can make deliberately. */
export const deliberateErrors = {
  'no-token': 'No token',
  expired: 'Expired token',
  'wrong-audience': 'Token for another endpoint',
  'wrong-key': 'Token signed with another key',
  batch: 'Unpaid call in a batch',
  slow: 'Slow client',
  'dropped-session': 'Dropped session',
} as const;

export type DeliberateError = keyof typeof deliberateErrors;

/** The `error` in the body of a refusal (C§7). */
export type DeliberateRefusal = 'Unauthorized' | 'Invalid session';

/** The refusal that the contract expects for a deliberate error; null if it expects the result. */
export function refusalOf(way: DeliberateError): DeliberateRefusal | null {
  if (way === 'slow') return null;
  return way === 'dropped-session' ? 'Invalid session' : 'Unauthorized';
}

/** Whether an answer is a certain refusal. C§7 leaves the status of `Unauthorized` open. */
export function isRefusedWith(refusal: DeliberateRefusal, status: number, [value]: readonly Json[]): boolean {
  if (!isObject(value) || value.error !== refusal) return false;
  return refusal === 'Invalid session' ? status === 400 : status >= 400 && status < 500;
}
