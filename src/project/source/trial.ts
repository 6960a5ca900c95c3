import { CommandError, proxyNote } from 'market-mcp-contract/command';
import { isObject, type JsonObject, parseJsonText, shorten } from 'market-mcp-contract/json';
import { reachOf } from 'market-mcp-contract/wire';
import { basic, Secret, SourceError, sendOnce } from 'market-mcp-runtime/source';
import type { ApiKey, ApiRequest } from '../../import/imported-tool.ts';
import { isFormType } from '../../import/media-type.ts';
import { jsonForm, requestOptions } from '../../import/request-options.ts';

/** What an API has answered: its JSON as text, or null if it has nothing (404, or an envelope without content). */
export interface TrialAnswer {
  readonly status: number;
  readonly text: string | null;
  /** Those that name its place among pages. */
  readonly headers?: JsonObject | undefined;
}

type Values = (variable: string) => string;

/**
 * Sends the request of a tool once, with the code of the source kit: the bytes of the trial are those of the tool.
 *
 * @param valueIn the value of a variable of a key
 * @param mayBeMissing 404 is an answer
 * @throws CommandError `NOT_ANSWERED` that names what came instead of JSON, with its first line and without keys
 */
export async function tryRequest(
  call: ApiRequest,
  args: JsonObject,
  valueIn: Values,
  mayBeMissing: boolean,
): Promise<TrialAnswer> {
  const { fallback = '' } = call.api.address;
  const { method, path, envelope, onlyReads: isIdempotent } = call;
  const location = `${method.toUpperCase()} ${fallback}${path}`;
  if (reachOf(new URL(fallback)) === 'link-local' && process.env.SOURCES_LINK_LOCAL !== 'allow')
    throw unusableAnswer(
      location,
      'was not sent: clouds serve the keys of a machine at such addresses',
      'Set SOURCES_LINK_LOCAL=allow if you trust it.',
    );
  const source = {
    baseUrl: fallback,
    headers: keysIn('headers', call, valueIn),
    query: keysIn('query', call, valueIn),
    body: keysIn('body', call, valueIn),
  };
  let answered: Answered;
  try {
    const parts = Object.fromEntries(requestOptions(call, jsonForm(args)));
    const options = { ...parts, envelope, isIdempotent };
    answered = await sendOnce(source, method as 'get', path, options as object);
  } catch (error) {
    throw unusableAnswer(
      location,
      `gave no answer to use: ${sendFailure(error as Error)}`,
      `Correct the command, or start the API.${proxyNote()}`,
    );
  }
  const correction = requestCorrection(call.body);
  const answer = {
    ...checkedAnswer(location, answered, mayBeMissing, correction),
    headers: answered.headers,
  };
  if (!answered.hasNothing) return answer;
  if (mayBeMissing) return { ...answer, text: null };
  const hint = 'Give arguments for which it has an answer.';
  throw unusableAnswer(location, `has nothing for these arguments: ${answered.text.slice(0, 120)}`, hint);
}

type Answered = Awaited<ReturnType<typeof sendOnce>>;

/** What to do if the API rejects the request. */
function requestCorrection(body: ApiRequest['body']): string {
  if (body?.kind !== 'json' || !isFormType(body.mediaType ?? '')) return 'Correct the command.';
  return "Its JSON was sent as a form, as curl sends it. If the API takes JSON, add -H 'content-type: application/json'.";
}

function checkedAnswer(
  location: string,
  answered: Answered,
  mayBeMissing: boolean,
  correction: string,
): TrialAnswer {
  const { status, text } = answered;
  if (status === 404 && mayBeMissing) return { status, text: null };
  const [value] = status >= 200 && status < 300 && !isPage(answered) ? parseJsonText(text) : [];
  if (isObject(value) || Array.isArray(value)) return { status, text };
  const [responseKind, hint] = otherThanJson(answered, correction);
  throw unusableAnswer(location, `was answered with ${responseKind}`, hint);
}

/** What came instead of JSON, and what to do. */
function otherThanJson(answered: Answered, correction: string): readonly [what: string, hint: string] {
  const { status, text } = answered;
  const bodyStart = text.trim() === '' ? '' : `: ${shorten(text.trim().split(/\r?\n/, 1)[0] ?? '', 120)}`;
  const cookies =
    'Check the key. If a browser sent cookies, the API may need them, and then no tool can call it.';
  if (status === 401 || status === 403) return [`HTTP ${status}${bodyStart}`, cookies];
  if (status < 200 || status > 299) return [`HTTP ${status}${bodyStart}`, correction];
  if (bodyStart === '')
    return [`HTTP ${status} and nothing else`, 'Give a request that is answered with JSON.'];
  const page = /type=["']?password|sign[ -]?in|log[ -]?in/i.test(text) ? 'a page to log in' : 'HTML';
  if (isPage(answered))
    return [`${page}, not JSON${bodyStart}`, 'Give the address of the API, which answers with JSON.'];
  return [`something else than JSON${bodyStart}`, 'Many APIs have a parameter or an Accept header for JSON.'];
}

function isPage({ text, contentType }: Answered): boolean {
  return /^\s*<|text\/html/i.test(text.slice(0, 200) + contentType);
}

/** The keys that a call sends in one part of its request, by their names there. */
function keysIn(part: 'headers' | 'query' | 'body', call: ApiRequest, valueIn: Values) {
  const partKeys = (call.needs ?? []).flat().filter((key) => key.in === part);
  return Object.fromEntries(partKeys.map((key) => [key.name, keySecret(key, valueIn)]));
}

function keySecret({ kind, variables, prefix = '', cookie }: ApiKey, valueIn: Values): Secret {
  const secrets = variables.map(({ name }) => new Secret(name, valueIn(name)));
  const [secret = new Secret('', ''), second = ''] = secrets;
  if (kind === 'basic') return basic(secret, second);
  const prefixes: Partial<Record<ApiKey['kind'], string>> = { bearer: 'Bearer ', cookie: `${cookie}=` };
  const keyPrefix = prefixes[kind] ?? prefix;
  if (keyPrefix === '') return secret;
  return secret.after(keyPrefix);
}

function sendFailure(error: Error): string {
  if (error instanceof SourceError) return error.message.replace(/\.$/, '');
  if (error.name === 'TimeoutError') return 'it gave no answer within 10 seconds';
  const cause = error.cause as { readonly code?: string; readonly message?: string } | undefined;
  return `it cannot be reached (${cause?.code ?? cause?.message ?? error.name})`;
}

function unusableAnswer(location: string, problem: string, hint: string): CommandError {
  return new CommandError('NOT_ANSWERED', `${location} ${problem}`, `${hint} Nothing was written.`);
}
