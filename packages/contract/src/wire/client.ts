import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { objectOr, parseJsonText } from '../json/json.ts';
import { guardSchemaWork } from '../json/schema.ts';
import type { JsonObject } from '../json/value.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { nowMs } from './clock.ts';
import { type FetchGuards, guardedFetch } from './guarded-fetch.ts';
import type { HttpAnswer } from './http.ts';
import { NotRun, rateLimited } from './not-run.ts';
import { allWaitsMs, type LimitedAnswer } from './rate-limit.ts';
import { NoAnswer, Unanswered } from './receive.ts';

export interface SdkSession {
  readonly client: Client;
  close(): Promise<void>;
}

type SessionRefusal = Pick<HttpAnswer, 'status' | 'body'>;

export interface ClientOptions extends FetchGuards {
  readonly url: URL;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The token of each request; without one, the header is absent. */
  readonly token: (() => Promise<string | undefined>) | undefined;
  readonly platform: Pick<PlatformProfile['token'], 'header' | 'scheme'>;
  /** Called with the session that an answer names. */
  readonly onSession: (session: string | undefined) => void;
  /** Returns the session that replaces a lost session; undefined if the server still knows it or opens no other. */
  readonly successorOf: (session: string, refusal: SessionRefusal) => Promise<string | undefined>;
  /** Waits after HTTP 429. Resolves to true if the request may be sent again. */
  readonly waitForRateLimit: (answer: LimitedAnswer) => Promise<boolean>;
}

/** Loads the SDK for `connect` early, while its caller waits for something else. */
export function loadClient() {
  void Headers; // on first use, Node loads its HTTP client
  return Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
}

/**
 * Connects the MCP SDK's client as a marketplace does. The SDK is loaded on first use: it is the largest import of
 * the contract, and the generator only inspects definitions.
 */
export async function connect({
  url,
  headers,
  token,
  platform,
  onSession,
  successorOf,
  waitForRateLimit,
  ...guards
}: ClientOptions): Promise<SdkSession> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await loadClient();
  const onStreamEndedEarly = (body: unknown, cause: Error | undefined): void => {
    const { id, method } = objectOr(parseJsonText(String(body))[0]);
    if (typeof id !== 'number' || typeof method !== 'string') return;
    const data = isMissingAnswer(cause) ? cause : earlyEndOfStream(method);
    transport.onmessage?.({
      jsonrpc: '2.0',
      id,
      error: { code: connectionClosed, message: data.message, data },
    });
  };
  const send = guardedFetch({ ...guards, onStreamEndedEarly });
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: authorizedFetch(send, { token, platform, onSession, successorOf, waitForRateLimit }),
    requestInit: { headers: { ...headers } },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const { timeoutMs, signal } = guards;
  /** `guardedFetch` limits each request; the SDK's own limit, a minute, would count the waits after HTTP 429. */
  const timeout = timeoutMs + allWaitsMs;
  class ClientWithTimeout extends Client {
    override request: Client['request'] = (request, schema, options) =>
      super.request(request, schema, { timeout, ...options });
  }
  const client = new ClientWithTimeout(
    { name: 'marketplace-contract', version: '1.0.0' },
    { capabilities: {}, jsonSchemaValidator: await boundedValidator() },
  );
  await client.connect(transport, { timeout, ...(signal && { signal }) });
  return { client, close: () => client.close() };
}

/** A `fetch` that adds the token. It repeats a request after HTTP 429, and in another session if the server has lost its session. */
function authorizedFetch(
  send: typeof fetch,
  {
    token,
    platform,
    onSession,
    successorOf,
    waitForRateLimit,
  }: Pick<ClientOptions, 'token' | 'platform' | 'onSession' | 'successorOf' | 'waitForRateLimit'>,
): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    const ownSession = headers.get('mcp-session-id');
    for (let attempt = 0; ; attempt += 1) {
      const tokenText = await token?.();
      if (tokenText !== undefined) headers.set(platform.header, `${platform.scheme} ${tokenText}`);
      const sentAt = nowMs();
      const answer = await send(input, { ...init, headers });
      onSession(answer.headers.get('mcp-session-id') ?? undefined);
      if (await moveToSuccessor(headers, ownSession, answer, successorOf)) continue;
      if (answer.status !== 429) return answer;
      await answer.body?.cancel(); // the time limit of the request ends with its body
      const limited = { headers: Object.fromEntries(answer.headers), sentAt, attempt };
      if (!(await waitForRateLimit(limited))) throw NotRun.because('unanswered', rateLimited);
    }
  };
}

/** Sets the header of another session if the server has lost the session of a request. Returns whether to send the request again. */
async function moveToSuccessor(
  headers: Headers,
  ownSession: string | null,
  answer: Response,
  successorOf: ClientOptions['successorOf'],
): Promise<boolean> {
  const session = headers.get('mcp-session-id');
  if (session === null || session !== ownSession) return false;
  if (answer.status !== 400 && answer.status !== 404) return false;
  const next = await successorOf(session, { status: answer.status, body: await answer.clone().text() });
  if (next === undefined) return false;
  headers.set('mcp-session-id', next);
  await answer.body?.cancel();
  return true;
}

/**
 * Returns the missing answer that an error of the SDK's client stands for: no connection, an interrupted connection, no response in
 * time. Undefined if the client got an answer and rejected it.
 *
 * @throws NotRun if the request could not be sent or its answer could not be awaited.
 */
export function missingAnswerOf(error: unknown): NoAnswer | undefined {
  const attachedError = error instanceof Error && 'data' in error ? error.data : undefined;
  const innerError = isMissingAnswer(attachedError) ? attachedError : error;
  if (innerError instanceof NotRun) throw innerError;
  if (innerError instanceof NoAnswer) return innerError;
  if (!(error instanceof Error) || !noAnswerMessages.test(error.message)) return undefined;
  const { cause, message } = error;
  const reason = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : message;
  return new NoAnswer(reason, { cause: error });
}

/** The JSON-RPC error code of the SDK for a request whose connection ended. */
const connectionClosed = -32_000;

function isMissingAnswer(error: unknown): error is NoAnswer | NotRun {
  return error instanceof NoAnswer || error instanceof NotRun;
}

/** The error of a stream that ended without a response. Some servers end a stream early if the request says `Connection: close`. */
function earlyEndOfStream(method: string): Unanswered {
  return new Unanswered([
    {
      path: `${method} with Connection: close`,
      expected: 'a response',
      actual: 'a stream of events that ended before it',
      fix: 'End the stream after the response, also if the request has the header Connection: close. Proxies such as nginx send it.',
    },
  ]);
}

/** Messages of `fetch` and of the SDK for a missing answer. The codes of the SDK do not identify them: a server may send the same codes. */
const noAnswerMessages =
  /^(fetch failed|terminated|MCP error -32001: Request timed out|MCP error -32000: Connection closed)$/;

/**
 * The SDK's validator with a time limit: an untrusted schema could keep it busy forever. An Ajv whose compilation was
 * stopped keeps half of it, so each further attempt has a new one.
 */
export async function boundedValidator() {
  const { AjvJsonSchemaValidator: Validator } = await import('@modelcontextprotocol/sdk/validation/ajv');
  let intact: AjvJsonSchemaValidator | undefined;
  return {
    getValidator<T>(schema: Parameters<AjvJsonSchemaValidator['getValidator']>[0]) {
      const validate = guardSchemaWork(schema as JsonObject, () => {
        const ownValidator = intact ?? new Validator();
        intact = undefined;
        const compiled = ownValidator.getValidator<T>(schema);
        intact = ownValidator;
        return compiled;
      });
      return (input: unknown) => guardSchemaWork(schema as JsonObject, () => validate(input));
    },
  };
}

/** The versions of MCP that the SDK supports (`2025-06-18`), newest first. */
export async function supportedVersions(): Promise<readonly string[]> {
  const { SUPPORTED_PROTOCOL_VERSIONS } = await import('@modelcontextprotocol/sdk/types.js');
  return SUPPORTED_PROTOCOL_VERSIONS;
}
