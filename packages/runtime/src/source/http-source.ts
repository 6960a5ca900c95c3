// `httpSource`: requests to an HTTP API. Sends or finds the response, then reads the answer.

import type { ObjectSchema } from '../server/define-tool.ts';
import { redactorFor, withApiTokens } from './access-token.ts';
import { type ApiRequest, cacheKey, describeRequest } from './api-request.ts';
import { Budget } from './budget.ts';
import { addKeys } from './build-request.ts';
import { allSecretsOf, reportCredentials } from './credentials.ts';
import { chargeResponse } from './current-call.ts';
import { notFoundError } from './failed-request.ts';
import { logFailedRequest } from './failure-log.ts';
import { defaultMaxBytes } from './fetch-response.ts';
import {
  type Get,
  type HttpSource,
  type HttpSourceOptions,
  sourceDefaults,
  type Write,
  type WriteOptions,
} from './http-source-options.ts';
import { parsePayload, readAnswer, textToRecord } from './read-response.ts';
import {
  findLiveRecording,
  isTrialRun,
  recordResponse,
  replayRecording,
  type SourceResponse,
} from './recordings.ts';
import { type KeyedRequest, type SendLimits, sendWithRetries } from './send-with-retries.ts';
import { SharedResponses, sendForOneCaller } from './shared-responses.ts';
import { reportAddress } from './source-address.ts';

/** What all requests to one API share. */
interface Api {
  readonly options: HttpSourceOptions;
  readonly limits: SendLimits;
  readonly budget: Budget;
  readonly responses: SharedResponses;
}

/**
 * An API that tools call. Its methods return the answer to a request, or throw a `SourceError`; they never return an answer
 * that the API did not give.
 */
export function httpSource(options: HttpSourceOptions): HttpSource {
  reportAddress(options.baseUrl);
  reportCredentials(options);
  const api = createApi(options);
  // The types of the methods are stricter than the type of `callApi`.
  const method = (name: KeyedRequest['method']) =>
    ((path: string, requestOptions: WriteOptions<ObjectSchema> = {}) =>
      logFailedRequest(() => callApi(api, name, path, requestOptions), requestOptions.signal)) as Write;
  return {
    get: method('get') as Get,
    post: method('post'),
    put: method('put'),
    patch: method('patch'),
    delete: method('delete'),
  };
}

function createApi(options: HttpSourceOptions): Api {
  const {
    baseUrl: source,
    timeoutMs = sourceDefaults.timeoutMs,
    retries = sourceDefaults.retries,
    concurrency = sourceDefaults.concurrency,
    perMinute,
    queueMs = sourceDefaults.queueMs,
    cacheSeconds = sourceDefaults.cacheSeconds,
    maxBytes = defaultMaxBytes,
  } = options;
  return {
    options,
    limits: { timeoutMs, retries, maxBytes, redact: redactorFor(options) },
    budget: new Budget({ concurrency, queueMs, source, perMinute }),
    responses: new SharedResponses(cacheSeconds * 1_000),
  };
}

/** Returns what a tool gets for a request: the answer, or undefined for an empty result. */
async function callApi(
  api: Api,
  method: KeyedRequest['method'],
  path: string,
  requestOptions: WriteOptions<ObjectSchema>,
): Promise<unknown> {
  const request = describeRequest(api.options.baseUrl, method, path, requestOptions);
  const { recordedRequest, isReading } = request;
  const key = cacheKey(request);
  const response = await getResponse(api, request, key);
  const { text, memory } = response;
  await chargeResponse(text, memory, requestOptions.signal);
  if (isEmptyWithoutContent(request, response)) {
    recordResponse(recordedRequest, response);
    return undefined;
  }
  const secrets = () => allSecretsOf(api.options);
  const payload = parsePayload(request, text);
  if (payload.isEmpty && isReading) {
    recordResponse(recordedRequest, response, secrets);
    return undefined;
  }
  const answer = readAnswer(request, response, payload, {
    drift: api.options.drift,
    redact: api.limits.redact,
  });
  if (answer.kind === 'accepted') {
    // Recorded without content: a replay of a write without content returns the same answer.
    recordResponse(recordedRequest, { ...response, text: '' });
    return answer.value;
  }
  if (answer.kind === 'failure') {
    api.responses.forget(key);
    throw answer.error;
  }
  recordResponse(recordedRequest, { ...response, text: textToRecord(request, text) }, secrets);
  return answer.value;
}

/**
 * Returns whether a response has no content and is an empty result. A write with a schema gets the values of `doneAnswer` instead. A 404
 * is always an empty result here: `getResponse` has thrown the others.
 */
function isEmptyWithoutContent(
  { options, isReading }: ApiRequest,
  { status, text }: SourceResponse,
): boolean {
  return text === '' && (status === 404 || isReading || !options.schema);
}

/** Returns the response to a request. Calls share the response to a GET. @throws SourceError, also for a 404 that is not an empty result */
function getResponse(api: Api, request: ApiRequest, key: string): Promise<SourceResponse> {
  const { method, path, options, keylessRequest } = request;
  const { host } = keylessRequest.url;
  const { timeoutMs } = api.limits;
  const send = async (callersGone: AbortSignal) => {
    const response = await findOrSendResponse(api, request, callersGone);
    if (response.status === 404 && options.notFound !== 'empty')
      throw notFoundError({ method, host, path, variables: [], timeoutMs });
    return response;
  };
  if (method === 'get') return api.responses.get(key, options.signal, send);
  return sendForOneCaller(options.signal, send);
}

/**
 * Returns a response that this check with `--live` (`SOURCES=live`) has recorded, a recording if recordings are replayed, or else the
 * response of the API.
 */
async function findOrSendResponse(
  api: Api,
  request: ApiRequest,
  callersGone: AbortSignal,
): Promise<SourceResponse> {
  const { method, options, keylessRequest, recordedRequest, isReplayed } = request;
  const liveRecording = findLiveRecording(recordedRequest);
  if (liveRecording !== undefined) return liveRecording;
  if (isReplayed) return replayRecording(recordedRequest);
  const response = await withApiTokens(api.options, options.auth, callersGone, () => {
    const keyedRequest = addKeys(keylessRequest, api.options);
    const isTrialWrite = method !== 'get' && isTrialRun();
    const retries = isTrialWrite ? 0 : api.limits.retries;
    return sendWithRetries(keyedRequest, { ...api.limits, retries }, api.budget, callersGone);
  });
  const ignoresContent = options.wrap === 'done';
  return { ...response, text: ignoresContent ? '' : api.limits.redact(response.text) };
}
