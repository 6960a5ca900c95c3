import type { Server } from 'node:http';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import type { Environment, Runtime } from '../../packages/contract/src/target.ts';
import type { Breaks, Steps } from './good-server.ts';
import type { Answer, Request } from './wire.ts';

/** A server that breaks one rule. `along` lists other rules that must fail too. */
export interface BrokenServer {
  readonly rule: string;
  readonly along?: readonly string[];
  readonly breaks?: Breaks;
  /** Changes the platform, for rules with a limit from the platform. */
  readonly profile?: (profile: PlatformProfile) => PlatformProfile;
  /** Changes the URL that is checked. */
  readonly url?: (url: string) => string;
  /** Changes the runtime that the check sees. */
  readonly runtime?: Partial<Runtime>;
  /** Additional environment variables of a program. */
  readonly environment?: Environment;
  /** Gets the HTTP server before it is used. */
  readonly attach?: (server: Server) => void;
}

type MaybeAnswer = Answer | undefined | Promise<Answer | undefined>;

/** Answers some requests; undefined leaves them to the good server. */
export function instead(otherwise: (request: Request, steps: Steps) => MaybeAnswer): Breaks {
  return {
    answer: (good, steps) => async (request) => (await otherwise(request, steps)) ?? good(request),
  };
}

/** Changes some requests before the good server gets them. */
export function withRequest(change: (request: Request, steps: Steps) => Request): Breaks {
  return { answer: (good, steps) => (request) => good(change(request, steps)) };
}

/** Changes the good server's answers. */
export function withAnswer(change: (answer: Answer, request: Request) => Answer): Breaks {
  return { answer: (good) => async (request) => change(await good(request), request) };
}

/** A request with some headers replaced; undefined removes one. */
export function withHeaders(
  request: Request,
  headers: Readonly<Record<string, string | undefined>>,
): Request {
  return { ...request, headers: { ...request.headers, ...headers } };
}

/** The method of the JSON-RPC message in a POST; undefined for other requests. */
export function methodOf({ method, body }: Request): string | undefined {
  return method === 'POST' ? /"method":"([^"]*)"/.exec(body ?? '')?.[1] : undefined;
}
