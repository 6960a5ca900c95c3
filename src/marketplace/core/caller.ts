import type { KeyObject } from 'node:crypto';
import { isWalkable, type Json, type JsonObject, memoize } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import {
  type CallPolicy,
  createSigner,
  nextId,
  Probe,
  type RpcAnswer,
  rpcAnswer,
  rpcRequest,
  type Signer,
  silentAnswerOrThrow,
  type TokenVariant,
} from 'market-mcp-contract/wire';
import { exactResult } from './answer-values.ts';
import { type CallVerdict, callVerdict } from './call-verdict.ts';
import {
  type CallCause,
  type DeliberateError,
  type DeliberateRefusal,
  expectedRefusal,
  isRefusedWith,
} from './marketplace-model.ts';
import { ExchangeRecorder, type RecordOptions } from './recorder.ts';
import type { Purpose, Traffic } from './traffic.ts';

export interface CallOrder {
  readonly endpoint: string;
  readonly tool: string;
  readonly arguments: Json;
  /** The definition that the answer is checked by; without one, only the outcome is determined. */
  readonly definition?: JsonObject | undefined;
  readonly deliberate?: DeliberateError | undefined;
  readonly purpose?: Purpose;
}

/** The result of a call. */
export interface CallReport {
  /** Id of its exchange in the traffic; 0 if no request was sent. */
  readonly id: number;
  readonly endpoint: string;
  readonly tool: string;
  readonly arguments: Json;
  readonly deliberate: DeliberateError | null;
  /** 0 if there was no answer. */
  readonly status: number;
  /** Milliseconds from the first byte sent to the last byte received; null if there was no answer. */
  readonly ms: number | null;
  readonly verdict: CallVerdict;
  readonly result: JsonObject | null;
  /** The JSON-RPC error, or the text of an answer with neither result nor error. */
  readonly error: Json;
  /** For a call with a deliberate error: the answer that the contract expects, and whether it came. */
  readonly expected: { readonly met: boolean; readonly what: string; readonly actual: string } | null;
  /** Why it failed; null if it did not, or that is not known. */
  readonly cause: CallCause | null;
}

/** Acts as the platform: signs tokens, calls servers, checks answers. Every request is recorded in the traffic. */
export class ToolCaller {
  readonly profile: PlatformProfile;
  /** A signer of tokens for one endpoint. Their audience is the endpoint's URL, byte for byte. */
  readonly signer: (endpoint: string) => Promise<Signer>;
  readonly #traffic: Traffic;

  constructor(profile: PlatformProfile, traffic: Traffic, privateKey: KeyObject, issuer: string) {
    this.profile = profile;
    this.signer = memoize((endpoint) => createSigner(profile.token, endpoint, { issuer, privateKey }));
    this.#traffic = traffic;
  }

  /** Runs `act` with a probe of an endpoint, and closes the probe. */
  async probing<T>(
    endpoint: string,
    options: {
      readonly signal?: AbortSignal;
      readonly calls?: CallPolicy;
    } & RecordOptions,
    act: (probe: Probe, recorder: ExchangeRecorder) => Promise<T>,
  ): Promise<T> {
    if (!/^https?:$/.test(new URL(endpoint).protocol)) throw new Error('expected an http or https URL');
    const { profile } = this;
    const recorder = new ExchangeRecorder(this.#traffic, profile.token.header.toLowerCase(), options);
    const signer = await this.signer(endpoint);
    const { signal } = options;
    const { record } = recorder;
    const probe = new Probe({ url: endpoint, profile, signer, record, callPolicy: options.calls }, signal);
    try {
      return await act(probe, recorder);
    } catch (error) {
      if (recorder.error === undefined) throw error;
      throw new Error(`${endpoint}: ${recorder.error}`, { cause: error });
    } finally {
      await probe.close();
    }
  }

  /** The elements of the server's tools/list result, read without a token (C§5.2). */
  async tools(endpoint: string, purpose: Purpose = 'discovery'): Promise<readonly Json[]> {
    return this.probing(endpoint, { purpose }, async (probe) => (await probe.toolList()).tools);
  }

  /** Opens a session and calls a tool in it, with a deliberate error if the order names one. */
  async call(order: CallOrder): Promise<CallReport> {
    const { endpoint, tool, arguments: args, definition, deliberate, purpose = 'call' } = order;
    const refusal = deliberate === undefined ? null : expectedRefusal(deliberate);
    return this.probing(endpoint, { purpose, refusal }, async (probe, recorder) => {
      const answer = await sendCall(probe, tool, args, deliberate).catch(silentAnswerOrThrow);
      const { http, result, error } = answer;
      const isAnswered = http.status > 0;
      const failure = isAnswered ? http.body : (recorder.error ?? http.body);
      return {
        id: recorder.last ?? 0,
        endpoint,
        tool,
        arguments: args,
        deliberate: deliberate ?? null,
        status: http.status,
        ms: isAnswered ? http.ms : null,
        verdict: callVerdict(definition, answer),
        result: result ? (exactResult(answer) ?? result) : null,
        error: result ? null : (error ?? failure),
        expected: deliberate ? expectation(deliberate, answer) : null,
        cause: null,
      };
    });
  }
}

const slowPauseMs = 60;

const forgeries: { readonly [way in DeliberateError]?: TokenVariant } = {
  'wrong-audience': { claims: { aud: 'https://another.example/mcp' } },
  'wrong-key': { by: 'untrusted' },
};

async function sendCall(probe: Probe, tool: string, args: Json, deliberate: Way): Promise<RpcAnswer> {
  const timeoutMs = probe.timeoutMs(probe.profile.limits.callMs);
  const session = await sessionFor(probe, deliberate);
  const token = await tokenFor(probe, deliberate);
  const id = nextId();
  const message = rpcRequest(id, 'tools/call', { name: tool, arguments: args });
  const body = deliberate === 'batch' ? [message] : message;
  const pace = deliberate === 'slow' && { pauseMs: slowPauseMs };
  const http = await probe.post(body, { session, token, timeoutMs, ...pace });
  return rpcAnswer({ ...http, values: http.values.filter((value) => isWalkable(value)) }, id);
}

type Way = DeliberateError | undefined;

async function sessionFor(probe: Probe, deliberate: Way): Promise<string | undefined> {
  if (deliberate !== 'dropped-session') return probe.session();
  const session = await probe.newSession();
  await probe.http({ method: 'DELETE', headers: { 'mcp-session-id': session } });
  return session;
}

async function tokenFor(probe: Probe, deliberate: Way): Promise<string | undefined> {
  if (deliberate === 'no-token' || deliberate === 'batch') return undefined;
  if (deliberate === 'expired') {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const { lifetimeSeconds, clockToleranceSeconds } = probe.profile.token;
    const exp = nowSeconds - clockToleranceSeconds - 60;
    return probe.token({ claims: { iat: exp - lifetimeSeconds, exp } });
  }
  const forgery = deliberate && forgeries[deliberate];
  if (forgery) return probe.token(forgery);
  return probe.payment();
}

const refusals: { readonly [refusal in DeliberateRefusal]: string } = {
  Unauthorized: 'HTTP 401 {"error":"Unauthorized"} (C§7), and no call',
  'Invalid session': 'HTTP 400 {"error":"Invalid session"} (C§7)',
};

/** The answer that the contract expects to a call with a deliberate error. */
function expectation(way: DeliberateError, { http, result }: RpcAnswer): NonNullable<CallReport['expected']> {
  const { status, body, values } = http;
  const actual = status === 0 ? body : `HTTP ${status} ${body.slice(0, 200)}`.trimEnd();
  const refusal = expectedRefusal(way);
  if (refusal === null) {
    return { what: 'the result that other clients get', met: result !== undefined, actual };
  }
  return { what: refusals[refusal], met: isRefusedWith(refusal, status, values), actual };
}
