import { mapConcurrently } from '../concurrency.ts';
import type { Json, JsonObject } from '../model.ts';
import type { PlatformProfile } from '../profile.ts';
import { NotRun } from '../rule.ts';
import { isObject, present } from '../schema.ts';
import type { Forgery } from '../signer.ts';
import type { Environment, Instance, Target } from '../target.ts';
import { type CallCase, casesOf } from './cases.ts';
import { connect, type SdkSession } from './client.ts';
import { createHttp, type HttpAnswer, type HttpRequest, NoAnswer } from './http.ts';
import { patienceMs } from './patience.ts';
import { type RpcAnswer, rpcAnswer, rpcRequest } from './rpc.ts';

/** The version that the platform's own tests send (C§9.1). */
export const platformVersion = '2024-11-05';

/** A tool may stand on somebody else's service, which has limits of its own. */
const callsAtOnce = 4;

/** What a request to the endpoint may differ in. A header set to undefined is left out. */
export interface PostOptions {
  readonly session?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly chunked?: boolean;
  readonly timeoutMs?: number;
  /** Another endpoint than the target's. */
  readonly url?: URL;
  /** Called between headers and body. */
  readonly onHeadersSent?: () => void;
}

/** A finished tools/call. */
export interface CallOutcome extends CallCase {
  readonly rpc: RpcAnswer;
  /** Undefined where the server answered with an error, or not in JSON-RPC. */
  readonly result: JsonObject | undefined;
}

/**
 * A server under examination: requests of every kind, and the facts that many rules build on, each asked for once.
 * A fact that cannot be had throws `NotRun`; one rule of its own reports why.
 */
export class Probe {
  readonly target: Target;
  readonly profile: PlatformProfile;
  readonly url: URL;
  readonly #http = createHttp();
  readonly signal: AbortSignal | undefined;
  readonly #facts = new Map<string, Promise<unknown>>();
  readonly #instances: Instance[] = [];
  #token = { value: Promise.resolve(''), staleAt: Number.NEGATIVE_INFINITY };

  constructor(target: Target, signal?: AbortSignal) {
    this.target = target;
    this.profile = target.profile;
    this.url = new URL(target.url);
    this.signal = signal;
  }

  /** Ends what the run has started. */
  async close(): Promise<void> {
    this.#http.close();
    await Promise.all(this.#instances.map((instance) => instance.stop()));
  }

  /** Starts another instance of the server; it lives until the end of the run unless it ends before. */
  async launch(environment: Environment): Promise<Instance> {
    if (!this.target.launch) throw new NotRun('no way to start another instance of this target');
    const instance = await this.target.launch(environment);
    this.#instances.push(instance);
    return instance;
  }

  /** Any HTTP request to the server; the endpoint unless a path is given. */
  http(request: Partial<HttpRequest> & { readonly path?: string }): Promise<HttpAnswer> {
    const { path, method = 'GET', headers = {}, timeoutMs = patienceMs, url = this.url, ...rest } = request;
    return this.#http.exchange({
      ...rest,
      method,
      timeoutMs,
      url: path === undefined ? url : new URL(path, url),
      headers: { ...this.target.headers, ...headers },
      signal: this.signal,
    });
  }

  /** POST to the endpoint. A string or bytes are sent as they are, anything else as JSON. */
  post(body: Json | Uint8Array, options: PostOptions = {}): Promise<HttpAnswer> {
    const { session, token, headers, ...rest } = options;
    const { header, scheme } = this.profile.token;
    const all = present<string>({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
      [header]: token === undefined ? undefined : `${scheme} ${token}`,
      ...headers,
    });
    return this.http({
      ...rest,
      method: 'POST',
      headers: all,
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  }

  /** One JSON-RPC request, in the shared session unless another is named. */
  async rpc(method: string, params?: Json, options: PostOptions = {}): Promise<RpcAnswer> {
    const session = options.session ?? (await this.session());
    const id = nextId();
    return rpcAnswer(await this.post(rpcRequest(id, method, params), { ...options, session }), id);
  }

  /** An initialize request without a session (C§3.1). */
  async initialize(protocolVersion = platformVersion, options: PostOptions = {}): Promise<RpcAnswer> {
    const id = nextId();
    const params = {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'marketplace-contract', version: '1.0.0' },
    };
    const answer = await this.post(rpcRequest(id, 'initialize', params), {
      timeoutMs: this.profile.limits.initializeMs + patienceMs,
      ...options,
    });
    return rpcAnswer(answer, id);
  }

  /** The answer to the run's first initialize. */
  initialized(): Promise<RpcAnswer> {
    return this.once('initialized', () => this.initialize());
  }

  /** A session that all rules share; those that end or spoil sessions open their own with `newSession`. */
  session(): Promise<string> {
    return this.once('session', async () => sessionOf(await this.initialized()));
  }

  async newSession(): Promise<string> {
    return sessionOf(await this.initialize());
  }

  health(): Promise<HttpAnswer> {
    return this.once('health', () => this.http({ path: '/health' }));
  }

  /** The elements of the tool list as the server sends them, all pages. */
  listed(): Promise<readonly Json[]> {
    return this.once('listed', async () => {
      const tools: Json[] = [];
      let cursor: Json | undefined;
      for (let page = 0; page < 100; page++) {
        const { result } = await this.rpc('tools/list', cursor === undefined ? undefined : { cursor });
        if (!Array.isArray(result?.tools))
          throw new NotRun('tools/list gave no tools (discovery.tools-list)');
        tools.push(...result.tools);
        cursor = result.nextCursor;
        if (cursor === undefined || cursor === null) break;
      }
      return tools;
    });
  }

  /** The elements of the tool list that are tools at all. */
  async tools(): Promise<readonly JsonObject[]> {
    return (await this.listed()).filter(isObject);
  }

  /** A platform token that is valid for a while; forged where asked for. */
  async token(forgery?: Forgery): Promise<string> {
    const { signer } = this.target;
    if (!signer) throw new NotRun('no key to sign platform tokens with');
    if (forgery) return signer.token(forgery);
    const now = Date.now();
    if (now > this.#token.staleAt) {
      const lifetimeMs = this.profile.token.lifetimeSeconds * 1000;
      this.#token = { value: signer.token(), staleAt: now + lifetimeMs / 2 };
    }
    return this.#token.value;
  }

  /** A tools/call, paid for with a valid token unless the options name another. */
  async call(name: Json, args: Json | undefined, options: PostOptions = {}): Promise<RpcAnswer> {
    const { callMs } = this.profile.limits;
    const token = options.token ?? (await this.token());
    const params = present({ name, arguments: args });
    const answer = await this.rpc('tools/call', params, {
      timeoutMs: callMs + patienceMs,
      ...options,
      token,
    });
    if (options.token === undefined && isRefusal(answer)) {
      throw new NotRun('a call with a valid token was refused (gate.valid-token)');
    }
    return answer;
  }

  /** Every example of every tool, and the submission test's arguments: at least one call. */
  cases(): Promise<readonly [CallCase, ...CallCase[]]> {
    return this.once('cases', async () => {
      const [first, ...more] = casesOf(await this.tools(), this.target.examples, this.profile.smoke);
      if (!first) throw new NotRun('there is no tool to call (discovery.tools)');
      return [first, ...more];
    });
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

  /** A session of the MCP SDK's own client, which every marketplace caller builds on; each request asks for a token. */
  client(token?: () => Promise<string>): Promise<SdkSession> {
    return connect(this.target, token, this.signal);
  }

  /** A fact that is asked for once in a run, whoever needs it first. */
  once<T>(name: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#facts.get(name) as Promise<T> | undefined;
    if (known) return known;
    const fact = ask();
    fact.catch(() => {});
    this.#facts.set(name, fact);
    return fact;
  }
}

let lastId = 0;

function nextId(): number {
  lastId += 1;
  return lastId;
}

/** A call without an answer is an outcome as well: the rules about outcomes tell whose it is. */
function unanswered(error: unknown): RpcAnswer {
  if (!(error instanceof NoAnswer)) throw error;
  const http = { status: 0, headers: {}, body: error.message, values: [], ms: Number.POSITIVE_INFINITY };
  return rpcAnswer(http, 0);
}

function isRefusal({ http }: RpcAnswer): boolean {
  return http.status === 401 || http.status === 403;
}

function sessionOf({ http, result }: RpcAnswer): string {
  const id = http.headers['mcp-session-id'];
  if (!result || typeof id !== 'string' || id === '')
    throw new NotRun('initialize opened no session (session.open)');
  return id;
}
