import { NotRun } from './not-run.ts';
import type { CallOutcome, Probe } from './probe/probe.ts';
import { missing } from './probe/reasons.ts';
import { isRefusal, sessionOf } from './probe/rpc.ts';
import type { Control } from './rule.ts';

/** initialize returns a result: otherwise the target is not an MCP server, and no other rule can be judged. */
export const initializes: Control = async (probe) =>
  (await probe.initialized()).result ? undefined : 'initialize returned no result (see discovery.initialize)';

/** server/discover returns a result: a server that does not speak the stateless revision is not judged by its rules. */
export const speaksModern: Control = async (probe) => {
  if ((await probe.discovered()).result) return undefined;
  throw new NotRun('the server does not speak MCP 2026-07-28 (modern.served)', 'inapplicable');
};

/** The server speaks MCP of either era. */
export const speaksAny: Control = async (probe) => {
  const { result } = await probe.greeted();
  return result || (await probe.discovered()).result ? undefined : initializes(probe);
};

/** The first initialize opens a session. */
export const opensSession: Control = async (probe) => {
  const { http, result } = await probe.initialized();
  if (!result) return initializes(probe);
  return sessionOf(http) === undefined ? missing.session : undefined;
};

/** A second, ordinary initialize returns a result, too. */
export const initializesAgain: Control = async (probe) => {
  const first = await initializes(probe);
  if (first !== undefined) return first;
  const { result } = await probe.once('initialize again', () => probe.initialize());
  return result ? undefined : 'a second, ordinary initialize fails as well (see session.unique)';
};

/** tools/list returns a list in the shared session. */
export const lists: Control = async (probe) => {
  await probe.listing();
  return undefined;
};

/** GET /health is answered. */
export const reportsHealth: Control = async (probe) => {
  await probe.health();
  return undefined;
};

/** A tools/call, paid if the server requires it, gets a JSON-RPC response. */
export const answersCalls: Control = async (probe) => {
  const answered = await answeredCalls(probe);
  return answered.some(({ rpc }) => rpc.response) ? undefined : 'no call got a JSON-RPC response';
};

/**
 * The calls that were answered.
 *
 * @throws NotRun if none was: there is no result to judge.
 */
export async function answeredCalls(probe: Probe): Promise<readonly CallOutcome[]> {
  return answeredOf(await probe.outcomes());
}

/** Those of these calls that were answered. @throws NotRun if none was. */
export function answeredOf(outcomes: readonly CallOutcome[]): readonly CallOutcome[] {
  const answered = outcomes.filter(({ rpc }) => rpc.http.status > 0);
  if (answered.length > 0) return answered;
  throw new NotRun(`no call was answered: ${outcomes[0]?.rpc.http.body}`, 'unanswered');
}

/** A tools/call without a token is refused: otherwise other ways past authentication prove nothing. */
export const refusesUnpaid: Control = async (probe) => {
  const { http, result, error } = await probe.unpaidCall();
  if (result) return 'an ordinary call without a token runs as well (see gate.no-token)';
  const isTurnedDown = error !== undefined || (http.status >= 400 && http.status < 500);
  return isTurnedDown ? undefined : 'an ordinary call without a token is not refused (see gate.no-token)';
};

/** A tools/call with a valid token is accepted: if a server refuses every call, a refusal proves nothing. */
export const admitsPaid: Control = async (probe) => {
  const { http, response } = await probe.paidCall();
  if (isRefusal(http)) return 'a call with a valid token was refused (see gate.valid-token)';
  return response ? undefined : 'a call with a valid token got no response (see gate.valid-token)';
};
