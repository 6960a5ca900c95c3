import { mapConcurrently } from '../concurrency.ts';
import { isObject, present } from '../json.ts';
import type { Json, JsonObject } from '../model.ts';
import { consent, harmless, NotRun } from '../not-run.ts';
import type { Target } from '../target.ts';
import { bounds, isReadable } from '../walk.ts';
import { type CallCase, casesOf } from './cases.ts';
import { connect, missingAnswerOf, type SdkSession } from './client.ts';
import type { HttpAnswer } from './http.ts';
import { type Listing, listTools, type Pages } from './listing.ts';
import { modernRpc, parameterHeaders } from './modern.ts';
import { planOf } from './plan.ts';
import { type PostOptions, Requests } from './requests.ts';
import { isRefusal, nextId, type RpcAnswer, rpcAnswer, rpcRequest, sessionOf, unanswered } from './rpc.ts';
import { leastHarmfulFirst, verdictOn } from './safety.ts';

/** The name of a tool that no server has. */
export const noSuchTool = 'no_such_tool';

/** The code of a source kit that replays, for a request that has no recording. */
const notRecorded = 'SOURCE_NOT_RECORDED';

/** A tool may use another service, which has its own limits. */
const callsAtOnce = 4;

/** The facts that a new session replaces. */
const ofSession = ['initialized', 'session', 'initialized again', 'two at once'];

/** A finished tools/call. */
export interface CallOutcome extends CallCase {
  readonly rpc: RpcAnswer;
  /** Undefined if the server answered with an error, or not in JSON-RPC. */
  readonly result: JsonObject | undefined;
}

/**
 * A server under examination: its requests, and the facts that many rules build on, each asked for once.
 * A fact that is not available throws `NotRun`; a separate rule reports why.
 */
export class Probe extends Requests {
  readonly #facts = new Map<string, Promise<unknown>>();

  /** @param earlier a probe of the same server, whose session, methods, list of tools and permission to call them this one reuses. */
  constructor(target: Target, signal?: AbortSignal, earlier?: Probe) {
    super(target, signal);
    if (!earlier) return;
    for (const name of [...ofSession, 'other method', 'pages', 'modern pages', 'tools', 'callable']) {
      const fact = earlier.#facts.get(name);
      if (fact) this.#facts.set(name, fact);
    }
  }

  /** Ends the sessions of this probe. The next request opens a new one. */
  async startAfresh(): Promise<void> {
    for (const name of ofSession) this.#facts.delete(name);
    await this.endSessions();
  }

  /** One JSON-RPC request, in the shared session unless another is named. */
  async rpc(method: string, params?: Json, options: PostOptions = {}): Promise<RpcAnswer> {
    const session = options.session ?? (await this.session());
    const id = nextId();
    return rpcAnswer(await this.post(rpcRequest(id, method, params), { ...options, session }), id);
  }

  /** The answer to the run's first initialize. */
  initialized(): Promise<RpcAnswer> {
    return this.once('initialized', () => this.initialize());
  }

  /** The answer to a second, ordinary initialize. */
  initializedAgain(): Promise<RpcAnswer> {
    return this.once('initialized again', () => this.initialize());
  }

  /** The answer to the run's first server/discover, with which the stateless revision begins. */
  discovered(): Promise<RpcAnswer> {
    return this.once('discovered', () => modernRpc(this, 'server/discover'));
  }

  /** The answer to the opening request of the judged era. */
  greeted(): Promise<RpcAnswer> {
    return this.#isModernAlone ? this.discovered() : this.initialized();
  }

  get #isModernAlone(): boolean {
    return this.target.era === 'modern';
  }

  /**
   * A session that all rules share; rules that end or break sessions open their own with `newSession`. Undefined if
   * the server opens none and answers without one, which a separate rule reports.
   */
  session(): Promise<string | undefined> {
    return this.once('session', async () => {
      const session = await this.enter(await this.initialized());
      if (session === undefined && !(await this.isStateless())) throw NotRun.by('session');
      return session;
    });
  }

  /** A new session. */
  async newSession(): Promise<string> {
    const session = await this.enter(await this.initialize());
    if (session === undefined) throw NotRun.by('sessionAgain');
    return session;
  }

  /** The session that an initialize has opened. The server is notified that it is in use, as by every client. */
  async enter({ http, result }: RpcAnswer): Promise<string | undefined> {
    const session = result && sessionOf(http);
    if (session !== undefined) {
      await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { session });
    }
    return session;
  }

  async isStateless(): Promise<boolean> {
    const id = nextId();
    return rpcAnswer(await this.post(rpcRequest(id, 'tools/list')), id).result !== undefined;
  }

  health(): Promise<HttpAnswer> {
    return this.once('health', () => this.http({ path: '/health' }));
  }

  /** The elements of the tool list that are checked. */
  async listed(): Promise<readonly Json[]> {
    return (await this.listing()).tools;
  }

  /** The tool list. @throws NotRun, NoAnswer if it cannot be read to its end. */
  async listing(): Promise<Listing> {
    const { fault, ...listing } = await this.pages();
    if (fault) throw fault.silence ?? NotRun.by('list');
    return listing;
  }

  /** The pages of the tool list, read once. */
  pages(): Promise<Pages> {
    return this.once('pages', () => listTools((params) => this.#plain('tools/list', params)));
  }

  /** The pages of the tool list in the stateless revision, read once. */
  modernPages(): Promise<Pages> {
    if (this.#isModernAlone) return this.pages();
    return this.once('modern pages', () =>
      listTools((params) => modernRpc(this, 'tools/list', isObject(params) ? params : {})),
    );
  }

  /** The tools that are checked: the objects of the list, within the limits. */
  tools(): Promise<readonly JsonObject[]> {
    return this.once('tools', async () =>
      (await this.listed())
        .slice(0, bounds.tools)
        .filter(isObject)
        .filter((tool) => isReadable(tool)),
    );
  }

  /**
   * The token of a call that must run, with these additional claims. None if no key is available and the server
   * accepts unpaid calls, which a separate rule reports.
   */
  async payment(claims?: JsonObject): Promise<string | undefined> {
    if (!this.target.signer && (await this.isUngated())) return undefined;
    return this.token(claims && { claims });
  }

  /** Whether a tools/call without a token is answered by a result. */
  async isUngated(): Promise<boolean> {
    return (await this.unpaidCall()).result !== undefined;
  }

  /** A tools/call without a token, made once in a run. */
  unpaidCall(): Promise<RpcAnswer> {
    return this.once('unpaid call', async () => {
      const { name, arguments: args } = await this.authenticationCall();
      const timeoutMs = this.timeoutMs(this.profile.limits.callMs);
      return this.#plain('tools/call', present({ name, arguments: args }), { timeoutMs });
    });
  }

  /** A request in the judged era; in a session if both are judged. */
  async #plain(method: string, params?: Json, options: PostOptions = {}): Promise<RpcAnswer> {
    if (!this.#isModernAlone) return this.rpc(method, params, options);
    const given = isObject(params) ? params : {};
    const repeated = method === 'tools/call' ? await this.repeatedHeaders(given) : {};
    const headers = { ...repeated, ...options.headers };
    return modernRpc(this, method, given, { ...options, headers });
  }

  /** The headers of the stateless revision that repeat arguments of a call. */
  async repeatedHeaders({ name, arguments: args }: JsonObject): Promise<Readonly<Record<string, string>>> {
    const tools = (await this.pages()).fault ? [] : await this.tools();
    const tool = tools.find((one) => one.name === name);
    return parameterHeaders(tool?.inputSchema, args);
  }

  /** A tools/call with a valid token, made once in a run. */
  paidCall(): Promise<RpcAnswer> {
    return this.once('paid call', async () => {
      const { name, arguments: args } = await this.authenticationCall();
      return this.#call(name, args, await this.token());
    });
  }

  /** A tools/call as a marketplace makes it: the paid one, or one without a token if the server accepts that. */
  async ordinaryCall(): Promise<RpcAnswer> {
    return this.target.signer || !(await this.isUngated()) ? this.paidCall() : this.unpaidCall();
  }

  /** The tools that may be called. */
  callable(): Promise<readonly JsonObject[]> {
    return this.once('callable', async () => {
      const { calls, examples } = this.target;
      const tools = await this.tools();
      if (!calls) return tools;
      const named = new Set<Json | undefined>([...calls.named, ...(examples?.keys() ?? [])]);
      const further = await calls.decide?.(planOf(tools, named, examples, this.profile.smoke));
      for (const name of further ?? []) named.add(name);
      // To the server, one name is one tool, however often it is listed.
      const withheld = new Set(
        tools.filter((tool) => !verdictOn(tool, named).isCalled).map(({ name }) => name),
      );
      return tools.filter(({ name }) => !withheld.has(name));
    });
  }

  /** @throws NotRun where a tool is listed that may not be called. */
  async #requireCallable(name: Json): Promise<void> {
    if (!this.target.calls || (await this.pages()).fault) return; // without a list, no call names a real tool
    const isListed = (await this.tools()).some((tool) => tool.name === name);
    if (isListed && !(await this.callable()).some((tool) => tool.name === name))
      throw NotRun.because('withheld', consent);
  }

  /** A tools/call with a valid token, unless the options name another. */
  async call(name: Json, args: Json | undefined, options: PostOptions = {}): Promise<RpcAnswer> {
    const answer = await this.#call(name, args, options.token ?? (await this.payment()), options);
    if (options.token === undefined && isRefusal(answer.http)) throw NotRun.by('refused');
    return answer;
  }

  async #call(
    name: Json,
    args: Json | undefined,
    token: string | undefined,
    options: PostOptions = {},
  ): Promise<RpcAnswer> {
    await this.#requireCallable(name);
    const timeoutMs = this.timeoutMs(this.profile.limits.callMs);
    return this.rpc('tools/call', present({ name, arguments: args }), { timeoutMs, ...options, token });
  }

  /** Every example of every tool, and the submission test's arguments: at least one call. */
  cases(): Promise<readonly [CallCase, ...CallCase[]]> {
    return this.once('cases', async () => {
      const tools = await this.callable();
      const { calls, examples, writing } = this.target;
      const all = casesOf(leastHarmfulFirst(tools), examples, this.profile.smoke, writing);
      const [first, ...more] = await this.#recorded(all);
      if (!first && (await this.tools()).length > 0 && (calls || writing))
        throw NotRun.because('withheld', calls ? consent : harmless);
      if (!first) throw NotRun.by('noTool');
      return [first, ...more];
    });
  }

  /** Whether there is a tool that may be called. If not, `authenticationCall` names one that does not exist. */
  async hasCases(): Promise<boolean> {
    if ((await this.pages()).fault) return false;
    return this.cases().then(
      () => true,
      (error: unknown) => {
        if (error instanceof NotRun && (error.kind === 'withheld' || error.kind === 'missing')) return false;
        throw error;
      },
    );
  }

  /** Without the calls of writing tools that have no recording: that is not a failure of the project. */
  async #recorded(cases: readonly CallCase[]): Promise<readonly CallCase[]> {
    const { writing, onUnrecorded } = this.target;
    const kept = await mapConcurrently(cases, callsAtOnce, async (one) => {
      if (one.wrong || writing?.get(one.name) !== 'replays') return [one];
      const data = await this.call(one.name, one.arguments).then(
        ({ result }) => result?.structuredContent,
        () => undefined,
      );
      if (!isObject(data) || data.error !== notRecorded) return [one];
      onUnrecorded?.(one.name, one.arguments);
      return [];
    });
    return kept.flat();
  }

  /** Whether the submission test may send these arguments to a tool. */
  async maySend(name: string, args: JsonObject): Promise<boolean> {
    if (!this.target.writing?.has(name)) return true;
    const text = JSON.stringify(args);
    const cases = await this.cases();
    return cases.some((one) => one.name === name && JSON.stringify(one.arguments) === text);
  }

  /**
   * A call that authentication must refuse unless it is paid: the first case. If no tool is known that may be called, it
   * names a tool that does not exist, so that it cannot do harm even if the server accepts it.
   */
  async authenticationCall(): Promise<Pick<CallCase, 'name' | 'arguments'>> {
    return (await this.hasCases()) ? (await this.cases())[0] : { name: noSuchTool, arguments: {} };
  }

  /** All cases, called. */
  outcomes(): Promise<readonly CallOutcome[]> {
    return this.once('outcomes', async () => {
      const cases = await this.cases();
      const token = await this.payment();
      return mapConcurrently(cases, callsAtOnce, async (one) => {
        const rpc = await this.#call(one.name, one.arguments, token).catch(unanswered);
        return { ...one, rpc, result: rpc.result };
      });
    });
  }

  /**
   * A session of the MCP SDK's client, which every marketplace uses; each request gets a new token.
   *
   * @throws NoAnswer, or the client's error about an answer that it rejects.
   */
  async client(token?: () => Promise<string | undefined>): Promise<SdkSession> {
    const listed = await this.listed();
    if (listed.length > bounds.tools || listed.some((tool) => !isReadable(tool))) {
      throw NotRun.by('large');
    }
    const { initializeMs, callMs } = this.profile.limits;
    return connect({
      url: this.url,
      token,
      platform: this.profile.token,
      headers: this.target.headers ?? {},
      timeoutMs: Math.min(this.timeoutMs(Math.max(initializeMs, callMs)), this.leftMs),
      signal: this.signal,
      admit: this.exchanges.admit,
      onLate: this.exchanges.onLate,
      onSession: (session) => this.opened(session),
    }).catch((error: unknown) => {
      throw missingAnswerOf(error) ?? error;
    });
  }

  /** A fact that is requested once in a run, when it is first needed. */
  once<T>(name: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#facts.get(name) as Promise<T> | undefined;
    if (known) return known;
    const fact = ask();
    fact.catch(() => {});
    this.#facts.set(name, fact);
    return fact;
  }
}
