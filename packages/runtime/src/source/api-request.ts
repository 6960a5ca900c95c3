// A request of a tool to an API, before it is sent or found in recordings.

import type { ObjectSchema } from '../server/define-tool.ts';
import { buildRequest, isReadRequest, type KeylessRequest } from './build-request.ts';
import type { WriteOptions } from './http-source-options.ts';
import { isReplaying, type RecordedRequest } from './recordings.ts';
import type { BodyParts } from './request-body.ts';
import type { KeyedRequest } from './send-with-retries.ts';

/** A request of a tool to an API, in the forms that its steps need. */
export interface ApiRequest {
  readonly method: KeyedRequest['method'];
  readonly path: string;
  readonly options: WriteOptions<ObjectSchema>;
  /** Without the keys of the source, which are added when it is sent. */
  readonly keylessRequest: KeylessRequest;
  readonly recordedRequest: RecordedRequest;
  /** Whether it changes nothing. */
  readonly isReading: boolean;
  /** Whether it is answered from recordings. */
  readonly isReplayed: boolean;
}

/** @throws SourceError `INVALID_ARGUMENTS` if an argument cannot be sent in its place */
export function describeRequest(
  baseUrl: string,
  method: KeyedRequest['method'],
  path: string,
  options: WriteOptions<ObjectSchema>,
): ApiRequest {
  const { params = {}, query, headers } = options;
  return {
    method,
    path,
    options,
    keylessRequest: buildRequest(baseUrl, method, path, options),
    recordedRequest: { method, path, params, query, headers, ...bodyToRecord(options) },
    isReading: isReadRequest(method, options),
    isReplayed: isReplaying(),
  };
}

/** The body of a request, for its recording. */
export function bodyToRecord({ json, form, multipart, text, binary }: BodyParts): Partial<RecordedRequest> {
  return { json, form, multipart, text, binary } as Partial<RecordedRequest>;
}

/** The same text for requests that can share a response. */
export function cacheKey({ options, keylessRequest, isReplayed }: ApiRequest): string {
  const { url, headers } = keylessRequest;
  const { notFound, wrap, auth } = options;
  return `${isReplayed} ${notFound} ${wrap} ${url} ${JSON.stringify([auth, ...headers])}`;
}
