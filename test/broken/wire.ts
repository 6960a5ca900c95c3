import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';

export interface Request {
  readonly method: string;
  /** The version of HTTP, such as `1.1`. */
  readonly version?: string;
  readonly path: string;
  /** The query, with its question mark. */
  readonly search?: string;
  readonly headers: IncomingMessage['headers'];
  /** The names of the headers as they were spelled. */
  readonly names?: readonly string[];
  /** Undefined if it is larger than 1 MB. */
  readonly body: string | undefined;
}

export interface Answer {
  /** 0: the connection is reset. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  /** Keeps the connection open after the data is sent. */
  readonly stream?: true;
}

/** A JSON-RPC message that is a request or a notification. */
export type Message = JsonObject & { readonly method: string };
