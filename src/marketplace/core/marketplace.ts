import { EventEmitter } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { CommandError } from 'market-mcp-contract/command';
import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { changesBetween, type ListingChange } from 'market-mcp-contract/report';
import { sampleArguments } from 'market-mcp-contract/wire';
import { isDown, type ServerState, stateLines } from '../../dev/state.ts';
import { failedOutcome, hasNoMismatch } from './call-verdict.ts';
import { type CallOrder, type CallReport, ToolCaller } from './caller.ts';
import { Causes, wantsCause } from './cause.ts';
import { fileDispute, guiltyOf, isDisputable } from './dispute-report.ts';
import { Jobs } from './jobs.ts';
import { publishedKeySet } from './key-set.ts';
import type {
  CallCause,
  Dispute,
  Listing,
  ListingForm,
  MarketplaceOptions,
  RegistrationStep,
  SavedExample,
  Submission,
} from './marketplace-model.ts';
import { redactText, withSecrets } from './redact-traffic.ts';
import { submit, type ToolWithName, toolsWithNames, withSources } from './registration.ts';
import { MarketplaceStore } from './state-store.ts';
import { type LogLine, sentBody, sentTo, Traffic } from './traffic.ts';

/** How a listing differs from its server. */
export interface ListingStatus {
  readonly listing: Listing;
  readonly healthy: boolean;
  /** The differences between the server's tools/list and the stored one; null if the server returns none. */
  readonly changes: readonly ListingChange[] | null;
  readonly guilty: number;
}

/** The platform's side of the contract on this machine. */
export class Marketplace extends EventEmitter<{ change: [topic: string] }> {
  readonly options: MarketplaceOptions;
  readonly store: MarketplaceStore;
  readonly traffic: Traffic;
  readonly jobs: Jobs;
  readonly caller: ToolCaller;
  readonly keySet: JsonObject;
  /** Output of the author's server that belongs to no request. */
  readonly serverLog: LogLine[] = [];
  readonly #causes: Causes;

  private constructor(options: MarketplaceOptions) {
    super();
    this.setMaxListeners(0);
    const { profile, privateKey, issuer, directory } = options;
    this.options = options;
    this.store = new MarketplaceStore(directory);
    this.traffic = new Traffic(undefined, () => this.emit('change', 'traffic'));
    this.jobs = new Jobs(({ id, kind, state, steps }) => {
      this.emit('change', `job:${id}`);
      if (state === 'done' || steps.length === 0) this.emit('change', kind);
    });
    this.caller = new ToolCaller(profile, this.traffic, privateKey, issuer);
    this.keySet = publishedKeySet(privateKey, profile.token.algorithms[0] ?? 'RS256');
    this.#causes = new Causes(options, this.traffic, this);
  }

  /** @throws CommandError `STATE_DAMAGED` if the stored state cannot be read. */
  static async open(options: MarketplaceOptions): Promise<Marketplace> {
    const marketplace = new Marketplace(options);
    await marketplace.store.read();
    return marketplace;
  }

  get profile(): PlatformProfile {
    return this.options.profile;
  }

  /** The state of the author's server; null if it belongs to no project. */
  async state(): Promise<ServerState | null> {
    return (await this.options.state?.()) ?? null;
  }

  /** @throws CommandError `NOT_STARTED` if the author's server is known to be down: nothing at this endpoint is it. */
  async requireRunning(endpoint: string): Promise<void> {
    const state = await this.state();
    if (state === null || endpoint !== this.options.endpoint || !isDown(state)) return;
    const [hint = '', ...causes] = stateLines(state).toReversed();
    throw new CommandError('NOT_STARTED', [state.message, ...causes.toReversed()].join(' '), hint);
  }

  /** The tools of a server, or why they cannot be read. */
  async readTools(
    endpoint: string | null,
  ): Promise<{ readonly tools: readonly ToolWithName[]; readonly problem: string | null }> {
    try {
      if (endpoint === null) return { tools: [], problem: null };
      await this.requireRunning(endpoint);
      return { tools: toolsWithNames(await this.caller.tools(endpoint)), problem: null };
    } catch (error) {
      return { tools: [], problem: (error as Error).message };
    }
  }

  /** Submits a form; an accepted listing is stored. */
  async register(form: ListingForm, onStep?: (step: RegistrationStep) => void): Promise<Submission> {
    const { listings } = await this.store.read();
    const usedEndpoints = listings.map(({ endpoint }) => endpoint);
    const { endpoint, sources = new Map() } = this.options;
    const ownSources = form.endpoint === endpoint ? sources : new Map();
    const submission = await submit(
      form,
      usedEndpoints,
      this.caller,
      (tool) => this.#causes.ofRegistration(tool),
      (step) => onStep?.(withSources(step, ownSources)),
    );
    if (submission.accepted) await this.#change((before) => [...before, submission.listing]);
    return submission;
  }

  /** @throws CommandError if there is no such listing. */
  async listing(id: string): Promise<Listing> {
    const { listings } = await this.store.read();
    const found = listings.find((listing) => [listing.id, listing.endpoint, listing.name].includes(id));
    if (found) return found;
    const hint = `Listings: ${listings.map(({ name }) => name).join(', ') || 'none'}.`;
    throw new CommandError('NO_SUCH_LISTING', `there is no listing ${JSON.stringify(id)}`, hint);
  }

  async status(listing: Listing): Promise<ListingStatus> {
    const { endpoint, id, tools } = listing;
    const { disputes } = await this.store.read();
    const [healthy, listedNow] = await Promise.all([
      this.isHealthy(endpoint),
      this.caller.tools(endpoint).catch(() => null),
    ]);
    return {
      listing,
      healthy,
      changes: listedNow && changesBetween(tools, listedNow),
      guilty: guiltyOf(id, disputes),
    };
  }

  async isHealthy(endpoint: string): Promise<boolean> {
    return this.caller
      .probing(endpoint, { purpose: 'discovery' }, (probe) => probe.health())
      .then(({ status }) => status === 200)
      .catch(() => false);
  }

  /** "Refresh Skills" (C§3.2): calls tools/list again and replaces the stored tools. */
  async refresh(
    id: string,
  ): Promise<{ readonly listing: Listing; readonly changes: readonly ListingChange[] }> {
    const before = await this.listing(id);
    const tools = await this.caller.tools(before.endpoint, 'refresh').catch((error: Error) => {
      const hint = 'Start the server and try again. The stored list is unchanged.';
      throw new CommandError('NOT_REFRESHED', error.message, hint);
    });
    const listing = { ...before, tools, refreshedAt: new Date().toISOString() };
    await this.#change((listings) =>
      listings.map((otherListing) => (otherListing.id === before.id ? listing : otherListing)),
    );
    return { listing, changes: changesBetween(before.tools, tools) };
  }

  async withdraw(id: string): Promise<void> {
    const { id: withdrawn } = await this.listing(id);
    await this.#change((listings) => listings.filter((listing) => listing.id !== withdrawn));
  }

  async #change(change: (before: readonly Listing[]) => readonly Listing[]): Promise<void> {
    await this.store.update((state) => ({ ...state, listings: change(state.listings) }));
    this.emit('change', 'listings');
  }

  /** Calls a tool; if that fails, the report has the cause that the author's server logged. */
  async call(order: CallOrder): Promise<CallReport> {
    const report = await this.caller.call(order);
    const { id, result, verdict } = report;
    const hasFailed = !result || this.traffic.get(id)?.outcome?.kind === 'failed';
    // To the platform, such a result is a failure (C§7).
    if (!hasFailed && !hasNoMismatch(verdict)) {
      this.traffic.change(id, { outcome: failedOutcome('schema mismatch') });
    }
    if (!wantsCause(report)) return report;
    return { ...report, cause: await this.#causes.of(order, id, report) };
  }

  /** Why a recorded call failed, from its answer and what the author's server logged; null if it did not, or that is not known. */
  causeOf(exchange: number): Promise<CallCause | null> {
    return this.#causes.ofFailed(exchange);
  }

  /** The arguments that the submission test sends to a tool. */
  sample(inputSchema: Json | undefined): JsonObject {
    return sampleArguments(isObject(inputSchema) ? inputSchema : {}, this.profile.smoke);
  }

  /** Whether a logged call can be disputed. */
  async canDispute(call: number): Promise<boolean> {
    const exchange = this.traffic.get(call);
    return exchange !== undefined && isDisputable(exchange, await this.store.read());
  }

  /**
   * Files a dispute about a logged call (see `fileDispute`).
   *
   * @throws CommandError if the call cannot be disputed.
   */
  dispute(call: number, tool?: string | null): Promise<Dispute> {
    return fileDispute(this.store, this.traffic, call, tool);
  }

  /**
   * Sends a request body again to the endpoint of an exchange, with a new session, a new token and the secrets that the body shows as
   * redacted. @returns the id of the new
   * exchange.
   */
  async replay(id: number, body?: string): Promise<number> {
    const exchange = this.traffic.get(id);
    if (!exchange)
      throw new CommandError('NO_SUCH_CALL', `there is no request ${id} in the traffic`, 'See Traffic.');
    if (exchange.request.cut > 0 && body === undefined) {
      const hint = 'Send the body again with the replay.';
      throw new CommandError('NOT_KEPT', `the body of request ${id} was too long to store`, hint);
    }
    const { method, request } = exchange;
    return this.caller.probing(exchange[sentTo], { purpose: 'replay' }, async (probe, recorder) => {
      const session = request.headers['mcp-session-id'] === undefined ? undefined : await probe.session();
      const header = this.profile.token.header.toLowerCase();
      const token = request.headers[header] === undefined ? undefined : await probe.token();
      const sentRequestBody =
        body === undefined ? (request[sentBody] ?? request.body) : withSecrets(body, request[sentBody]);
      // The recorded exchange says why a request got no response.
      if (method === 'POST') await probe.post(sentRequestBody, { session, token }).catch(() => {});
      else
        await probe.http({ method, headers: session ? { 'mcp-session-id': session } : {} }).catch(() => {});
      return recorder.last ?? id;
    });
  }

  async saveExample(example: SavedExample): Promise<void> {
    const callOf = ({ endpoint, tool, arguments: args }: SavedExample) =>
      JSON.stringify([endpoint, tool, args]);
    await this.store.update((state) => {
      const otherExamples = state.examples.filter((otherExample) => callOf(otherExample) !== callOf(example));
      return { ...state, examples: [...otherExamples, example] };
    });
  }

  /** Records output of the author's server, without the colors that it has at a terminal; `exchange` identifies the request that caused it. */
  takeLog({ stream, text }: LogLine, exchange: number | undefined): void {
    const line = { stream, text: redactText(stripVTControlCharacters(text.slice(0, keptCharacters))) };
    if (exchange !== undefined && this.traffic.get(exchange)) {
      this.traffic.log(exchange, line);
      return;
    }
    this.serverLog.push(line);
    if (this.serverLog.length > keptServerLines) this.serverLog.shift();
    this.emit('change', 'log');
  }
}

const keptServerLines = 500;
/** Of what is written at once. */
const keptCharacters = 64 * 1024;
