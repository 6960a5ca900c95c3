// The error for each HTTP status of an API: 404, 401, 429 and its wait, quota, 5xx.

import { reasonIn } from './failure-reason.ts';
import { rateLimitedError, SourceError, tooSlowError, unavailableError } from './source-errors.ts';

/** Words in the body of a 403 or 429 about what the operator has paid for, not about the rate of requests. */
const quotaWords =
  /quota|billing|insufficient[ _-]?(?:credit|balance|fund)|(?:out of|no (?:more|remaining)|not enough) (?:\w+ )?credit|credits? (?:balance )?(?:is |are |has |have )?(?:been )?(?:too low|exhausted|used|depleted|exceeded)|(?:daily|weekly|monthly|yearly|plan|usage|spend(?:ing)?)[ _-]?(?:\w+ )?(?:limit|allowance)|upgrade (?:to|your|the) |your (?:current |free )?(?:plan|subscription|trial)|(?:subscription|trial|plan) (?:has |is )?(?:expired|ended|required|inactive)/i;
const rateWords = /per[ _-]?(?:second|minute|hour)/i;
/** Maximum number of characters of a body that are searched for these words. */
const maxRead = 4_000;

const conflicts: { readonly [status: number]: string } = {
  409: 'The source rejected this request: it conflicts with the present state there.',
  410: 'What these arguments name no longer exists at the source.',
  412: 'What these arguments name has changed at the source since it was read.',
};

/** A response with an error status. */
export interface FailedResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body, without keys. */
  readonly text: string;
}

/** The error for a response with an error status. @param isIdempotent whether a repeated call does no harm */
export function statusError(response: FailedResponse, isIdempotent: boolean): SourceError {
  const { status, headers, text } = response;
  if (isQuota(response)) {
    const message =
      'The quota of this server at its source is used up. The operator of the server must fix this.';
    return new SourceError('SOURCE_QUOTA', message);
  }
  if (status === 429 || isRateLimit403(response))
    return rateLimitedError((waitAfterMs(headers) ?? 60_000) / 1_000);
  if (status === 401 || status === 403) {
    return new SourceError(
      'SOURCE_REFUSED',
      'The source refused this server. The operator of the server must fix this.',
    );
  }
  if (status === 404) return new SourceError('SOURCE_NOT_FOUND', 'The source has nothing at this address.');
  if (status === 408) return tooSlowError(isIdempotent);
  if (status >= 500) return unavailableError(isIdempotent);
  return rejectedError(status === 400 || status === 422 ? text : '', conflicts[status]);
}

/** The error for a request that the source rejects. @param body of the response, without keys; its reason becomes `detail` */
export function rejectedError(body: string, message = 'The source rejected these arguments.'): SourceError {
  const detail = reasonIn(body);
  return new SourceError('SOURCE_REJECTED', message, detail === undefined ? {} : { detail });
}

/** Whether a response says that the operator must pay, or wait for the next day or month. */
export function isQuota({ status, headers, text }: FailedResponse): boolean {
  if (status === 402) return true;
  if (status !== 403 && (status !== 429 || headers.has('retry-after'))) return false;
  const textStart = text.slice(0, maxRead);
  return quotaWords.test(textStart) && !rateWords.test(textStart);
}

/** Whether a 403 means that the rate of requests is too high, as with GitHub. */
function isRateLimit403({ status, headers }: FailedResponse): boolean {
  return status === 403 && (headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0');
}

/** The headers that ky reads, in its order. */
const waitHeaders = [
  'retry-after',
  'ratelimit-reset',
  'x-ratelimit-retry-after',
  'x-ratelimit-reset',
  'x-rate-limit-reset',
];

/** A number of seconds, a date of HTTP (RFC 9110 §5.6.7) or of ISO 8601. */
const waitForm = /^(?:\d+(?:\.\d+)?|[A-Z][a-z]+, \d.*|\d{4}-\d\d-\d\d.*)$/;

/** When to try again according to a header, in milliseconds from now; null if it cannot be read. */
function parseWaitMs(value: string): number | null {
  if (!waitForm.test(value)) return null;
  const seconds = Number(value);
  const isTime = Number.isNaN(seconds) || seconds > 1e9;
  const time = Number.isNaN(seconds) ? Date.parse(value) : seconds * 1_000;
  const wait = isTime ? time - Date.now() : seconds * 1_000;
  if (Number.isNaN(wait)) return null;
  return Math.max(0, wait);
}

/** When to try again according to the headers, in milliseconds from now; null if they do not say. */
export function waitAfterMs(headers: Headers): number | null {
  for (const name of waitHeaders) {
    const wait = parseWaitMs(headers.get(name) ?? '');
    if (wait !== null) return wait;
  }
  return null;
}

/** Headers without the waits that cannot be read: ky would wait forever. */
export function withReadableWaits(headers: Headers): Headers {
  const readableHeaders = new Headers(headers);
  for (const name of waitHeaders) {
    if (parseWaitMs(headers.get(name) ?? '') === null) readableHeaders.delete(name);
  }
  return readableHeaders;
}
