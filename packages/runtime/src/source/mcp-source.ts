// `mcpSource`: calls of the tools of another MCP server.

import { startErrors } from '../process.ts';
import { type ReservedMemory, reserveForSource } from '../server/call-memory.ts';
import type { Data, ObjectSchema } from '../server/define-tool.ts';
import { findLongNumbers, parseLiterally, restoreLongIntegers } from '../server/exact-numbers.ts';
import { createLargeWorkQueue } from '../server/large-work-queue.ts';
import { isolatesRequests } from '../server/limits.ts';
import { redactorFor, withApiTokens } from './access-token.ts';
import { Budget } from './budget.ts';
import { allSecretsOf, type Credentials, revealTexts, secretVariables } from './credentials.ts';
import { chargeResponse } from './current-call.ts';
import { withDecimals } from './decimals.ts';
import { declaredPartToRecord, keepDeclaredMembers } from './declared-members.ts';
import { explainFailure, mismatchError } from './failed-request.ts';
import { logFailedRequest } from './failure-log.ts';
import { defaultMaxBytes, fetchMeasured, type ReadChunk } from './fetch-response.ts';
import { fitToSchema } from './fit-to-schema.ts';
import { type McpAnswer, resultIn, unknownForm } from './mcp-message.ts';
import { isEmptyResult, type McpResult, mcpAnswer, mcpFailure, withReplacedAnswer } from './mcp-result.ts';
import { statelessCall } from './mcp-stateless.ts';
import { EventReader } from './mcp-stream.ts';
import {
  findLiveRecording,
  isRecording,
  isReplaying,
  type RecordedRequest,
  recordResponse,
  replayRecording,
  reportOrigin,
} from './recordings.ts';
import { Secret } from './secret.ts';
import { addressNotSet, reportAddress } from './source-address.ts';
import { cancelledError, SourceError, tooSlowError, unavailableError } from './source-errors.ts';

/** An MCP server (Streamable HTTP) and how it may be used. */
export interface McpSourceOptions {
  /** The URL of its endpoint; a secret if it contains a key. */
  readonly baseUrl: string | Secret;
  /** The version without sessions, if the server speaks no other. By default, a session is opened. */
  readonly protocolVersion?: '2026-07-28';
  /** Sent with every request; redirects are not followed. */
  readonly headers?: { readonly [name: string]: string | Secret };
  /** For a call, in milliseconds; 20,000 by default. */
  readonly timeoutMs?: number;
  /** Calls that run at the same time; 8 by default. */
  readonly concurrency?: number;
  /** Calls that the server receives within any 60 seconds, at most; no limit by default. */
  readonly perMinute?: number;
  /** How long a call waits for its turn before it fails as rate limited, in milliseconds; 2,000 by default. */
  readonly queueMs?: number;
  /** Size limit of an answer, in bytes; 2,000,000 by default. */
  readonly maxBytes?: number;
  /** `fail`: any difference of an answer from its schema fails; by default, wrong optional members are null or left out. */
  readonly drift?: 'fail';
}

/** Options of one call. */
export interface McpCall<Schema> {
  readonly arguments?: object;
  /** The answer's schema: another answer is `SOURCE_MALFORMED`. */
  readonly schema: Schema;
  /** `text`: the text becomes `{ result }`. `result`: so does the answer, such as a map. `items`: a list becomes `{ items, count }`. */
  readonly wrap?: 'text' | 'items' | 'result';
  /** `declared`: members that the schema does not declare are dropped before the answer is validated. */
  readonly keep?: 'declared';
  /** The schema of the arguments, if headers repeat some of them (`x-mcp-header`). */
  readonly inputSchema?: ObjectSchema;
  /** The tool changes nothing, so that platforms may call it again. */
  readonly isReadOnly?: boolean;
  /** Of the call: ends the request when its caller is gone or its deadline has passed. */
  readonly signal?: AbortSignal;
}

/** Calls of the tools of an MCP server. */
export interface McpSource {
  /**
   * The answer of a tool of the server; undefined if the result of the tool is empty.
   *
   * @throws SourceError
   */
  call<const Schema extends ObjectSchema>(
    tool: string,
    options: McpCall<Schema>,
  ): Promise<Data<Schema> | undefined>;
}

/** What a server has opened: the headers that later requests carry. */
type Session = { readonly [header: string]: string };

const protocolVersion = '2025-06-18';

/** Forwards calls to an MCP server. A call is sent once; only a session that has ended is opened anew. */
export function mcpSource(options: McpSourceOptions): McpSource {
  const address = endpointOf(options.baseUrl);
  const credentials = credentialsOf(options, address);
  reportAddress(address);
  const {
    timeoutMs = 20_000,
    maxBytes = defaultMaxBytes,
    concurrency = 8,
    queueMs = 2_000,
    perMinute,
  } = options;
  const redact = redactorFor(credentials);
  const budget = new Budget({ concurrency, queueMs, source: address, perMinute });
  const callTool = createToolCaller(options, address, maxBytes, redact);

  const secrets = () => allSecretsOf(credentials);

  /** The result of a call as JSON, without keys. */
  const sendCall = (tool: string, call: McpCall<ObjectSchema>, request: RecordedRequest): Promise<string> => {
    const { isReadOnly = false, signal } = call;
    const timeout = AbortSignal.timeout(timeoutMs);
    const ending = signal ? AbortSignal.any([signal, timeout]) : timeout;
    return withApiTokens(options, undefined, ending, async () => {
      const reservedMemory = reserveForSource();
      try {
        const send = () => {
          reportOrigin('network', request);
          return callTool(tool, call, ending, reservedMemory);
        };
        const answer = redact(await budget.run(send, ending));
        await chargeResponse(answer, reservedMemory, signal);
        return answer;
      } catch (error) {
        reservedMemory?.release();
        const sourceError = mcpSourceError(error, isReadOnly, signal?.aborted === true, timeout.aborted);
        const variables = secretVariables([credentials]);
        const { method, path } = request;
        throw explainFailure(sourceError, error, {
          method,
          host: new URL(address).host,
          path,
          variables,
          timeoutMs,
        });
      }
    });
  };

  const forward = async <Schema extends ObjectSchema>(tool: string, call: McpCall<Schema>) => {
    const { arguments: args = {}, isReadOnly = false } = call;
    const request = { method: 'call', path: `/${tool}`, json: args };
    const recorded = findLiveRecording(request) ?? (isReplaying() ? replayRecording(request) : undefined);
    const text = recorded ? recorded.text : await sendCall(tool, call, request);
    const longNumbers = findLongNumbers(text);
    const result = restoreLongIntegers(text, JSON.parse(text), longNumbers) as McpResult;
    if (result.isError === true) throw mcpFailure(result);
    const answer = mcpAnswer(result, call.wrap);
    if (isEmptyResult(result, call.wrap, isReadOnly)) {
      recordResponse(request, { status: 200, text }, secrets);
      return undefined;
    }
    const { value, mismatch } = fitAnswer(answer, text, longNumbers, call, options.drift);
    if (mismatch) {
      const { method, path } = request;
      throw mismatchError(mismatch, { method, host: new URL(address).host, path });
    }
    const recordedText = textToRecord(request, text, result, answer, call);
    recordResponse(request, { status: 200, text: recordedText }, secrets);
    return value as Data<Schema>;
  };

  return { call: (tool, call) => logFailedRequest(() => forward(tool, call), call.signal) };
}

/** The answer as far as the schema admits it, and why it cannot be used. */
function fitAnswer(
  answer: unknown,
  text: string,
  longNumbers: ReturnType<typeof findLongNumbers>,
  { keep, schema, wrap, signal }: McpCall<ObjectSchema>,
  drift: McpSourceOptions['drift'],
) {
  const keepsDeclaredOnly = keep === 'declared';
  const keptAnswer = keepsDeclaredOnly ? keepDeclaredMembers(answer, schema) : answer;
  const literally = () => mcpAnswer(parseLiterally(text) as McpResult, wrap, parseLiterally);
  const exact = longNumbers ? withDecimals(keptAnswer, schema, literally) : keptAnswer;
  return fitToSchema(exact, schema, text.length, { drift, keepsDeclaredOnly, signal });
}

/** The text that is recorded: the result, with the declared members only if the tool keeps no others. */
function textToRecord(
  request: RecordedRequest,
  text: string,
  result: McpResult,
  answer: unknown,
  { keep, schema, wrap }: McpCall<ObjectSchema>,
): string {
  if (!isRecording()) return text;
  const recorded = declaredPartToRecord(request, answer, keep === 'declared' ? schema : undefined);
  if (keep === 'declared') return JSON.stringify(withReplacedAnswer(result, recorded, wrap));
  return text;
}

/** The URL of an endpoint. A variable that is no URL is reported before the server starts. */
function endpointOf(baseUrl: string | Secret): string {
  if (typeof baseUrl === 'string') return baseUrl;
  const address = baseUrl.reveal() ?? addressNotSet;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return address;
  startErrors.push(`${baseUrl.name}: expected an http or https URL without user and password.`);
  return addressNotSet;
}

/** The headers of a source; if its URL is a secret, also what the URL contains, which no answer may repeat. */
function credentialsOf({ headers = {}, baseUrl }: McpSourceOptions, address: string): Credentials {
  if (typeof baseUrl === 'string') return { headers };
  return { headers, query: { url: new Secret(baseUrl.name, address, true, secretPartsOf(address)) } };
}

/**
 * The parts of a secret URL that can be keys: the target of its request, values of its query, and segments of its path. Shorter parts
 * may be ordinary words of an answer.
 */
function secretPartsOf(address: string): readonly string[] {
  const { searchParams, pathname, search } = new URL(address);
  const values = [...searchParams.values()];
  const valuesWithDigits = values.filter((value) => value.length >= 8 && /\d/.test(value));
  const longParts = [pathname + search, ...values, ...pathname.split('/')].filter(
    ({ length }) => length >= 20,
  );
  return [...valuesWithDigits, ...longParts];
}

/** Returns a function that calls a tool of the server, in a session that is opened when it is needed. */
function createToolCaller(
  options: McpSourceOptions,
  address: string,
  maxBytes: number,
  redact: (text: string) => string,
) {
  let openSession: Promise<Session> | Session | undefined;
  let lastId = 0;
  const turn = createLargeWorkQueue();

  const post = async (
    message: object,
    session: Session,
    signal: AbortSignal,
    reservedMemory?: ReservedMemory,
    onChunk?: ReadChunk,
  ): Promise<Response> => {
    const headers = new Headers({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...session,
    });
    for (const [name, value] of revealTexts(options.headers)) headers.set(name, value);
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const request = new Request(address, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal,
    });
    return fetchMeasured(request, maxBytes, reservedMemory, onChunk);
  };

  const sendRequest = async (
    message: { readonly id: number; readonly method: string; readonly params: object },
    session: Session,
    signal: AbortSignal,
    reservedMemory?: ReservedMemory,
  ): Promise<McpAnswer> => {
    // A server that does not accept an answer to its own request still answers the call, or the call fails.
    const reply = (answer: object) => void post(answer, session, signal).catch(() => {});
    const events = new EventReader(message.id, turn, reply, reservedMemory);
    const response = await post(message, session, signal, reservedMemory, (chunk) => events.take(chunk));
    const text = await response.text();
    return { response, text, streamed: await events.response() };
  };

  const initialize = async (signal: AbortSignal): Promise<Session> => {
    lastId += 1;
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'mcp-source', version: '1' } };
    const answer = await sendRequest({ id: lastId, method: 'initialize', params }, {}, signal);
    const result: McpResult = JSON.parse(await resultIn(answer, lastId, true, redact));
    const version = result.protocolVersion;
    const id = answer.response.headers.get('mcp-session-id');
    const session: { [header: string]: string } = {};
    if (id !== null) session['mcp-session-id'] = id;
    if (typeof version === 'string' && /^[\d-]+$/.test(version)) session['mcp-protocol-version'] = version;
    await post({ method: 'notifications/initialized' }, session, signal);
    return session;
  };

  /** Opens a session for all calls. If that fails, the next call tries again. */
  const openSharedSession = (signal: AbortSignal): Promise<Session> => {
    const opening = initialize(signal).then(
      (session) => {
        openSession = session;
        return session;
      },
      (error) => {
        openSession = undefined;
        throw error;
      },
    );
    if (!isolatesRequests()) openSession = opening;
    return opening;
  };

  return async (
    tool: string,
    { arguments: args = {}, isReadOnly = false, inputSchema }: McpCall<ObjectSchema>,
    signal: AbortSignal,
    reservedMemory: ReservedMemory | undefined,
  ): Promise<string> => {
    if (options.protocolVersion !== undefined) {
      lastId += 1;
      const id = lastId;
      const { params, headers } = statelessCall(tool, args, inputSchema);
      return resultIn(
        await sendRequest({ id, method: 'tools/call', params }, headers, signal, reservedMemory),
        id,
        isReadOnly,
        redact,
      );
    }
    for (let tries = 0; ; tries += 1) {
      const session = await (openSession ?? openSharedSession(signal));
      lastId += 1;
      const id = lastId;
      const message = { id, method: 'tools/call', params: { name: tool, arguments: args } };
      const answer = await sendRequest(message, session, signal, reservedMemory);
      if (answer.response.status === 404 && session['mcp-session-id'] !== undefined && tries === 0) {
        openSession = undefined;
        continue;
      }
      return resultIn(answer, id, isReadOnly, redact);
    }
  };
}

function mcpSourceError(error: unknown, isReadOnly: boolean, isEnded: boolean, isLate: boolean): SourceError {
  if (isEnded) return cancelledError();
  if (error instanceof SourceError) return error;
  // An answer that is nested too deeply for the stack.
  if (error instanceof RangeError) return unknownForm();
  if (isLate) return tooSlowError(isReadOnly);
  return unavailableError(isReadOnly);
}
