import { mapConcurrently } from '../concurrency.ts';
import { isObject, present } from '../json.ts';
import type { Json, JsonObject } from '../model.ts';
import { NotRun } from '../not-run.ts';
import { bounds, isReadable } from '../walk.ts';
import { type CallCase, casesOf } from './cases.ts';
import { connect, missingAnswerOf, type SdkSession } from './client.ts';
import type { HttpAnswer } from './http.ts';
import { type Listing, listTools } from './listing.ts';
import { modernRpc, parameterHeaders } from './modern.ts';
import { planOf } from './plan.ts';
import { missing } from './reasons.ts';
import { type PostOptions, Requests } from './requests.ts';
import { isRefusal, nextId, type RpcAnswer, rpcAnswer, rpcRequest, sessionOf, unanswered } from './rpc.ts';
import { leastHarmfulFirst, verdictOn } from './safety.ts';

/** The name of a tool that no server has. */
export const noSuchTool = 'no_such_tool';

/** The code of a source kit that replays, for a request that has no recording. */
const notRecorded = 'SOURCE_NOT_RECORDED';

/** A tool may use another service, which has its own limits. */
const callsAtOnce = 4;

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
      if (session === undefined && !(await this.isStateless())) throw new NotRun(missing.session);
      return session;
    });
  }

  /** A new session. */
  async newSession(): Promise<string> {
    const session = await this.enter(await this.initialize());
    if (session === undefined) throw new NotRun(missing.session);
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

  /** The tool list, read once. */
  listing(): Promise<Listing> {
    return this.once('listing', () => listTools((params) => this.#plain('tools/list', params)));
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
    const tool = (await this.tools()).find((one) => one.name === name);
    return parameterHeaders(tool?.inputSchema, args);
  }

  /** A tools/call with a valid token, made once in a run. */
  paidCall(): Promise<RpcAnswer> {
    return this.once('paid call', async () => {
      const { name, arguments: args } = await this.authenticationCall();
      return this.call(name, args, { token: await this.token() });
    });
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
    if (!this.target.calls) return;
    const isListed = (await this.tools()).some((tool) => tool.name === name);
    if (isListed && !(await this.callable()).some((tool) => tool.name === name))
      throw new NotRun(missing.consent, 'withheld');
  }

  /** A tools/call with a valid token, unless the options name another. */
  async call(name: Json, args: Json | undefined, options: PostOptions = {}): Promise<RpcAnswer> {
    await this.#requireCallable(name);
    const token = options.token ?? (await this.payment());
    const params = present({ name, arguments: args });
    const answer = await this.rpc('tools/call', params, {
      timeoutMs: this.timeoutMs(this.profile.limits.callMs),
      ...options,
      token,
    });
    if (options.token === undefined && isRefusal(answer.http)) {
      throw new NotRun('a call with a valid token was refused (see gate.valid-token)');
    }
    return answer;
  }

  /** Every example of every tool, and the submission test's arguments: at least one call. */
  cases(): Promise<readonly [CallCase, ...CallCase[]]> {
    return this.once('cases', async () => {
      const tools = await this.callable();
      const { calls, examples, writing } = this.target;
      const all = casesOf(leastHarmfulFirst(tools), examples, this.profile.smoke, writing);
      const [first, ...more] = await this.#recorded(all);
      if (!first && (await this.tools()).length > 0 && (calls || writing))
        throw new NotRun(calls ? missing.consent : missing.harmless, 'withheld');
      if (!first) throw new NotRun('there is no tool to call (see discovery.tools, tool.readable)');
      return [first, ...more];
    });
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
   * A call that authentication must refuse unless it is paid: the first case. If no tool may be called, it names a tool
   * that does not exist, so that it cannot do harm even if the server accepts it.
   */
  async authenticationCall(): Promise<Pick<CallCase, 'name' | 'arguments'>> {
    try {
      return (await this.cases())[0];
    } catch (error) {
      if (error instanceof NotRun && error.kind === 'withheld') return { name: noSuchTool, arguments: {} };
      throw error;
    }
  }

  /** All cases, called. */
  outcomes(): Promise<readonly CallOutcome[]> {
    return this.once('outcomes', async () => {
      const cases = await this.cases();
      return mapConcurrently(cases, callsAtOnce, async (one) => {
        const rpc = await this.call(one.name, one.arguments).catch(unanswered);
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
      throw new NotRun('the server lists more or larger tools than are checked (see tool.readable)');
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
