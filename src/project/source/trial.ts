import { CommandError, proxyNote } from 'market-mcp-contract/command';
import { isObject, type JsonObject, parseJsonText, shorten } from 'market-mcp-contract/json';
import { addressScope } from 'market-mcp-contract/wire';
import { basic, Secret, SourceError, sendOnce } from 'market-mcp-runtime/source';
import type { ApiKey, ApiRequest } from '../../import/imported-tool.ts';
import { isFormType } from '../../import/media-type.ts';
import { jsonForm, requestOptions } from '../../import/request-options.ts';

/** The response of an API to a request that was sent before its tool exists. */
export interface TrialResponse {
  readonly status: number;
  /** Its JSON; null for an empty result: after a 404, and after a GraphQL or JSON-RPC response without a result. */
  readonly text: string | null;
  /** The headers that name the place of the response among pages. */
  readonly headers?: JsonObject | undefined;
}

/** The values of keys, by variable. */
type Secrets = ReadonlyMap<string, string>;

interface TrialOptions {
  /** 404, and a GraphQL or JSON-RPC response without a result, count as an empty result. */
  readonly acceptsNotFound: boolean;
}

/** The maximum time of a request. */
const timeoutMs = 10_000;

/**
 * Sends the request of a tool once, with `market-mcp-runtime/source`, so that it has the bytes of the tool's requests.
 *
 * @param secrets the values of its keys, by variable
 * @throws CommandError `NOT_ANSWERED` that says what came instead of a JSON object or list, with its first line and without keys
 */
export async function tryRequest(
  call: ApiRequest,
  args: JsonObject,
  secrets: Secrets,
  { acceptsNotFound }: TrialOptions,
): Promise<TrialResponse> {
  const { fallback: baseUrl = '' } = call.api.address;
  const { method, path, envelope, isReadByPost: isIdempotent } = call;
  const location = `${method.toUpperCase()} ${baseUrl}${path}`;
  if (addressScope(new URL(baseUrl)) === 'link-local' && process.env.SOURCES_LINK_LOCAL !== 'allow')
    throw unusableResponse(
      location,
      'was not sent: clouds serve the keys of a machine at such addresses',
      'Set SOURCES_LINK_LOCAL=allow if you trust it.',
    );
  const source = {
    baseUrl,
    timeoutMs,
    headers: keysIn('headers', call, secrets),
    query: keysIn('query', call, secrets),
    body: keysIn('body', call, secrets),
  };
  let received: SourceResponse;
  try {
    const parts = Object.fromEntries(requestOptions(call, jsonForm(args)));
    const options = { ...parts, envelope, isIdempotent };
    // The method is never `call`: the tools of MCP servers are not called before a project exists.
    received = await sendOnce(source, method as 'get', path, options as object);
  } catch (error) {
    throw unusableResponse(
      location,
      sendFailure(error as Error),
      `Correct the command, or start the API.${proxyNote()}`,
    );
  }
  const correction = requestCorrection(call.body);
  return checkedResponse(location, received, acceptsNotFound, correction);
}

type SourceResponse = Awaited<ReturnType<typeof sendOnce>>;

/** What to do if the API rejects the request. */
function requestCorrection(body: ApiRequest['body']): string {
  if (body?.kind !== 'json' || !isFormType(body.mediaType ?? '')) return 'Correct the command.';
  return "Its JSON was sent as a form, as curl sends it. If the API takes JSON, add -H 'content-type: application/json'.";
}

/** The response if it is a JSON object or list; without its text if it is an empty result that is accepted. */
function checkedResponse(
  location: string,
  response: SourceResponse,
  acceptsNotFound: boolean,
  correction: string,
): TrialResponse {
  const { status, text, headers, hasNothing: isEmptyEnvelope } = response;
  if (status === 404 && acceptsNotFound) return { status, text: null, headers };
  const [value] = status >= 200 && status < 300 && !isPage(response) ? parseJsonText(text) : [];
  if (isObject(value) || Array.isArray(value)) {
    if (!isEmptyEnvelope) return { status, text, headers };
    if (acceptsNotFound) return { status, text: null, headers };
    const hint = 'Give arguments for which it has an answer.';
    throw unusableResponse(location, `has nothing for these arguments: ${text.slice(0, 120)}`, hint);
  }
  const [responseKind, hint] = otherThanJson(response, correction);
  throw unusableResponse(location, `was answered with ${responseKind}`, hint);
}

/** What the API sent instead of a JSON object or list, and what to do. */
function otherThanJson(
  response: SourceResponse,
  correction: string,
): readonly [responseKind: string, hint: string] {
  const { status, text } = response;
  const bodyStart = text.trim() === '' ? '' : `: ${shorten(text.trim().split(/\r?\n/, 1)[0] ?? '', 120)}`;
  const keyHint =
    'Check the key. If a browser sent cookies, the API may need them, and then no tool can call it.';
  if (status === 401 || status === 403) return [`HTTP ${status}${bodyStart}`, keyHint];
  if (status < 200 || status > 299) return [`HTTP ${status}${bodyStart}`, correction];
  if (bodyStart === '')
    return [`HTTP ${status} and nothing else`, 'Give a request that is answered with JSON.'];
  const page = /type=["']?password|sign[ -]?in|log[ -]?in/i.test(text) ? 'a page to log in' : 'HTML';
  if (isPage(response))
    return [`${page}, not JSON${bodyStart}`, 'Give the address of the API, which answers with JSON.'];
  const [scalar] = parseJsonText(text);
  if (scalar !== undefined)
    return [
      `JSON that is neither an object nor a list: ${shorten(scalar, 120)}`,
      'Give a request that is answered with a JSON object or list.',
    ];
  return [`something else than JSON${bodyStart}`, 'Many APIs have a parameter or an Accept header for JSON.'];
}

function isPage({ text, contentType }: SourceResponse): boolean {
  return /^\s*</.test(text) || /text\/html/i.test(contentType);
}

/** The keys that a call sends in one part of its request, by their names there. */
function keysIn(part: 'headers' | 'query' | 'body', call: ApiRequest, secrets: Secrets) {
  const partKeys = (call.acceptedKeys ?? []).flat().filter((key) => key.in === part);
  return Object.fromEntries(partKeys.map((key) => [key.name, keySecret(key, secrets)]));
}

function keySecret({ kind, variables, prefix = '', cookie }: ApiKey, secrets: Secrets): Secret {
  const variableSecrets = variables.map(({ name }) => new Secret(name, secrets.get(name) ?? ''));
  const [secret = new Secret('', ''), password = ''] = variableSecrets;
  if (kind === 'basic') return basic(secret, password);
  const prefixes: Partial<Record<ApiKey['kind'], string>> = { bearer: 'Bearer ', cookie: `${cookie}=` };
  const keyPrefix = prefixes[kind] ?? prefix;
  if (keyPrefix === '') return secret;
  return secret.after(keyPrefix);
}

/** Why a request has no response, as the end of a sentence. */
function sendFailure(error: Error): string {
  if (error instanceof SourceError) return `gave no answer to use: ${error.message.replace(/\.$/, '')}`;
  if (error.name === 'TimeoutError') return `gave no answer within ${timeoutMs / 1000} seconds`;
  const cause = error.cause as { readonly code?: string; readonly message?: string } | undefined;
  return `cannot be reached (${cause?.code ?? cause?.message ?? error.name})`;
}

function unusableResponse(location: string, problem: string, hint: string): CommandError {
  return new CommandError('NOT_ANSWERED', `${location} ${problem}`, `${hint} Nothing was written.`);
}
