// The options of `httpSource` and of its requests.

import type { Data, ObjectSchema } from '../server/define-tool.ts';
import type { Alternatives, Credentials } from './credentials.ts';
import type { Envelope } from './envelope.ts';
import type { Pages } from './pages.ts';
import type { BodyParts } from './request-body.ts';
import type { HeaderStyle, Parameter, PathStyle, QueryStyle } from './request-parameters.ts';
import type { Secret } from './secret.ts';
import type { Success } from './stated-failure.ts';

type Values = { readonly [name: string]: Parameter };

/** The defaults of `HttpSourceOptions`. The default of `maxBytes` is `defaultMaxBytes`. */
export const sourceDefaults = {
  timeoutMs: 10_000,
  retries: 2,
  concurrency: 8,
  queueMs: 2_000,
  cacheSeconds: 0,
};

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
  /** Credentials by name. Only the requests that name them in `auth` send them. */
  readonly credentials?: { readonly [name: string]: Credentials };
  /** The `auth` of the requests that have none. */
  readonly auth?: Alternatives;
  /** Time limit of a request with all its retries, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
  /** Further attempts after 408, 429, 500, 502, 503, 504 and network errors, for requests that may be repeated; 2 by default. */
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
   * Names of credentials of the source, which replace the secrets in its `headers`, `query` and `body`. Of several lists, the first is sent
   * whose secrets are all set: `[['token'], ['user', 'tenant']]`. An empty list sends none.
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
   * `empty`: a response without data means that nothing was found; the answer of a read is then undefined. `null`, `[]` and `{}` have no
   * data. If the schema has a list, a map or an object of data, some values are not data either: nulls, empty lists, counts that are 0,
   * repeated arguments, and facts such as a status. A failure whose reason says that nothing was found is also an empty result.
   */
  readonly noData?: 'empty';
  /** The signal of the call: it ends the request when the caller has disconnected or the deadline has passed. */
  readonly signal?: AbortSignal;
}

/** Options of a request that changes something. */
export interface WriteOptions<Schema> extends RequestOptions<Schema>, BodyParts {
  /** Whether the request may be repeated without harm. A POST then counts as a read: a response without content is an empty result. */
  readonly isIdempotent?: boolean;
}

/**
 * `undefined` if the options say that 404, or a response without data, is an empty result. A read without content, or with nothing
 * in its envelope, is also undefined.
 */
type Answer<Schema, Options> =
  | (Schema extends ObjectSchema ? Data<Schema> : unknown)
  | (Options extends { readonly notFound: 'empty' } | { readonly noData: 'empty' } ? undefined : never);

export type Get = <const Schema extends ObjectSchema, const Options extends RequestOptions<Schema>>(
  path: string,
  options: Options & { readonly schema?: Schema },
) => Promise<Answer<Schema, Options>>;

export type Write = <const Schema extends ObjectSchema, const Options extends WriteOptions<Schema>>(
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
