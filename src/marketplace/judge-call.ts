import { setTimeout as delay } from 'node:timers/promises';
import { causeOf } from '../check/causes.ts';
import { type Incident, printedErrors, ServerLog } from '../check/logged.ts';
import type { Cause } from '../contract/model.ts';
import { incidentIn } from '../contract/probe/rpc.ts';
import type { Access } from './core/access.ts';
import type { CallReport } from './core/caller.ts';
import type { Exchange } from './core/traffic.ts';
import { hasNoMismatch } from './core/verdict.ts';
import { requestJson } from './local.ts';

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

/** Milliseconds to wait for the log, which may arrive after the answer. */
const logWaitMs = 50;
const attempts = { incident: 20, any: 3 } as const;

/**
 * The error in the server's code that made a call fail, read from its output during the call. Undefined
 * if it wrote none, or the marketplace does not run the server.
 */
export async function causeOfCall(
  market: Access,
  { id, result }: CallReport,
  directory: string,
): Promise<Cause | undefined> {
  if (id === 0) return undefined;
  const incident = incidentIn(result?.content);
  const last = incident === undefined ? attempts.any : attempts.incident;
  for (let attempt = 1; attempt <= last; attempt += 1) {
    const { exchange } = await requestJson<{ readonly exchange: Exchange }>(market, `/traffic/${id}`);
    const errors = errorsIn(exchange);
    const found = incident === undefined ? errors.at(-1) : errors.find((error) => error.id === incident);
    if (found) return causeOf(found.detail, directory);
    await delay(logWaitMs);
  }
  return undefined;
}

function errorsIn({ logs }: Exchange): readonly Incident[] {
  const written = (stream: 'stdout' | 'stderr') =>
    logs.flatMap((line) => (line.stream === stream ? [`${line.text}\n`] : [])).join('');
  const log = new ServerLog();
  log.add(written('stdout'));
  return [...log.incidents, ...printedErrors(written('stderr'))];
}
