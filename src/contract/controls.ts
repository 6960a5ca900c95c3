import { NotRun } from './not-run.ts';
import type { CallOutcome, Probe } from './probe/probe.ts';
import { missing } from './probe/reasons.ts';
import { isRefusal, sessionOf } from './probe/rpc.ts';
import type { Control } from './rule.ts';

/** initialize is answered by a result: whatever answers otherwise is not an MCP server, and nothing else can be said of it. */
export const initializes: Control = async (probe) =>
  (await probe.initialized()).result ? undefined : 'initialize gave no result (discovery.initialize)';

/** The first initialize opens a session. */
export const opensSession: Control = async (probe) => {
  const { http, result } = await probe.initialized();
  if (!result) return initializes(probe);
  return sessionOf(http) === undefined ? missing.session : undefined;
};

/** A second initialize, with nothing odd about it, is answered by a result too. */
export const initializesAgain: Control = async (probe) => {
  const first = await initializes(probe);
  if (first !== undefined) return first;
  const { result } = await probe.once('initialize again', () => probe.initialize());
  return result ? undefined : 'a second initialize without it fails as well (session.unique)';
};

/** tools/list is answered by a list, in the session that all rules share. */
export const lists: Control = async (probe) => {
  await probe.listing();
  return undefined;
};

/** GET /health is answered. */
export const reportsHealth: Control = async (probe) => {
  await probe.health();
  return undefined;
};

/** A tools/call, paid for where the server asks for it, is answered in JSON-RPC. */
export const answersCalls: Control = async (probe) => {
  const answered = await answeredCalls(probe);
  return answered.some(({ rpc }) => rpc.response) ? undefined : 'no call gave a JSON-RPC response';
};

/**
 * Those of all calls that were answered at all.
 *
 * @throws NotRun where none was: nothing can be said of results that nobody has seen.
 */
export async function answeredCalls(probe: Probe): Promise<readonly CallOutcome[]> {
  return answeredOf(await probe.outcomes());
}

/** Those of some calls that were answered at all. @throws NotRun where none was. */
export function answeredOf(outcomes: readonly CallOutcome[]): readonly CallOutcome[] {
  const answered = outcomes.filter(({ rpc }) => rpc.http.status > 0);
  if (answered.length > 0) return answered;
  throw new NotRun(`no call was answered: ${outcomes[0]?.rpc.http.body}`, 'unanswered');
}

/** A tools/call without a token is turned down: what gets past authentication otherwise is nothing special. */
export const refusesUnpaid: Control = async (probe) => {
  const { http, result, error } = await probe.unpaidCall();
  if (result) return 'a call without a token runs as well (gate.no-token)';
  const isTurnedDown = error !== undefined || (http.status >= 400 && http.status < 500);
  return isTurnedDown ? undefined : 'a call without a token is not refused (gate.no-token)';
};

/** A tools/call with a valid token is let through: a server that refuses every call tells nothing by refusing one. */
export const admitsPaid: Control = async (probe) => {
  const { http, response } = await probe.paidCall();
  if (isRefusal(http)) return 'a call with a valid token was refused (gate.valid-token)';
  return response ? undefined : 'a call with a valid token gave no response (gate.valid-token)';
};
