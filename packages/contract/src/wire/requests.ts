import { setMaxListeners } from 'node:events';
import { present } from '../json/json.ts';
import type { Json } from '../json/value.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import type { Environment, Instance, Target } from '../target.ts';
import { nowMs } from './clock.ts';
import { curlLine } from './curl-line.ts';
import {
  createHttp,
  type Http,
  type HttpAnswer,
  type HttpRequest,
  mayCall,
  type SentRequest,
} from './http.ts';
import { Ledger, requestName } from './ledger.ts';
import { NotRun } from './not-run.ts';
import type { LimitedAnswer } from './rate-limit.ts';
import { AnswerTimeout, Hang } from './receive.ts';
import { nextId, type RpcAnswer, rpcAnswer, rpcRequest, sessionOf } from './rpc.ts';
import type { TokenVariant } from './signer.ts';
import { confirmMs, graceMs } from './timeouts.ts';

/** The version that the platform's own tests send (C§9.1). */
export const platformVersion = '2024-11-05';

/** The options of a request to the endpoint. A header that is undefined is not sent. */
export interface PostOptions {
  readonly session?: string | undefined;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** A further header line, see `HttpRequest`. */
  readonly repeatedHeader?: readonly [name: string, value: string];
  readonly chunked?: boolean;
  /** Opens a connection for the request. */
  readonly newConnection?: boolean;
  /** The version of HTTP, see `HttpRequest`. */
  readonly httpVersion?: '1.0';
  readonly timeoutMs?: number;
  /** See `HttpRequest`. */
  readonly mayHang?: boolean;
  /** Sends the request in this session only. Otherwise it is repeated in a new session if the server has lost this one. */
  readonly keepsSession?: boolean;
  /** The request target, see `HttpRequest`. */
  readonly target?: string;
  /** Another endpoint than the target's. */
  readonly url?: URL;
  /** Called between headers and body, see `HttpRequest`. */
  readonly onHeadersRead?: () => void;
}

/** An HTTP request to the server: GET to the endpoint unless stated otherwise. */
export interface RequestOptions extends Partial<HttpRequest>, Pick<PostOptions, 'keepsSession'> {
  readonly path?: string;
}

/** Sends requests to the checked server, and starts further instances of it. */
export class Requests {
  readonly target: Target;
  readonly profile: PlatformProfile;
  readonly url: URL;
  readonly signal: AbortSignal | undefined;
  /** Checks and counts every answer of the run. */
  readonly ledger: Ledger;
  /** Measures the answers, see `Target.responseClock`. */
  readonly #responseClock: () => number;
  protected readonly connection: Http;
  readonly #instances: Instance[] = [];
  /** Settles with the latest answer; set if requests are sent one by one. */
  #lastAnswer: Promise<unknown> | undefined;
  /** The tokens of the run, with their claims and the time of their signature: an expired token is signed again. */
  readonly #signedTokens = new Map<
    string,
    { readonly variant: TokenVariant | undefined; readonly at: number }
  >();
  #token = { value: Promise.resolve(''), staleAt: Number.NEGATIVE_INFINITY };

  constructor(target: Target, signal?: AbortSignal, ledger = new Ledger()) {
    this.target = target;
    this.profile = target.profile;
    this.url = new URL(target.url);
    this.signal = signal;
    this.ledger = ledger;
    this.#responseClock = target.responseClock ?? nowMs;
    this.connection = createHttp(target.deadlineAt, this.#responseClock);
    if (signal) setMaxListeners(0, signal); // each running request listens to it
    const { headers = {}, secrets = [] } = target;
    for (const [name, value] of Object.entries(headers)) ledger.secrets.addHeader(name, value);
    for (const [name, value] of secrets) ledger.secrets.add(value, `the value of ${name}`);
  }

  /** The time in milliseconds by `Target.responseClock`, without the waits after HTTP 429. */
  nowWithoutWaits(): number {
    return this.#responseClock() - this.ledger.rateLimit.waitedMs;
  }

  /**
   * Returns the timeout of a request in milliseconds: the timeout of the target, else the limit and `graceMs`.
   *
   * @param limitMs the limit of the profile for requests of this kind
   */
  timeoutMs(limitMs = 0): number {
    return this.target.timeoutMs ?? limitMs + graceMs;
  }

  /** From now on, each request is sent after the answer to the previous request. */
  sendOneByOne(): void {
    this.#lastAnswer = Promise.resolve();
  }

  /** Whether the deadline of the run has passed. */
  get isOverdue(): boolean {
    return this.leftMs <= 0;
  }

  /** Milliseconds until the deadline of the run; infinite without one. */
  protected get leftMs(): number {
    return Math.ceil((this.target.deadlineAt ?? Number.POSITIVE_INFINITY) - nowMs());
  }

  /** Closes the connections and ends the further instances of the server. */
  async close(): Promise<void> {
    this.connection.close();
    await Promise.all(this.#instances.map((instance) => instance.stop()));
  }

  /** Starts another instance of the server, which is ended with the run at the latest. */
  async launch(environment: Environment): Promise<Instance> {
    this.connection.requireMaySend();
    if (!this.target.launch) throw NotRun.without('launch');
    const instance = await this.target.launch(environment);
    this.#instances.push(instance);
    return instance;
  }

  /** Sends an HTTP request to the endpoint, or to another path of the server. */
  async http(options: RequestOptions): Promise<HttpAnswer> {
    const request = this.#completeRequest(options);
    const { silenceLimit, openedSessions } = this.ledger;
    const session = request.headers['mcp-session-id'];
    if (request.method === 'DELETE') openedSessions.delete(session ?? '');
    if (request.mayHang !== true) silenceLimit.admit(request.body);
    const shownRequest = this.#shownRequest(request);
    const answer = await this.#sendInOrder(() =>
      this.#sendWithinRateLimit(() => this.#sendRequest(request, shownRequest)),
    );
    silenceLimit.recordAnswer(request.body, answer);
    const { bytes } = answer;
    if (bytes) this.ledger.record({ ...answer, bytes, request: shownRequest });
    const usesTargetUrl = (options.url ?? this.url) === this.url;
    if (usesTargetUrl && session === undefined) this.recordOpenedSession(sessionOf(answer));
    return { ...answer, request: shownRequest };
  }

  #completeRequest({ path, url = this.url, ...options }: RequestOptions): HttpRequest {
    const limitMs = mayCall(options.body) ? this.profile.limits.callMs : 0;
    const { method = 'GET', headers = {}, timeoutMs = this.timeoutMs(limitMs) } = options;
    return { ...options, method, headers, timeoutMs, url: path === undefined ? url : new URL(path, url) };
  }

  /** The request as a report shows it: the target's own headers are added with `$VALUE`, because their values may be secret. */
  #shownRequest(request: HttpRequest): HttpRequest {
    const names = Object.keys(this.target.headers ?? {});
    const hiddenValues = Object.fromEntries(names.map((name) => [name, '$VALUE']));
    return { ...request, headers: { ...hiddenValues, ...request.headers } };
  }

  /** Sends a request now, or after the previous answer if requests are sent one by one. */
  #sendInOrder(send: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    if (!this.#lastAnswer) return send();
    const answer = this.#lastAnswer.then(send);
    this.#lastAnswer = answer.catch(() => {});
    return answer;
  }

  /** @throws Hang if there was no complete answer in time */
  async #sendRequest(request: HttpRequest, shownRequest: SentRequest): Promise<HttpAnswer> {
    const sentAt = nowMs();
    const headers = {
      'accept-encoding': 'identity',
      ...this.target.headers,
      ...(await this.#withCurrentToken(request.headers)),
    };
    const recording = this.target.record?.({ ...request, headers });
    const sentHeaders = { ...headers, ...recording?.headers };
    const exchange = this.connection.exchange({ ...request, headers: sentHeaders, signal: this.signal });
    recording?.follow(exchange);
    const isToTargetHost = request.url.host === this.url.host;
    const answer = isToTargetHost ? this.ledger.pendingRequests.follow(shownRequest, exchange) : exchange;
    return answer.catch((error: unknown) => {
      if (!(error instanceof AnswerTimeout)) throw error;
      if (request.mayHang !== true) this.ledger.silenceLimit.recordTimeout(request.body, sentAt);
      const path = requestName(shownRequest);
      const command = curlLine(shownRequest);
      throw new Hang([{ path, expected: 'an answer', actual: error.message, request: command }]);
    });
  }

  /** Sends a request again that the rate limit (HTTP 429) refused, after the time that the server asks for. */
  async #sendWithinRateLimit(send: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      await this.ledger.rateLimit.untilNoWait();
      const sentAt = nowMs();
      const answer = await send();
      if (answer.status !== 429) return answer;
      if (!(await this.waitForRateLimit({ headers: answer.headers, sentAt, attempt }))) return answer;
    }
  }

  /** Waits after HTTP 429. Resolves to true if the request may be sent again. */
  protected async waitForRateLimit(answer: LimitedAnswer): Promise<boolean> {
    const { wait } = this.target;
    if (!wait) return false;
    return this.ledger.rateLimit.waitBeforeRetry(answer, wait, this.leftMs, this.#responseClock, this.signal);
  }

  /** Replaces a token that was signed before the latest wait: it may have expired. */
  async #withCurrentToken(
    headers: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>> {
    const { header } = this.profile.token;
    const token = headers[header]?.split(' ').at(-1) ?? '';
    const signed = this.#signedTokens.get(token);
    if (!signed || signed.at >= this.ledger.rateLimit.endedAt) return headers;
    return { ...headers, [header]: headers[header]?.replace(token, await this.token(signed.variant)) ?? '' };
  }

  /** POST to the endpoint. A string or bytes are sent unchanged, anything else as JSON. */
  post(body: Json | Uint8Array, options: PostOptions = {}): Promise<HttpAnswer> {
    const { session, token, headers, ...rest } = options;
    const { header, scheme } = this.profile.token;
    const allHeaders = present<string>({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
      [header]: token === undefined ? undefined : `${scheme} ${token}`,
      ...headers,
    });
    return this.http({
      ...rest,
      method: 'POST',
      headers: allHeaders,
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  }

  /** A JSON-RPC request that is sent once, with only the session and the token that the options name. */
  async rpcOnce(method: string, params?: Json, options: PostOptions = {}): Promise<RpcAnswer> {
    const id = nextId();
    return rpcAnswer(await this.post(rpcRequest(id, method, params), options), id);
  }

  /** GET to the endpoint: the stream of a session (C§3.1). */
  openStream(session: string | undefined, options: Pick<PostOptions, 'mayHang'> = {}): Promise<HttpAnswer> {
    const headers = present({ accept: 'text/event-stream', 'mcp-session-id': session });
    return this.http({ ...options, headers });
  }

  /** An initialize request without a session (C§3.1). */
  initialize(protocolVersion = platformVersion, options: PostOptions = {}): Promise<RpcAnswer> {
    const params = {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'marketplace-contract', version: '1.0.0' },
    };
    const timeoutMs = this.timeoutMs(this.profile.limits.initializeMs);
    return this.rpcOnce('initialize', params, { timeoutMs, ...options });
  }

  /** Records a session that the run has to end. */
  protected recordOpenedSession(session: string | undefined): void {
    const { openedSessions } = this.ledger;
    if (session !== undefined && !openedSessions.has(session))
      openedSessions.set(session, this.nowWithoutWaits());
  }

  /** Milliseconds since a session was opened; undefined if this run did not open it. */
  ageOf(session: string): number | undefined {
    const openedAt = this.ledger.openedSessions.get(session);
    if (openedAt === undefined) return undefined;
    return this.nowWithoutWaits() - openedAt;
  }

  /** Waits, at most until the deadline of the run. */
  async pause(ms: number): Promise<void> {
    const limitedMs = Math.min(ms, this.leftMs);
    if (limitedMs > 0) await this.target.wait?.(limitedMs, this.signal);
  }

  /** Ends the sessions that the run opened, unless the server answers DELETE with 405. */
  protected async endSessions(): Promise<void> {
    const { openedSessions } = this.ledger;
    const [first, ...otherSessions] = openedSessions.keys();
    openedSessions.clear();
    const end = async (session: string | undefined): Promise<boolean> => {
      const headers = present({ 'mcp-session-id': session });
      const deletion = await this.http({ method: 'DELETE', headers, timeoutMs: confirmMs }).catch(
        () => undefined,
      );
      return deletion !== undefined && deletion.status !== 405;
    };
    if (first !== undefined && (await end(first))) await Promise.all(otherSessions.map(end));
  }

  /** A token that is valid for at least half of its lifetime, or a new token with the changes of a variant, valid or forged. */
  async token(variant?: TokenVariant): Promise<string> {
    const { signer } = this.target;
    if (!signer) throw NotRun.without('signer');
    await this.ledger.rateLimit.untilNoWait();
    const at = nowMs();
    if (!variant && at > this.#token.staleAt) {
      const lifetimeMs = this.profile.token.lifetimeSeconds * 1000;
      this.#token = { value: signer.token(), staleAt: at + lifetimeMs / 2 };
    }
    const token = await (variant ? signer.token(variant) : this.#token.value);
    if (!variant) this.ledger.secrets.add(token, 'the token of a call');
    if (!this.#signedTokens.has(token)) this.#signedTokens.set(token, { variant, at });
    return token;
  }
}
