import { ownErrors } from '../process.ts';
import type { Data, ObjectSchema } from '../server/define-tool.ts';
import { exactly, longNumbersIn, parseLiterally } from '../server/exact.ts';
import { createTurns, isolatesRequests } from '../server/limits.ts';
import { type HeldMemory, heldBySource } from '../server/memory.ts';
import { addressNotSet, reportAddress } from './address.ts';
import { Budget } from './budget.ts';
import { allSecretsOf, type Credentials, revealed, secretVariables } from './credentials.ts';
import { withDecimals } from './decimals.ts';
import { declaredPart, recordable } from './declared.ts';
import { fitToSchema } from './drift.ts';
import { SourceError, tooSlow, unavailable } from './errors.ts';
import { type McpAnswer, resultIn, unknownForm } from './mcp-message.ts';
import { isEmptyResult, type McpResult, mcpAnswer, mcpFailure, withReplacedAnswer } from './mcp-result.ts';
import { statelessCall } from './mcp-stateless.ts';
import { EventReader } from './mcp-stream.ts';
import {
  isRecording,
  isReplaying,
  keptDirectory,
  type RecordedRequest,
  recordedReply,
  recordReply,
  replayed,
  tellCheck,
} from './recordings.ts';
import { holdAnswer, logFailureOf } from './running.ts';
import { Secret } from './secret.ts';
import { defaultMaxBytes, explainedFailure, mismatch, type ReadChunk, requestOnce } from './send.ts';
import { redactorFor, withTokens } from './token.ts';

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
   * The answer of a tool of the server; undefined where that says that the empty result is the answer.
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

/** Writes an answer to the directories that keep answers, if any. */
function recordCall(
  request: RecordedRequest,
  text: string,
  recordingText: () => string,
  credentials: Credentials,
): void {
  const directory = keptDirectory();
  if (isRecording()) recordReply(request, { status: 200, text: recordingText() }, allSecretsOf(credentials));
  else if (directory !== undefined && !isReplaying())
    recordReply(request, { status: 200, text }, allSecretsOf(credentials), directory);
}

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
  const source = address;
  const budget = new Budget({ concurrency, queueMs, source, ...(perMinute !== undefined && { perMinute }) });
  const ask = askerOf(options, address, maxBytes, redact);

  const forward = async <Schema extends ObjectSchema>(tool: string, call: McpCall<Schema>) => {
    const { arguments: args = {}, isReadOnly = false, signal, schema, wrap } = call;
    const requestParts = { method: 'call', path: `/${tool}`, json: args };
    const url = new URL(address);
    const timeout = AbortSignal.timeout(timeoutMs);
    const ending = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const fetched = async (): Promise<string> => {
      const heldMemory = heldBySource();
      try {
        const send = () => {
          tellCheck('network', requestParts);
          return ask(tool, call, ending, heldMemory);
        };
        const answer = redact(await budget.run(send, ending));
        await holdAnswer(answer, heldMemory, signal);
        return answer;
      } catch (error) {
        heldMemory?.release();
        const sourceError = mcpSourceError(error, isReadOnly, signal?.aborted === true, timeout.aborted);
        const variables = secretVariables([credentials]);
        const { method, path } = requestParts;
        throw explainedFailure(sourceError, error, { method, url, path, variables, timeoutMs });
      }
    };
    const recorded = recordedReply(requestParts) ?? (isReplaying() ? replayed(requestParts) : undefined);
    const text = recorded ? recorded.text : await withTokens(options, undefined, ending, fetched);
    const long = longNumbersIn(text);
    const result = exactly(text, JSON.parse(text), long) as McpResult;
    if (result.isError === true) throw mcpFailure(result);
    const wholeAnswer = mcpAnswer(result, wrap);
    const only = call.keep === 'declared' ? schema : undefined;
    const reduced = only ? declaredPart(wholeAnswer, only) : wholeAnswer;
    const literalAnswer = () => mcpAnswer(parseLiterally(text) as McpResult, wrap, parseLiterally);
    const chosenAnswer = long ? withDecimals(reduced, schema, literalAnswer) : reduced;
    const hasNothing = isEmptyResult(result, wrap, isReadOnly);
    const tolerance = { drift: options.drift, isChosen: only !== undefined, signal };
    const { value: answer, problem } = hasNothing
      ? { value: undefined, problem: null }
      : fitToSchema(chosenAnswer, schema, text.length, tolerance);
    if (problem)
      throw mismatch(problem, { method: requestParts.method, host: url.host, path: requestParts.path });
    const recordingText = () => {
      const body = recordable(requestParts, wholeAnswer, only);
      if (only && !hasNothing) return JSON.stringify(withReplacedAnswer(result, body, wrap));
      return text;
    };
    recordCall(requestParts, text, recordingText, credentials);
    if (hasNothing) return undefined;
    return answer as Data<Schema>;
  };

  return { call: (tool, call) => logFailureOf(() => forward(tool, call), call.signal) };
}

/** The URL of an endpoint. A variable that is no URL is reported before the server starts. */
function endpointOf(baseUrl: string | Secret): string {
  if (typeof baseUrl === 'string') return baseUrl;
  const address = baseUrl.reveal() ?? addressNotSet;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return address;
  ownErrors.push(`${baseUrl.name}: expected an http or https URL without user and password.`);
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

/** How one tool of the server is asked, in a session that is opened when it is needed. */
function askerOf(
  options: McpSourceOptions,
  address: string,
  maxBytes: number,
  redact: (text: string) => string,
) {
  let openSession: Promise<Session> | Session | undefined;
  let lastId = 0;
  const turn = createTurns();

  const post = async (
    message: object,
    session: Session,
    signal: AbortSignal,
    heldMemory?: HeldMemory,
    onChunk?: ReadChunk,
  ): Promise<Response> => {
    const headers = new Headers({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...session,
    });
    for (const [name, value] of revealed(options.headers)) headers.set(name, value);
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const request = new Request(address, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal,
    });
    return requestOnce(request, maxBytes, heldMemory, onChunk);
  };

  const sendRequest = async (
    message: { readonly id: number; readonly method: string; readonly params: object },
    session: Session,
    signal: AbortSignal,
    heldMemory?: HeldMemory,
  ): Promise<McpAnswer> => {
    // A server that does not accept an answer to its own request still answers the call, or the call fails.
    const reply = (answer: object) => void post(answer, session, signal).catch(() => {});
    const events = new EventReader(message.id, turn, reply, heldMemory);
    const response = await post(message, session, signal, heldMemory, (chunk) => events.take(chunk));
    const text = await response.text();
    return { response, text, streamed: await events.response() };
  };

  const open = async (signal: AbortSignal): Promise<Session> => {
    lastId += 1;
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'mcp-source', version: '1' } };
    const answer = await sendRequest({ id: lastId, method: 'initialize', params }, {}, signal);
    const result: McpResult = JSON.parse(await resultIn(answer, lastId, true, redact));
    const version = result.protocolVersion;
    const id = answer.response.headers.get('mcp-session-id');
    const session: Session = {
      ...(id !== null && { 'mcp-session-id': id }),
      ...(typeof version === 'string' && /^[\d-]+$/.test(version) && { 'mcp-protocol-version': version }),
    };
    await post({ method: 'notifications/initialized' }, session, signal);
    return session;
  };

  /** Opens a session for all calls. One that cannot be opened is tried anew by the next call. */
  const begin = (signal: AbortSignal): Promise<Session> => {
    const opening = open(signal).then(
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
    heldMemory: HeldMemory | undefined,
  ): Promise<string> => {
    if (options.protocolVersion !== undefined) {
      lastId += 1;
      const id = lastId;
      const { params, headers } = statelessCall(tool, args, inputSchema);
      return resultIn(
        await sendRequest({ id, method: 'tools/call', params }, headers, signal, heldMemory),
        id,
        isReadOnly,
        redact,
      );
    }
    for (let tries = 0; ; tries += 1) {
      const session = await (openSession ?? begin(signal));
      lastId += 1;
      const id = lastId;
      const message = { id, method: 'tools/call', params: { name: tool, arguments: args } };
      const answer = await sendRequest(message, session, signal, heldMemory);
      if (answer.response.status === 404 && session['mcp-session-id'] !== undefined && tries === 0) {
        openSession = undefined;
        continue;
      }
      return resultIn(answer, id, isReadOnly, redact);
    }
  };
}

function mcpSourceError(error: unknown, isReadOnly: boolean, isEnded: boolean, isLate: boolean): SourceError {
  if (isEnded) return new SourceError('CANCELLED', 'The caller disconnected.');
  if (error instanceof SourceError) return error;
  // An answer that is nested too deeply for the stack.
  if (error instanceof RangeError) return unknownForm();
  if (isLate) return tooSlow(isReadOnly);
  return unavailable(isReadOnly);
}
