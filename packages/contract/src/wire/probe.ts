import { present } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { bounds, isReadable } from '../json/walk.ts';
import { type Access, accessOf, isDenied } from './access.ts';
import { planCalls } from './call-plan.ts';
import { connect, missingAnswerOf, type SdkSession } from './client.ts';
import { nowMs } from './clock.ts';
import { callsAtOnce, mapConcurrently } from './concurrency.ts';
import type { HttpAnswer } from './http.ts';
import { consent, limitHidesPayment, NotRun, noHarmlessCall } from './not-run.ts';
import type { PostOptions } from './requests.ts';
import { isDeniedByStatus, type RpcAnswer, silentAnswerOrThrow } from './rpc.ts';
import { leastHarmfulFirst, permissionOf } from './safety.ts';
import { Sessions, saysSessionIsGone } from './sessions.ts';
import { type CallCase, toolCases } from './tool-cases.ts';
import { isUnrecorded } from './unrecorded.ts';

/** The name of a tool that no server has. */
export const noSuchTool = 'no_such_tool';

/** The params of a tools/call. */
export type CallParams = { readonly name: string; readonly arguments: JsonObject };

/** A finished tools/call. */
export interface CallOutcome extends CallCase {
  readonly rpc: RpcAnswer;
  /** Undefined if the server answered with an error, or not in JSON-RPC. */
  readonly result: JsonObject | undefined;
}

/** How a call may differ. */
export interface ProbeCall extends PostOptions {
  /** Sent as `params._meta`. */
  readonly meta?: JsonObject | undefined;
}

/** The checked server: its requests, its sessions, its tools, and the calls that many rules check. */
export class Probe extends Sessions {
  health(): Promise<HttpAnswer> {
    return this.once('health', () => this.http({ path: '/health' }));
  }

  /**
   * The token of a call that must run, with these additional claims. None if no key is available and the server
   * accepts unpaid calls, which a separate rule reports.
   */
  async payment(claims?: JsonObject): Promise<string | undefined> {
    if (!this.target.signer && (await this.isUngated())) return undefined;
    return this.token(claims && { claims });
  }

  /** What a tools/call without a token shows. */
  async unpaidAccess(): Promise<Access> {
    return accessOf((await this.unpaidCall()).http);
  }

  /** Whether a tools/call needs no token. @throws NotRun if a limit of the rate hides that. */
  async isUngated(): Promise<boolean> {
    const unpaidAccess = await this.unpaidAccess();
    if (unpaidAccess === 'limited') throw NotRun.because('unanswered', limitHidesPayment);
    return unpaidAccess === 'open';
  }

  /**
   * Whether the server denies also a call with a valid token. A call without an answer is not denied. If the server does not deny a call
   * without a token, the token is not the reason for the denial.
   */
  async deniesPaid(): Promise<boolean> {
    const { http } = await this.paidCall().catch(silentAnswerOrThrow);
    return isDenied(http) && !(await this.isUngated());
  }

  /** A tools/call without a token, made once for this probe; a later probe makes it again. */
  unpaidCall(): Promise<RpcAnswer> {
    return this.once('unpaid call', async () =>
      this.eraRequest('tools/call', await this.authenticationCall()),
    );
  }

  /** A tools/call with a valid token, made once for this probe; a later probe makes it again. */
  paidCall(): Promise<RpcAnswer> {
    return this.once('paid call', async () => {
      const { name, arguments: args } = await this.authenticationCall();
      return this.#call(name, args, await this.token());
    });
  }

  /** A tools/call as a marketplace makes it: the paid one, or one without a token if the server accepts that. */
  async ordinaryCall(): Promise<RpcAnswer> {
    if (this.target.signer || !(await this.isUngated())) return this.paidCall();
    return this.unpaidCall();
  }

  /** The tools that may be called. */
  callable(): Promise<readonly JsonObject[]> {
    return this.once('callable', async () => {
      const { callPolicy, examples } = this.target;
      const tools = await this.tools();
      if (!callPolicy) return tools;
      const namedTools = new Set<Json | undefined>([...callPolicy.named, ...(examples?.keys() ?? [])]);
      const allowedTools = await callPolicy.decide?.(planCalls(tools, namedTools, this.target));
      for (const name of allowedTools ?? []) namedTools.add(name);
      // To the server, one name is one tool, however often it is listed.
      const withheld = new Set(
        tools.filter((tool) => !permissionOf(tool, namedTools).isCalled).map(({ name }) => name),
      );
      return tools.filter(({ name }) => !withheld.has(name));
    });
  }

  /** @throws NotRun where a tool is listed that may not be called. */
  async #requireCallable(name: Json): Promise<void> {
    if (!this.target.callPolicy || (await this.fetchedToolList()).fault) return; // without a list, no call names a real tool
    const isListed = (await this.tools()).some((tool) => tool.name === name);
    if (isListed && !(await this.callable()).some((tool) => tool.name === name))
      throw NotRun.because('withheld', consent);
  }

  /** A tools/call with a valid token, unless the options name another. */
  async call(name: Json, args: Json | undefined, options: ProbeCall = {}): Promise<RpcAnswer> {
    const answer = await this.#call(name, args, options.token ?? (await this.payment()), options);
    if (options.token !== undefined || !isDenied(answer.http)) return answer;
    if (isDeniedByStatus(answer.http) || (this.target.signer && (await this.deniesPaid())))
      throw NotRun.preventedBy('refused');
    return answer;
  }

  async #call(
    name: Json,
    args: Json | undefined,
    token: string | undefined,
    { meta, ...options }: ProbeCall = {},
  ): Promise<RpcAnswer> {
    await this.#requireCallable(name);
    const params = present<Json>({ name, arguments: args, _meta: meta });
    const answer = await this.rpc('tools/call', params, { ...options, token });
    this.ledger.recordCallOutcome(name, args, answer);
    return answer;
  }

  /** Every example of every tool, and the submission test's arguments: at least one call. */
  cases(): Promise<readonly [CallCase, ...CallCase[]]> {
    return this.once('cases', async () => {
      const tools = await this.callable();
      const { callPolicy, examples, writing } = this.target;
      const allCases = toolCases(leastHarmfulFirst(tools), examples, this.profile.smoke, writing);
      const [first, ...otherCases] = await this.#withoutUnrecorded(allCases);
      if (!first && (await this.tools()).length > 0 && (callPolicy || writing))
        throw NotRun.because('withheld', callPolicy ? consent : noHarmlessCall);
      if (!first) throw NotRun.preventedBy('noTool');
      return [first, ...otherCases];
    });
  }

  /** Whether there is a tool that may be called. If not, `authenticationCall` names one that does not exist. */
  async hasCases(): Promise<boolean> {
    if ((await this.fetchedToolList()).fault) return false;
    return this.cases().then(
      () => true,
      (error: unknown) => {
        if (error instanceof NotRun && (error.notRunCause === 'withheld' || error.notRunCause === 'missing'))
          return false;
        throw error;
      },
    );
  }

  /** Without the calls of writing tools that have no recording: that is not a failure of the project. */
  async #withoutUnrecorded(cases: readonly CallCase[]): Promise<readonly CallCase[]> {
    const { writing, onUnrecorded } = this.target;
    const remainingCases = await mapConcurrently(cases, callsAtOnce, async (example) => {
      if (example.isInvalid || writing?.get(example.name) !== 'replays') return [example];
      const result = await this.call(example.name, example.arguments).then(
        (answer) => answer.result,
        () => undefined,
      );
      if (!isUnrecorded(result)) return [example];
      onUnrecorded?.(example.name, example.arguments);
      return [];
    });
    return remainingCases.flat();
  }

  /** Whether the submission test may send these arguments to a tool. */
  async maySend(name: string, args: JsonObject): Promise<boolean> {
    if (!this.target.writing?.has(name)) return true;
    const text = JSON.stringify(args);
    const cases = await this.cases();
    return cases.some((example) => example.name === name && JSON.stringify(example.arguments) === text);
  }

  /**
   * A call that authentication must refuse unless it is paid: the first case. If no tool is known that may be called, it
   * names a tool that does not exist, so that it cannot do harm even if the server accepts it.
   */
  async authenticationCall(): Promise<CallParams> {
    if (!(await this.hasCases())) return { name: noSuchTool, arguments: {} };
    const [{ name, arguments: args }] = await this.cases();
    return { name, arguments: args };
  }

  /** All cases, called. */
  outcomes(): Promise<readonly CallOutcome[]> {
    return this.once('outcomes', async () => {
      const cases = await this.cases();
      const token = await this.payment();
      return mapConcurrently(cases, callsAtOnce, async (example) => {
        const rpc = await this.#call(example.name, example.arguments, token).catch(silentAnswerOrThrow);
        return { ...example, rpc, result: rpc.result };
      });
    });
  }

  /**
   * A session of the MCP SDK's client, which every marketplace uses; each request gets a new token.
   *
   * @throws NoAnswer, or the client's error about an answer that it rejects.
   */
  async client(token?: () => Promise<string | undefined>): Promise<SdkSession> {
    const { tools } = await this.toolList();
    if (tools.length > bounds.tools || tools.some((tool) => !isReadable(tool))) {
      throw NotRun.preventedBy('large');
    }
    if (this.ledger.ignoresNotifications) throw NotRun.explained('protocol.notification');
    const { initializeMs, callMs } = this.profile.limits;
    return connect({
      url: this.url,
      token,
      platform: this.profile.token,
      headers: this.target.headers ?? {},
      timeoutMs: Math.min(this.timeoutMs(Math.max(initializeMs, callMs)), this.leftMs),
      signal: this.signal,
      record: this.target.record,
      admit: (body) => {
        this.connection.requireMaySend();
        this.ledger.silenceLimit.admit(body);
      },
      countTimeout: (timeoutMs, body, arrival) => {
        this.ledger.silenceLimit.recordTimeout(body, nowMs() - timeoutMs);
        return this.connection.countTimeout(timeoutMs, arrival);
      },
      onSession: (session) => this.recordOpenedSession(session),
      successorOf: async (session, refusal) =>
        saysSessionIsGone(refusal) ? this.successorOf(session) : undefined,
      waitForRateLimit: (answer) => this.waitForRateLimit(answer),
    }).catch((error: unknown) => {
      throw missingAnswerOf(error) ?? error;
    });
  }
}
