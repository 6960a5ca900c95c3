import { randomUUID } from 'node:crypto';
import { CommandError } from 'market-mcp-contract/command';
import {
  attempt,
  isObject,
  type Json,
  type JsonObject,
  mismatches,
  objectOr,
  tryCompile,
} from 'market-mcp-contract/json';
import { walkableValuesIn } from './answer-values.ts';
import { resultData } from './call-verdict.ts';
import type { Dispute, DisputeVerdict, Listing, MarketplaceState } from './marketplace-model.ts';
import { redactValue } from './redact-traffic.ts';
import type { MarketplaceStore } from './state-store.ts';
import { type Exchange, sentBody, sentTo, type Traffic } from './traffic.ts';

/**
 * A listing is removed from the marketplace after this number of guilty verdicts (public source: app
 * api/v1/tools/dispute/route.ts).
 */
export const guiltyLimit = 5;

/**
 * Files a dispute about a logged call: `schema_mismatch`, the only reason that is checked automatically.
 *
 * @param tool the tool that the dispute names; if it names none, the first of the listing, as on the
 *   public marketplace.
 * @throws CommandError if the call cannot be disputed.
 */
export async function fileDispute(
  store: MarketplaceStore,
  traffic: Traffic,
  call: number,
  tool?: string | null,
): Promise<Dispute> {
  const exchange = traffic.get(call);
  if (!exchange)
    throw new CommandError('NO_SUCH_CALL', `there is no call ${call} in the traffic`, 'See Traffic.');
  const { calledTool, listing } = requireDisputable(exchange, await store.read());
  const output = loggedData(exchange);
  const toolName = tool === null ? undefined : (tool ?? calledTool);
  const definition = listing.tools
    .filter(isObject)
    .find(({ name }) => toolName === undefined || name === toolName);
  const verdict = verdictOf(definition, output);
  const dispute: Dispute = {
    ...verdict,
    id: randomUUID(),
    listing: listing.id,
    tool: String(definition?.name ?? toolName ?? calledTool),
    call,
    arguments: exchange.rpc?.arguments,
    reason: 'schema_mismatch',
    output: redactValue(output ?? null),
    filedAt: new Date().toISOString(),
  };
  await store.update((state) => {
    const allDisputes = [...state.disputes, dispute];
    const isOff = guiltyOf(listing.id, allDisputes) >= guiltyLimit;
    const after = (earlier: Listing): Listing =>
      earlier.id === listing.id && isOff ? { ...earlier, state: 'delisted' } : earlier;
    return { ...state, disputes: allDisputes, listings: state.listings.map(after) };
  });
  return dispute;
}

/** Whether a logged call can be disputed. */
export function isDisputable(exchange: Exchange, state: MarketplaceState): boolean {
  return attempt(() => Boolean(requireDisputable(exchange, state)), false);
}

/** @throws CommandError if an exchange cannot be disputed. */
function requireDisputable(
  { id, at, rpc, outcome, response, [sentTo]: sentEndpoint }: Exchange,
  { disputes, listings }: MarketplaceState,
): { readonly calledTool: string; readonly listing: Listing } {
  const calledTool = rpc?.tool;
  const listing = listings.find(({ endpoint }) => endpoint === sentEndpoint);
  if (!calledTool || !listing) {
    const hint = 'Only a tools/call of a listed endpoint can be disputed.';
    throw new CommandError('NOT_DISPUTABLE', `request ${id} is not a call of a listed tool`, hint);
  }
  if (outcome?.kind === 'refused') {
    const message = `call ${id} was refused as the contract asks, so no buyer paid for it`;
    throw new CommandError('NOT_DISPUTABLE', message, 'Dispute a call that was made with a valid token.');
  }
  if (disputes.some((dispute) => dispute.call === id && dispute.filedAt >= at)) {
    const hint = 'A call can be disputed only once.';
    throw new CommandError('ALREADY_DISPUTED', `call ${id} is already disputed`, hint);
  }
  if (!response || response.cut > 0) {
    const reason = response ? 'its response is too long to be stored whole' : 'it has no response';
    const hint = 'Make the call again so that it returns a shorter response, and dispute that call.';
    throw new CommandError('NOT_DISPUTABLE', `call ${id} cannot be judged: ${reason}`, hint);
  }
  return { calledTool, listing };
}

/** The number of guilty verdicts on a listing. */
export function guiltyOf(listing: string, disputes: readonly Dispute[]): number {
  return disputes.filter((dispute) => dispute.listing === listing && dispute.verdict === 'guilty').length;
}

/**
 * Decides a dispute about `schema_mismatch` by the schema of the last listing or refresh, as the
 * marketplace does: without a schema a person must decide, a schema that does not compile is the author's fault, and in all
 * other cases the output decides (public source: app api/v1/tools/dispute/route.ts).
 *
 * @param tool the stored definition; undefined if the listing has no such tool.
 */
function verdictOf(tool: JsonObject | undefined, output: Json | undefined): DisputeVerdict {
  const schema = tool?.outputSchema;
  if (!isObject(schema)) return { verdict: 'manual_review', problems: [] };
  const compiled = tryCompile(schema);
  if (!compiled.ok) {
    const problem = { path: 'outputSchema', expected: 'a schema that compiles', actual: compiled.reason };
    return { verdict: 'guilty', problems: [problem] };
  }
  const problems = mismatches(schema, output, 'structuredContent');
  return { verdict: problems.length > 0 ? 'guilty' : 'innocent', problems };
}

/** The data that a logged call returned. */
function loggedData({ response }: Exchange): Json | undefined {
  if (!response) return undefined;
  const values = walkableValuesIn(response[sentBody] ?? response.body, response.headers['content-type']);
  const answer = values.filter(isObject).find(({ result }) => isObject(result));
  return resultData(objectOr(answer?.result));
}
