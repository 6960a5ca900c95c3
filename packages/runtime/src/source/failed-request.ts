// The errors of failed requests and of unusable responses, with the explanation for the log.

import { HTTPError } from 'ky';
import type { SourceLine } from '../server/log.ts';
import type { SchemaProblem } from '../server/schema.ts';
import { attachExplanation, failureStatus } from './failure-log.ts';
import { SourceError } from './source-errors.ts';
import type { StatedFailure } from './stated-failure.ts';
import { statusError } from './status-errors.ts';

/** A request that failed, without anything secret that was sent. */
interface FailedRequest {
  readonly method: string;
  readonly host: string;
  /** The path as the author wrote it. */
  readonly path: string;
  /** The environment variables that contain its secrets. */
  readonly variables: readonly string[];
  readonly timeoutMs: number;
  /** The status of the response; by default, the status in the cause. */
  readonly status?: number;
}

/** The members of a log line that say which request it is about. */
export type RequestLocation = Pick<SourceLine, 'method' | 'host' | 'path' | 'status'>;

/** The error of a request whose response, sent or recorded, has the status 404. */
export function notFoundError(failedRequest: FailedRequest): SourceError {
  const response = { status: 404, headers: new Headers(), text: '' };
  return explainFailure(statusError(response, true), undefined, { ...failedRequest, status: 404 });
}

/** Adds the details for the log to an error: the problem and what to do. */
export function explainFailure(
  error: SourceError,
  cause: unknown,
  failedRequest: FailedRequest,
): SourceError {
  const { code } = error;
  if (code === 'CANCELLED') return error;
  const { method, host, path } = failedRequest;
  const status =
    failedRequest.status ?? (cause instanceof HTTPError ? cause.response.status : failureStatus(cause));
  const detail = failureDetail(error, status, cause, failedRequest.timeoutMs);
  const hint = failureHint(code, status, failedRequest);
  return attachExplanation(error, { method, host, path, status, detail, hint });
}

/** Says for the log why a request failed: the status of the response, or why there is none that can be used. */
function failureDetail(
  { code, message }: SourceError,
  status: number | undefined,
  cause: unknown,
  timeoutMs: number,
): string {
  if (status !== undefined) return `the API answered with HTTP ${status}`;
  const networkCode = (cause as { cause?: { code?: unknown } } | null)?.cause?.code;
  if (networkCode) return `no connection (${networkCode})`;
  if (code === 'SOURCE_TOO_SLOW') return `no answer within ${timeoutMs} ms`;
  return message;
}

const unexpectedForm = () =>
  new SourceError('SOURCE_MALFORMED', 'The source answered in a form that this tool does not expect.');

/** The error of a response that does not match its schema. The log says how, without the value, which may be a key that the API repeats. */
export function mismatchError(
  { path: member, withoutValue }: SchemaProblem,
  request: RequestLocation,
): SourceError {
  const hint = 'Correct the schema: it must admit what the API answers.';
  return attachExplanation(unexpectedForm(), {
    ...request,
    detail: `${member}: ${withoutValue}`,
    hint,
    member,
  });
}

/** The error of a response in which the API states a failure. The caller gets the reason. */
export function statedFailureError(
  { path, withoutValue, reason }: StatedFailure,
  request: RequestLocation,
): SourceError {
  const sentence = 'The source answered that it failed.';
  const error = new SourceError('SOURCE_MALFORMED', sentence, reason === undefined ? {} : { detail: reason });
  const hint =
    'The API says that it failed: correct the arguments, or the key in the variables. If this is a success, correct success in the request.';
  return attachExplanation(error, { ...request, detail: `${path}: ${withoutValue}`, hint, member: path });
}

/** The error of a response that is not JSON. @param description of the response, for the log */
export function notJsonError(description: string, request: RequestLocation): SourceError {
  const hint =
    'Correct the base URL in src/apis/ or the path: the API answers there with something else than JSON.';
  return attachExplanation(unexpectedForm(), { ...request, detail: `no JSON, but ${description}`, hint });
}

function failureHint(code: string, status: number | undefined, { host, variables }: FailedRequest): string {
  const keyAdvice =
    variables.length > 0 ? `set a valid key in ${variables.join(' and ')}` : 'it may require a key';
  const fixes: { readonly [code: string]: string } = {
    SOURCE_REFUSED: `The API refused this server: ${keyAdvice}.`,
    SOURCE_QUOTA:
      'Raise the quota or the plan of this server at the API, or ask less: cacheSeconds and perMinute in src/apis/.',
    SOURCE_NOT_FOUND:
      "The base URL may be wrong. If 404 means that nothing was found, set notFound: 'empty'.",
    SOURCE_MISCONFIGURED:
      'The API redirects to another address, or speaks another version of MCP: correct baseUrl or protocolVersion in src/apis/.',
    SOURCE_TOO_SLOW: 'If the API needs more time, raise timeoutMs in src/apis/.',
    RATE_LIMITED: 'Set perMinute in src/apis/ to what the API allows.',
    OVERLOADED: 'Ask the API for less, or raise MAX_MEMORY_BYTES and the memory of the process.',
    SOURCE_TOO_LARGE: 'Ask the API for less, or raise maxBytes in src/apis/.',
    SOURCE_UNAVAILABLE:
      status === undefined
        ? `Start the API, or correct the base URL: nothing answers at ${host}.`
        : 'The API itself failed: call again later.',
  };
  return fixes[code] ?? 'Compare the request with the documentation of the API.';
}
