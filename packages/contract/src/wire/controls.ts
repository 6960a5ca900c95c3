import { missingAnswerOf, type SdkSession } from './client.ts';
import { NotRun, type Prevention } from './not-run.ts';
import type { CallOutcome, Probe } from './probe.ts';
import { Unanswered } from './receive.ts';
import { isDeniedByStatus, sessionOf } from './rpc.ts';
import { healthMs } from './timeouts.ts';

/**
 * Sends a control request: the request of a rule without the property that the rule tests. Resolves to undefined if it works, else to
 * the reason to skip the rule. Each is sent once for a probe (`Probe.once`).
 */
export type Control = (probe: Probe) => Promise<Prevention | undefined>;

/** initialize returns a result: otherwise the target is not an MCP server, and no other rule can be checked. */
export const canInitialize: Control = async (probe) =>
  (await probe.firstInitialize()).result ? undefined : 'initialize';

/** Sends the control requests of a rule. @throws NotRun if one fails: then the requests of the rule would prove nothing. */
export async function requireControls(
  probe: Probe,
  controls: readonly Control[] = [canInitialize],
): Promise<void> {
  for (const works of controls) {
    const reason = await works(probe);
    if (reason !== undefined) throw NotRun.preventedBy(reason);
  }
}

/** server/discover returns a result: a server that does not speak the stateless revision is not checked by its rules. */
export const speaksModern: Control = async (probe) => {
  if ((await probe.discovered()).result) return undefined;
  throw NotRun.because('inapplicable', 'the server does not speak MCP 2026-07-28 (modern.served)');
};

/** The server speaks MCP of either era. */
export const speaksAny: Control = async (probe) => {
  const { result } = await probe.opened();
  if (result || (await probe.discovered()).result) return undefined;
  return canInitialize(probe);
};

/** Some answer looks like one of an MCP server, even if it cannot be read. */
export const triesMcp: Control = async (probe) => (probe.ledger.speaksJsonRpc ? undefined : speaksAny(probe));

/** The first initialize opens a session. */
export const opensSession: Control = async (probe) => {
  const { http, result } = await probe.firstInitialize();
  if (!result) return canInitialize(probe);
  if (sessionOf(http) === undefined) return 'session';
  return undefined;
};

/** A second, ordinary initialize also returns a result. */
export const initializesAgain: Control = async (probe) => {
  const first = await canInitialize(probe);
  if (first !== undefined) return first;
  if ((await probe.secondInitialize()).result) return undefined;
  return 'initializeAgain';
};

/** tools/list returns a list in the shared session; later pages do not matter. */
export const lists: Control = async (probe) => {
  const { fault } = await probe.fetchedToolList();
  if (fault?.page !== 1) return undefined;
  throw fault.noAnswer ?? NotRun.preventedBy('list');
};

/** GET /health is answered. */
export const reportsHealth: Control = async (probe) => {
  await probe.health();
  return undefined;
};

/** GET /health is answered soon: otherwise it does not show whether a request delays others. */
export const reportsHealthInTime: Control = async (probe) =>
  (await probe.health()).ms <= healthMs ? undefined : 'slowHealth';

/** tools/list returns a list, to its last page. */
export const listsAll: Control = async (probe) => {
  await probe.toolList();
  return undefined;
};

/** The client of the MCP SDK lists the tools without a token. */
export const listsInClient: Control = async (probe) => {
  const listing = await clientListing(probe).catch((error: unknown) => {
    if (error instanceof Unanswered) return error; // discovery.client reports it
    throw error;
  });
  if (Array.isArray(listing)) return undefined;
  return 'clientList';
};

/** The tools that the SDK's client lists without a token, or its error. Requested once for a probe; a later probe asks again. @throws NoAnswer */
export function clientListing(probe: Probe): Promise<readonly object[] | ListRejected> {
  return probe.once('client listing', async () => {
    const session = await orRejection(listingClient(probe));
    if (session instanceof ListRejected) return session;
    await session.close();
    return session.tools;
  });
}

/** Thrown if the SDK's client rejects the list of tools, or the connection before it. */
export class ListRejected extends Error {}

/** A session of the SDK's client that has listed the tools. @throws NoAnswer @throws ListRejected */
export async function listingClient(
  probe: Probe,
  token?: () => Promise<string | undefined>,
): Promise<SdkSession & { readonly tools: readonly object[] }> {
  let session: SdkSession | undefined;
  try {
    session = await probe.client(token);
    const { tools } = await session.client.listTools();
    return { ...session, tools };
  } catch (error) {
    await session?.close();
    if (error instanceof NotRun) throw error;
    throw missingAnswerOf(error) ?? new ListRejected((error as Error).message);
  }
}

/** What needs the list of tools, or the client's error about it. */
export function orRejection<T>(listing: Promise<T>): Promise<T | ListRejected> {
  return listing.catch((error: unknown) => {
    if (error instanceof ListRejected) return error;
    throw error;
  });
}

/** A tools/call, paid if the server requires it, gets a JSON-RPC response. */
export const answersCalls: Control = async (probe) => {
  if (await probe.hasCases()) {
    if ((await answeredCalls(probe)).some(({ rpc }) => rpc.response)) return undefined;
    return 'noResponse';
  }
  if ((await probe.ordinaryCall()).response) return undefined;
  return 'noPaidResponse';
};

/**
 * The calls that were answered.
 *
 * @throws NotRun if none was: there is no result to check.
 */
export async function answeredCalls(probe: Probe): Promise<readonly CallOutcome[]> {
  const answered = answeredOf(await probe.outcomes());
  const hasSuccess = answered.some(({ result }) => result !== undefined && result.isError !== true);
  if (!hasSuccess && probe.target.signer && (await probe.deniesPaid())) throw NotRun.preventedBy('refused');
  return answered;
}

/** Those of these calls that were answered. @throws NotRun if none was, or if authentication refused all. */
export function answeredOf(outcomes: readonly CallOutcome[]): readonly CallOutcome[] {
  const answered = outcomes.filter(({ rpc }) => rpc.http.status > 0);
  if (answered.length === 0) throw noAnswerTo(outcomes);
  if (answered.every(({ rpc }) => isDeniedByStatus(rpc.http))) throw NotRun.preventedBy('refused');
  return answered;
}

/** The reason for rules about calls of which none was answered. */
export function noAnswerTo(outcomes: readonly CallOutcome[]): NotRun {
  return NotRun.because('unanswered', `no call was answered: ${outcomes[0]?.rpc.http.body}`);
}

/** A tools/call without a token is refused: otherwise other ways past authentication prove nothing. */
export const refusesUnpaid: Control = async (probe) => {
  if (!(await probe.isUngated())) return undefined;
  if ((await probe.unpaidCall()).result) return 'ungated';
  return 'unrefused';
};

/** A tools/call with a valid token is accepted: if a server refuses every call, a refusal proves nothing. */
export const admitsPaid: Control = async (probe) => {
  const { response } = await probe.paidCall();
  if (await probe.deniesPaid()) return 'refused';
  if (response) return undefined;
  return 'noPaidResponse';
};
