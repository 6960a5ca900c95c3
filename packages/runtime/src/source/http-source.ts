import { isProduction } from '../process.ts';
import type { Data, ObjectSchema } from '../server/define-tool.ts';
import { exactly, longNumbersIn, parseLiterally, writeLiterally } from '../server/exact.ts';
import { blankObject, checkOf, isObject } from '../server/schema.ts';
import { reportAddress } from './address.ts';
import type { BodyParts } from './body.ts';
import { Budget } from './budget.ts';
import { type Alternatives, allSecretsOf, type Credentials, reportCredentials } from './credentials.ts';
import { withDecimals } from './decimals.ts';
import { declaredPart, recordable } from './declared.ts';
import { fitToSchema } from './drift.ts';
import { type Envelope, encloseAnswer, isNothing, openedValue } from './envelope.ts';
import { SourceError } from './errors.ts';
import { isRead, signed, unsigned } from './exchange.ts';
import { isEmptyAnswer, saysNothingFound } from './no-data.ts';
import { addPages, type Pages } from './pages.ts';
import {
  isRecording,
  isRehearsing,
  isReplaying,
  keptDirectory,
  type RecordedRequest,
  recordedReply,
  recordReply,
  replayed,
  type SourceResponse,
} from './recordings.ts';
import type { HeaderStyle, Parameter, PathStyle, QueryStyle } from './request.ts';
import { holdAnswer, logFailureOf } from './running.ts';
import type { Secret } from './secret.ts';
import {
  defaultMaxBytes,
  mismatch,
  noJson,
  notFoundError,
  type SourceExchange,
  saidFailure,
  sendWithRetries,
} from './send.ts';
import { SharedAnswers, unshared } from './shared.ts';
import { contradiction, type Success } from './success.ts';
import { redactorFor, withTokens } from './token.ts';

type Values = { readonly [name: string]: Parameter };

/** An API and how it may be used. */
export interface HttpSourceOptions {
  /** An http or https URL; the paths of requests are below it. */
  readonly baseUrl: string;
  /** Sent with every request, only to this API: redirects to another host are not followed. */
  readonly headers?: { readonly [name: string]: string | Secret };
  /** Added to every query, for APIs that expect their key there. */
  readonly query?: { readonly [name: string]: string | Secret };
  /** Added to every form and JSON object, for APIs that expect their key there. */
  readonly body?: { readonly [name: string]: string | Secret };
  /** By name, what only the requests send that name it in `auth`. */
  readonly credentials?: { readonly [name: string]: Credentials };
  /** The `auth` of the requests that have none. */
  readonly auth?: Alternatives;
  /** For a request with all its retries, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
  /** Further attempts after 429, 5xx and network errors, for requests that may be repeated; 2 by default. */
  readonly retries?: number;
  /** Requests that run at the same time; 8 by default. */
  readonly concurrency?: number;
  /** Requests that the API receives within any 60 seconds, at most; no limit by default. */
  readonly perMinute?: number;
  /** How long a request may wait in the queue before it fails as rate limited, in milliseconds; 2,000 by default. */
  readonly queueMs?: number;
  /** How long an answer to a GET is cached, in seconds; by default not at all. */
  readonly cacheSeconds?: number;
  /** Size limit of an answer, in bytes; 2,000,000 by default. */
  readonly maxBytes?: number;
  /** `fail`: any difference of an answer from its schema fails; by default, wrong optional members are null or left out. */
  readonly drift?: 'fail';
}

/** Options of one request. */
export interface RequestOptions<Schema> {
  /** Values of the names in the path's braces. */
  readonly params?: Values;
  /** How they are written, by name; `simple` by default. */
  readonly paramStyles?: { readonly [name: string]: PathStyle };
  readonly query?: Values;
  /** How lists and objects of the query are written, by parameter. */
  readonly styles?: { readonly [name: string]: QueryStyle };
  readonly headers?: Values;
  /** How lists and objects of the headers are written, by name; `simple` by default. */
  readonly headerStyles?: { readonly [name: string]: HeaderStyle };
  /**
   * The credentials of the source that it sends, instead of the secrets in `headers` and `query` of the source: of several
   * lists of names the first whose secrets are all set. `[['token'], ['user', 'tenant']]`; `[]` sends none.
   */
  readonly auth?: Alternatives;
  /** The schema of the answer: any other answer is `SOURCE_MALFORMED`. */
  readonly schema?: Schema;
  /**
   * `graphql`: the answer is the `data`, and `errors` are a failure. `json-rpc`: the answer is the `result`, and an `error` is a
   * failure. The reason of the API reaches the caller as `detail`. The answer of a read is undefined if it is null, or if all members
   * of `data` are.
   */
  readonly envelope?: Envelope;
  /**
   * `items`: the answer is a list, which becomes `{ items, count }`. `result`: the answer becomes `{ result }`. `done`: the
   * content of a success is ignored.
   */
  readonly wrap?: 'items' | 'result' | 'done';
  /** `declared`: members that the schema does not declare are dropped before the answer is validated. */
  readonly keep?: 'declared';
  /** Members of the API's answer, by path, that have this value in each success: an answer with another value and no data fails. */
  readonly success?: Success;
  /** The answer is a page, whose headers become `next` and `total`. */
  readonly pages?: Pages;
  /** `empty`: 404 means that nothing was found; the answer is then undefined. Otherwise it is an error. */
  readonly notFound?: 'empty';
  /**
   * `empty`: a response without data means that nothing was found; the answer of a read is then undefined. Such a response is `null`,
   * `[]` or `{}`. If the schema has a list, a map or an object of data, it is also a response whose values are only nulls, empty
   * lists, counts that are 0, repeated arguments, and facts such as its status or page. The same holds for a failure whose
   * reason says that nothing was found.
   */
  readonly noData?: 'empty';
  /** Of the call: ends the request when its caller is gone or its deadline has passed. */
  readonly signal?: AbortSignal;
}

/** Options of a request that changes something. */
export interface WriteOptions<Schema> extends RequestOptions<Schema>, BodyParts {
  /** It may be repeated without harm, like a search by POST. */
  readonly isIdempotent?: boolean;
}

/**
 * `undefined` if the options say that 404, or a response without data, is an empty result. A read without content, or with nothing
 * in its envelope, is also undefined.
 */
type Answer<Schema, Options> =
  | (Schema extends ObjectSchema ? Data<Schema> : unknown)
  | (Options extends { readonly notFound: 'empty' } | { readonly noData: 'empty' } ? undefined : never);

type Get = <const Schema extends ObjectSchema, const Options extends RequestOptions<Schema>>(
  path: string,
  options: Options & { readonly schema?: Schema },
) => Promise<Answer<Schema, Options>>;

type Write = <const Schema extends ObjectSchema, const Options extends WriteOptions<Schema>>(
  path: string,
  options: Options & { readonly schema?: Schema },
) => Promise<Answer<Schema, Options>>;

/**
 * Requests to an API. Each takes a path below the base URL, with names in braces (`/gas/{chain}`), and returns the JSON of the answer,
 * typed by the schema.
 */
export interface HttpSource {
  readonly get: Get;
  readonly post: Write;
  readonly put: Write;
  readonly patch: Write;
  readonly delete: Write;
}

/**
 * An API that tools call. Its methods return the answer to a request, or throw a `SourceError`; they never return an answer
 * that the API did not give.
 */
export function httpSource(options: HttpSourceOptions): HttpSource {
  reportAddress(options.baseUrl);
  reportCredentials(options);
  const { timeoutMs = 10_000, retries = 2, maxBytes = defaultMaxBytes, cacheSeconds = 0 } = options;
  const { concurrency = 8, queueMs = 2_000, perMinute } = options;
  const shared = new SharedAnswers(cacheSeconds * 1_000);
  const redact = redactorFor(options);
  const source = options.baseUrl;
  const budget = new Budget({ concurrency, queueMs, source, ...(perMinute !== undefined && { perMinute }) });

  const beginningOf = (text: string) => {
    const redacted: string = JSON.parse(redact(JSON.stringify(text)));
    return JSON.stringify(redacted.slice(0, 80));
  };

  const ask = async (method: SourceExchange['method'], path: string, request: WriteOptions<ObjectSchema>) => {
    const { params = {}, query, headers, signal, notFound, wrap } = request;
    const requestParts = { method, path, params, query, headers, ...sentBody(request) };
    const plainRequest = unsigned(options.baseUrl, method, path, request);
    const { url } = plainRequest;
    const replays = isReplaying();
    const answered = async (ending: AbortSignal): Promise<SourceResponse> => {
      const recorded = recordedReply(requestParts);
      if (recorded !== undefined) return recorded;
      if (replays) return replayed(requestParts);
      const reply = await withTokens(options, request.auth, ending, () => {
        const exchange = signed(plainRequest, options);
        const repeats = method === 'get' || !isRehearsing() ? retries : 0;
        return sendWithRetries(exchange, { timeoutMs, retries: repeats, maxBytes, redact }, budget, ending);
      });
      return { ...reply, text: wrap === 'done' ? '' : redact(reply.text) };
    };
    const run = async (ending: AbortSignal) => {
      const reply = await answered(ending);
      if (reply.status === 404 && notFound !== 'empty')
        throw notFoundError({ method, url, path, variables: [], timeoutMs });
      return reply;
    };
    const key = `${replays} ${notFound} ${wrap} ${url} ${JSON.stringify([request.auth, ...plainRequest.headers])}`;
    const reply = await (method === 'get' ? shared.get(key, signal, run) : unshared(signal, run));
    const { status, contentType = '', text, held } = reply;
    await holdAnswer(text, held, signal);
    const isReading = isRead(method, request);
    const { schema, pages, success = {} } = request;
    if (text === '' && (status === 404 || isReading || !schema)) {
      writeDown(requestParts, reply, []);
      return undefined;
    }
    const emptyIsAllowed = request.noData === 'empty' && isReading && schema !== undefined;
    const long = longNumbersIn(text);
    const read = (parse: Parse) => parseAnswer(text, request, parse, emptyIsAllowed);
    const arrived =
      text === '' && schema
        ? { ok: true, value: doneAnswer(schema), isEnvelopeEmpty: false }
        : read((json) => exactly(json, JSON.parse(json), long));
    const { ok, value: whole, isEnvelopeEmpty } = arrived;
    if (isEnvelopeEmpty && isReading) {
      writeDown(requestParts, reply, allSecretsOf(options));
      return undefined;
    }
    const declaredSchema = request.keep === 'declared' && text !== '' ? schema : undefined;
    const narrow = declaredSchema ? declaredPart(whole, declaredSchema) : whole;
    const exact = long && schema ? withDecimals(narrow, schema, () => read(parseLiterally).value) : narrow;
    const paged = pages && schema ? addPages(exact, schema, pages, request, reply.headers) : exact;
    const isChosen = declaredSchema !== undefined;
    const tolerance = { drift: options.drift, isChosen, signal, headers: reply.headers };
    const { value, problem: difference } =
      ok && schema ? fitToSchema(paged, schema, text.length, tolerance) : { value: paged, problem: null };
    const failure = ok && schema ? contradiction(whole, success, schema, wrap) : null;
    const problem = failure ?? difference;
    const answer = { content: whole, value, isWrapped: wrap === 'result', mismatch: difference, failure };
    const isResultEmpty =
      ok && emptyIsAllowed && isEmptyAnswer(schema, answer, [params, query, sentBody(request)]);
    if (status === 202 && !isReading && schema && text !== '' && (!ok || problem)) {
      const accepted = doneAnswer(schema);
      if (!checkOf(schema)(accepted, 'answer')) {
        writeDown(requestParts, { ...reply, text: '' }, []);
        return accepted;
      }
    }
    if (ok && (isResultEmpty || !problem)) {
      const recordedText = textToRecord(requestParts, text, declaredSchema, request);
      writeDown(requestParts, { ...reply, text: recordedText }, allSecretsOf(options));
      return isResultEmpty ? undefined : value;
    }
    shared.forget(key);
    const place = { method, host: url.host, path, status };
    if (problem) throw failure ? saidFailure(failure, place) : mismatch(problem, place);
    const description = `${text.length} characters of ${beginningOf(contentType || 'no type')}`;
    throw noJson(isProduction() ? description : `${description}: ${beginningOf(text)}`, place);
  };
  // The types of the methods are stricter than the type of `ask`.
  const method = (name: SourceExchange['method']) =>
    ((path: string, request: WriteOptions<ObjectSchema> = {}) =>
      logFailureOf(() => ask(name, path, request), request.signal)) as Write;
  return {
    get: method('get') as Get,
    post: method('post'),
    put: method('put'),
    patch: method('patch'),
    delete: method('delete'),
  };
}

/** The body of a request, for its recording. */
function sentBody({ json, form, multipart, text, binary }: BodyParts): Partial<RecordedRequest> {
  return { json, form, multipart, text, binary } as Partial<RecordedRequest>;
}

function writeDown(request: RecordedRequest, reply: SourceResponse, secrets: readonly string[]): void {
  const directory = keptDirectory();
  if (isRecording()) recordReply(request, reply, secrets);
  else if (directory !== undefined && !isReplaying()) recordReply(request, reply, secrets, directory);
}

/** What a write without content answers: `done: true` beside empty values, unless its schema has another `done`. */
function doneAnswer(schema: ObjectSchema): object {
  const blank = blankObject(schema);
  const answer = { ...blank, done: true };
  if (checkOf(schema)(answer, 'answer')) return blank;
  return answer;
}

type Parse = (text: string) => unknown;

interface ParsedAnswer {
  /** Whether it is JSON. */
  readonly ok: boolean;
  readonly value: unknown;
  /** Whether its envelope contains nothing. */
  readonly isEnvelopeEmpty: boolean;
}

/**
 * @param emptyIsAllowed a failure in the envelope that says that nothing was found is an envelope with nothing
 * @throws SourceError if the envelope holds another failure
 */
function parseAnswer(
  text: string,
  { envelope, wrap }: Pick<RequestOptions<ObjectSchema>, 'envelope' | 'wrap'>,
  parse: Parse,
  emptyIsAllowed = false,
): ParsedAnswer {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    return { ok: false, value: undefined, isEnvelopeEmpty: false };
  }
  try {
    value = openedValue(value, envelope);
  } catch (error) {
    const isEmpty =
      emptyIsAllowed && error instanceof SourceError && saysNothingFound(String(error.hints.detail));
    if (!isEmpty) throw error;
    return { ok: true, value: undefined, isEnvelopeEmpty: true };
  }
  const isEnvelopeEmpty = isNothing(value, envelope);
  if (wrap === 'result') return { ok: true, value: { result: value }, isEnvelopeEmpty };
  const listed = wrap && Array.isArray(value) ? { items: value, count: value.length } : value;
  return { ok: true, value: listed, isEnvelopeEmpty };
}

/** The text that is recorded: in the API's form, with the declared members only if the tool keeps no others. */
function textToRecord(
  request: RecordedRequest,
  text: string,
  declaredSchema: ObjectSchema | undefined,
  { envelope, wrap }: RequestOptions<ObjectSchema>,
): string {
  if (!declaredSchema || !isRecording()) return text;
  const { value: exactValue } = parseAnswer(text, { envelope, wrap }, parseLiterally);
  const recordedValue = recordable(request, exactValue, declaredSchema);
  return writeLiterally(
    encloseAnswer(
      wrap && isObject(recordedValue) && wrap in recordedValue ? recordedValue[wrap] : recordedValue,
      envelope,
    ),
  );
}
