import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TokenRules } from './auth.ts';
import type { Limits } from './limits.ts';
import type { MethodOptions } from './mcp.ts';
import type { OriginOptions } from './origins.ts';
import type { RouteOptions } from './routes.ts';
import type { Replicas } from './session.ts';

/** A complete configuration; `readConfig` gives all but the name and the version. */
export interface AppConfig extends MethodOptions, Limits, OriginOptions, RouteOptions {
  /** Null if the token check is off. */
  readonly token: TokenRules | null;
  /** Null for a random secret: sessions then end with the process. */
  readonly sessionSecret: string | null;
  /** A former secret, whose sessions stay valid; null or absent if there is none. */
  readonly previousSessionSecret?: string | null;
  /** Lifetime of a session, in seconds. */
  readonly sessionTtlSeconds: number;
  /** Whether requests of MCP 2026-07-28 are answered, too; true by default. */
  readonly modern?: boolean;
  /** Header in which a trusted proxy names the caller, lower case; null without a proxy. */
  readonly clientAddressHeader: string | null;
  /** What it shares with its replicas; null or absent: nothing. */
  readonly replicas?: Replicas | null;
}

/** The endpoints of C§4, for a server of `node:http`. */
export interface App {
  /** Answers a request: a listener of `createServer`. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Fetches the platform's keys before the first call, which fetches them otherwise; never rejects. */
  prepare(): Promise<void>;
  /** Answers without a body a request that is not handled, such as one that comes while the server stops. */
  refuse(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void;
  /** Whether a request of a connection carried a valid token. */
  hasPaid(socket: Socket): boolean;
  /** Describes the keys that verify tokens. */
  keyInUse(): string;
  /** Why no call can be paid now; null if one can. */
  unready(): string | null;
  /** From now on `/ready` answers 503, and each answer ends its connection. */
  drain(): void;
  /** Ends event streams and refuses bodies that wait to be parsed, unless they are paid: they would delay a shutdown. */
  stop(): void;
}
