import { maskUrl } from '../command/url-secrets.ts';
import { messageOf } from '../json/json.ts';
import { NotRun } from './not-run.ts';
import type { Probe } from './probe.ts';

/** Thrown if nothing answers at the target. */
export class Unreachable extends Error {
  /** Whether the deadline of the check had passed. */
  readonly isOverdue: boolean;

  constructor(message: string, isOverdue: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isOverdue = isOverdue;
  }
}

/** Sends GET /health and the first request of MCP. @throws Unreachable if neither is answered */
export async function requireReachable(probe: Probe): Promise<void> {
  try {
    await Promise.any([probe.health(), probe.opened()]);
  } catch (error) {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    const isOverdue = errors.some((error) => error instanceof NotRun && error.notRunCause === 'deadline');
    const failure = isOverdue
      ? 'did not answer before the deadline of the check'
      : `does not answer: ${messageOf(errors[0])}`;
    throw new Unreachable(`${maskUrl(probe.url.href)} ${failure}`, isOverdue, { cause: error });
  }
}
