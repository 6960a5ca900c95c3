import type { CallReport } from './core/caller.ts';
import { hasNoMismatch } from './core/verdict.ts';

/**
 * The reason why a call does not count as a success; undefined if it does. A failure that the tool reports is no success,
 * unless it is expected.
 */
export function objectionTo(
  { endpoint, status, verdict, error, expected }: CallReport,
  wanted: 'found' | 'empty' | 'fail' | undefined,
): string | undefined {
  if (expected) return expected.met ? undefined : `expected ${expected.what}, got ${expected.actual}`;
  const { outcome } = verdict;
  switch (outcome) {
    case 'no-answer':
      return `${endpoint} did not answer: ${error}`;
    case 'refused':
      return `the server refused the token (HTTP ${status})`;
    case 'error':
      return 'the server answered with a JSON-RPC error';
    case 'http-error':
      return `the server answered with HTTP ${status} and no JSON-RPC result`;
    case 'empty-unsigned':
      return 'the result has no data and does not say so: expected searchExhausted or noResultsReason';
  }
  if (!hasNoMismatch(verdict)) return 'the result does not match the outputSchema';
  if (wanted !== undefined && outcome !== wanted) return `expected the outcome ${wanted}, got ${outcome}`;
  if (outcome === 'fail' && wanted === undefined) {
    return 'the tool reported a failure (if a failure is correct here, add --expect fail)';
  }
  return undefined;
}
