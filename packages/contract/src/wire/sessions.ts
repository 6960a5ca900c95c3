import { isObject, objectOr } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { bounds, isReadable } from '../json/walk.ts';
import { levelOverride } from '../platforms/level-override.ts';
import type { Target } from '../target.ts';
import { type FetchedToolList, fetchToolList, type ToolList } from './fetch-tool-list.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { modernRpc, parameterHeaders } from './modern-request.ts';
import { NotRun } from './not-run.ts';
import { ConnectionReset, Hang } from './receive.ts';
import { type PostOptions, type RequestOptions, Requests } from './requests.ts';
import { isDeniedByStatus, isLimited, type RpcAnswer, sessionOf, silentAnswerOrThrow } from './rpc.ts';

/** What a probe requests or starts only once. */
type OnceName =
  | SessionAnswerName
  | ReusedAnswerName
  | `after ${string}`
  | 'audience in production'
  | 'cases'
  | 'client listing'
  | 'default port'
  | 'discovered'
  | 'explored'
  | 'explorer'
  | 'further invented calls'
  | 'health'
  | 'id 0'
  | 'invented calls'
  | 'modern call'
  | 'modern list'
  | 'modern unpaid call'
  | 'modern unreadable'
  | 'ordinary instance'
  | 'outcomes'
  | 'paid call'
  | 'pairs'
  | 'production instance'
  | 'ready'
  | 'rehearsal'
  | 'repeated calls'
  | 'second instance'
  | 'stalled'
  | 'unpaid call'
  | 'used token';

/** Answers that belong to a session. */
const sessionAnswers = [
  'first initialize',
  'session',
  'second initialize',
  'two at once',
  'second session',
] as const;
type SessionAnswerName = (typeof sessionAnswers)[number];

/** Answers that a later probe of the same server reuses, as it does those of the session. */
const reusedAnswers = ['answered method', 'tool list', 'modern tool list', 'tools', 'callable'] as const;
type ReusedAnswerName = (typeof reusedAnswers)[number];

/**
 * The sessions of a run, its tool list in the checked era, and other answers that are requested once. An answer that is not
 * available throws `NotRun`; a separate rule reports the cause.
 */
export class Sessions extends Requests {
  readonly #cachedAnswers = new Map<OnceName, Promise<unknown>>();
  /** Names of requests without an answer: a later probe sends them again. */
  readonly #unansweredNames = new Set<OnceName>();

  /**
   * @param earlier a probe of the same server. Its session, methods, tool list and permitted tools are reused if they got an answer.
   * @param ledger of the run, which its probes share; by default the ledger of the earlier probe, else a new one.
   */
  constructor(target: Target, signal?: AbortSignal, earlier?: Sessions, ledger = earlier?.ledger) {
    super(target, signal, ledger);
    if (!earlier) return;
    for (const name of [...sessionAnswers, ...reusedAnswers]) {
      const answer = earlier.#cachedAnswers.get(name);
      if (answer && !earlier.#unansweredNames.has(name)) this.#cachedAnswers.set(name, answer);
    }
  }

  /** Ends the sessions of the run, and forgets the answers that belong to a session. The next request that needs a session opens one. */
  async endAndForgetSessions(): Promise<void> {
    for (const name of sessionAnswers) this.#cachedAnswers.delete(name);
    await this.endSessions();
  }

  /** One JSON-RPC request, in the shared session unless another is named. */
  async rpc(method: string, params?: Json, options: PostOptions = {}): Promise<RpcAnswer> {
    const session = options.session ?? (await this.session());
    const { headers, chunked, url, onHeadersRead, token } = options;
    // The report prints the key as the path: `tools/call, paid, {…}`.
    const tallyKey = token === undefined ? method : `${method}, paid,`;
    const isOrdinary = !(options.session ?? headers ?? chunked ?? url ?? onHeadersRead);
    const answer = await this.rpcOnce(method, params, { ...options, session }).catch((error: unknown) => {
      if (error instanceof ConnectionReset && isOrdinary) this.#recordReset(error, tallyKey, params);
      throw error;
    });
    if (isOrdinary) this.ledger.countAnswer(tallyKey, params, answer);
    return answer;
  }

  /** An HTTP request. If the server has lost the session that it names, it is sent again in a new one, as clients do. */
  override async http(request: RequestOptions): Promise<HttpAnswer> {
    const [name, session] = sessionHeader(request.headers);
    const isOwn = session !== undefined && this.ledger.openedSessions.has(session);
    const answer = await super.http(request);
    if (!isOwn || request.keepsSession || request.method === 'DELETE') return answer;
    if (!saysSessionIsGone(answer)) return answer;
    // Other requests may use up the first of these sessions: some servers keep a session for few requests only.
    for (const open of [() => this.successorOf(session), () => this.#tryNewSession()]) {
      const next = await open();
      if (next === undefined) return answer;
      const headers = { ...request.headers, [name]: next };
      const repeatedAnswer = await super.http({ ...request, headers });
      if (saysSessionIsGone(repeatedAnswer)) continue;
      this.ledger.recordFailing('session.lasting', answer);
      return repeatedAnswer;
    }
    return answer;
  }

  /** Counts a reset of a new connection. A server may close a reused one before it sees the request. */
  #recordReset(error: ConnectionReset, method: string, params: Json | undefined): void {
    this.ledger.hasReset = true;
    if (!error.isReused) this.ledger.countAnswer(method, params, silentAnswerOrThrow(error), true);
  }

  async #tryNewSession(): Promise<string | undefined> {
    return this.newSession().catch(() => undefined);
  }

  /** The session that replaces a lost one; undefined if the server opens none. */
  protected successorOf(lostSession: string): Promise<string | undefined> {
    return this.once(`after ${lostSession}`, async () => {
      const age = this.ageOf(lostSession);
      const isShared = (await this.#cachedAnswers.get('session')) === lostSession;
      const session = await this.#tryNewSession();
      if (session === undefined) return undefined;
      if (isShared) this.#cachedAnswers.set('session', Promise.resolve(session));
      if (age !== undefined) this.ledger.lostSessions.push(age);
      return session;
    });
  }

  /** Sends initialize again if it fails, and returns the first result. `answers.steady` reports the failures before it. */
  async initializeWithRetries(version?: string): Promise<RpcAnswer> {
    const answers = await sendUntilResult(() => this.initialize(version));
    const answer = resultOrFirst(answers);
    if (answer.result)
      for (const openingAnswer of answers) this.ledger.countAnswer('initialize', version, openingAnswer);
    return answer;
  }

  /** The answer to the run's first initialize. */
  firstInitialize(): Promise<RpcAnswer> {
    return this.once('first initialize', () => this.initializeWithRetries());
  }

  /** The answer to a second, ordinary initialize. */
  secondInitialize(): Promise<RpcAnswer> {
    return this.once('second initialize', () => this.initializeWithRetries());
  }

  /**
   * A session that all rules share; rules that end or break sessions open their own with `newSession`. Undefined if
   * the server opens none and answers without one, or if the profile demands none.
   */
  session(): Promise<string | undefined> {
    return this.once('session', async () => {
      const session = await this.confirmSession(await this.firstInitialize());
      const requiresSession = levelOverride(['session.open'], this.profile) !== 'off';
      if (session === undefined && requiresSession && !(await this.answersWithoutSession()))
        throw NotRun.preventedBy('session');
      return session;
    });
  }

  /** A new session. */
  async newSession(): Promise<string> {
    const session = await this.confirmSession(await this.initializeWithRetries());
    if (session === undefined) throw NotRun.preventedBy('sessionAgain');
    return session;
  }

  /** Returns the session of an answer to initialize, after the notification `initialized` that every client sends. */
  async confirmSession({ http, result }: RpcAnswer): Promise<string | undefined> {
    const session = result && sessionOf(http);
    if (session !== undefined && !this.ledger.ignoresNotifications) await this.#notify(session);
    return session;
  }

  /** Sends `initialized`. A server that leaves it unanswered gets no further notification: `protocol.notification` reports that. */
  async #notify(session: string): Promise<void> {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    await this.post(notification, { session, keepsSession: true, mayHang: true }).catch((error: unknown) => {
      if (!(error instanceof Hang)) throw error;
      this.ledger.ignoresNotifications = true;
    });
  }

  /** Whether the server answers a request outside any session. */
  async answersWithoutSession(): Promise<boolean> {
    return (await this.rpcOnce('tools/list')).result !== undefined;
  }

  /** Requests an answer when it is first needed, once for this probe. A later probe asks again, unless it reuses the answer (`sessionAnswers`, `reusedAnswers`). */
  once<T>(name: OnceName, ask: () => Promise<T>): Promise<T> {
    const cachedAnswer = this.#cachedAnswers.get(name) as Promise<T> | undefined;
    if (cachedAnswer) return cachedAnswer;
    this.#unansweredNames.delete(name);
    const answer = ask();
    answer.catch(() => this.#unansweredNames.add(name));
    this.#cachedAnswers.set(name, answer);
    return answer;
  }

  /** The answer to the run's first server/discover, with which the stateless revision begins. */
  discovered(): Promise<RpcAnswer> {
    return this.once('discovered', () => modernRpc(this, 'server/discover'));
  }

  /** The answer to the first request of the checked era: initialize, or server/discover. */
  opened(): Promise<RpcAnswer> {
    if (this.#isModernOnly) return this.discovered();
    return this.firstInitialize();
  }

  get #isModernOnly(): boolean {
    return this.target.era === 'modern';
  }

  /** The tool list, whose elements may be any JSON. @throws NotRun, NoAnswer if it cannot be read to its end. */
  async toolList(): Promise<ToolList> {
    const { fault, ...toolList } = await this.fetchedToolList();
    if (fault) throw fault.noAnswer ?? NotRun.preventedBy('list');
    return toolList;
  }

  /** The tool list as far as it can be read, read once. */
  fetchedToolList(): Promise<FetchedToolList> {
    return this.#fetchOnce('tool list', async (params) =>
      resultOrFirst(await sendUntilResult(() => this.eraRequest('tools/list', params))),
    );
  }

  /** The tool list of the stateless revision as far as it can be read, read once. */
  fetchedModernToolList(): Promise<FetchedToolList> {
    if (this.#isModernOnly) return this.fetchedToolList();
    return this.#fetchOnce('modern tool list', (params) => modernRpc(this, 'tools/list', objectOr(params)));
  }

  #fetchOnce(name: OnceName, ask: (params?: Json) => Promise<RpcAnswer>): Promise<FetchedToolList> {
    return this.once(name, async () => {
      const fetchedToolList = await fetchToolList(ask);
      if (fetchedToolList.fault?.noAnswer) this.#unansweredNames.add(name);
      return fetchedToolList;
    });
  }

  /** The tools that are checked: the objects of the list, within the limits. */
  tools(): Promise<readonly JsonObject[]> {
    return this.once('tools', async () =>
      (await this.toolList()).tools
        .slice(0, bounds.tools)
        .filter(isObject)
        .filter((tool) => isReadable(tool)),
    );
  }

  /** Sends a request in the checked era; in a session if both eras are checked. */
  protected async eraRequest(method: string, params?: Json, options: PostOptions = {}): Promise<RpcAnswer> {
    if (!this.#isModernOnly) return this.rpc(method, params, options);
    const paramMembers = objectOr(params);
    if (method === 'tools/call') return this.modernCall(paramMembers, options);
    return modernRpc(this, method, paramMembers, options);
  }

  /** A tools/call of the stateless revision, with the headers that repeat its arguments. */
  async modernCall(call: JsonObject, options: PostOptions): Promise<RpcAnswer> {
    const headers = { ...(await this.#repeatedHeaders(call)), ...options.headers };
    return modernRpc(this, 'tools/call', call, { ...options, headers });
  }

  async #repeatedHeaders({ name, arguments: args }: JsonObject): Promise<Readonly<Record<string, string>>> {
    const tools = (await this.fetchedToolList()).fault ? [] : await this.tools();
    const tool = tools.find((listedTool) => listedTool.name === name);
    return parameterHeaders(tool?.inputSchema, args);
  }
}

/** The maximum number of repetitions of a request that got an error. */
const furtherAttempts = 3;

type Answers = readonly [RpcAnswer, ...RpcAnswer[]];

/** Sends a request again, a few times, until it gets a result. Returns all answers. */
async function sendUntilResult(send: () => Promise<RpcAnswer>): Promise<Answers> {
  const first = await send();
  const laterAnswers: RpcAnswer[] = [];
  const hasError = ({ http, result }: RpcAnswer): boolean =>
    http.status > 0 && !result && !isDeniedByStatus(http) && !isLimited(http);
  while (laterAnswers.length < furtherAttempts && hasError(laterAnswers.at(-1) ?? first))
    laterAnswers.push(await send().catch(silentAnswerOrThrow));
  return [first, ...laterAnswers];
}

/** The answer with a result, else the first answer. */
function resultOrFirst(answers: Answers): RpcAnswer {
  return answers.find(({ result }) => result) ?? answers[0];
}

/** Whether an answer refuses a request because of its session. */
export function saysSessionIsGone({ status, body }: Pick<HttpAnswer, 'status' | 'body'>): boolean {
  return (status === 400 || status === 404) && /session/i.test(body.slice(0, 1_000));
}

/** The header that names the session of a request, however it is spelled. */
function sessionHeader(headers: HttpRequest['headers'] = {}): readonly [name: string, session?: string] {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === sessionName) ?? [sessionName];
}

const sessionName = 'mcp-session-id';
