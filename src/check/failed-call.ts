import type { Cause } from 'market-mcp-contract/definition';
import { causeOf } from './log-causes.ts';
import type { Incident, SourceFailure } from './log-events.ts';

/** A failed call, as its answer describes it. */
export interface FailedCall {
  /** Absent if the log contains this call only. */
  readonly tool?: string;
  /** The code of the failure; null or absent if the answer has none. */
  readonly code?: string | null | undefined;
  /** The id of the incident that the answer contains. */
  readonly incident?: string | undefined;
}

/** What a server has logged that may explain a failed call. */
export interface LoggedErrors {
  readonly incidents: readonly Incident[];
  readonly failures: readonly SourceFailure[];
}

/** Why a call failed, as its server logged it. */
export interface LoggedCause {
  /** Absent if the log has only the request. */
  readonly cause?: Cause;
  /** What to do, as the server logged it. */
  readonly hint?: string | undefined;
  /** The failed request to an API; absent if an error in the code of the server is the cause. */
  readonly failure?: SourceFailure;
}

/**
 * Finds the logged cause of a failed call: the failed request to an API with the code of the answer, or the error whose id
 * the answer contains. The last printed error of the tool explains an answer without an id.
 *
 * @param directory the project: locations in it are shown relative to it
 */
export function findLoggedCause(
  { tool, code, incident: id }: FailedCall,
  { incidents, failures }: LoggedErrors,
  directory: string,
): LoggedCause | undefined {
  const belongsToCall = (event: Incident | SourceFailure) => tool === undefined || event.tool === tool;
  const failure = failures.find((event) => belongsToCall(event) && event.code === code);
  if (failure) {
    const { detail, at, hint } = failure;
    if (detail === undefined) return { failure, hint };
    const cause = causeOf(detail, directory);
    return { failure, hint, cause: at === undefined ? cause : { ...cause, at } };
  }
  const incident =
    id === undefined
      ? incidents.findLast((event) => event.id === undefined && belongsToCall(event))
      : incidents.find((event) => event.id === id);
  return incident && { cause: causeOf(incident.detail, directory), hint: incident.hint };
}
