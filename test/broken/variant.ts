import type { Server } from 'node:http';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import type { Environment, Runtime, Target } from '../../packages/contract/src/target.ts';
import type { Breaks, Steps } from './good-server.ts';
import type { Answer, Message, Request } from './wire.ts';

/** Another server than the good one: the steps that it changes, and what else differs. */
export interface Variant extends Breaks {
  /** Changes the platform, for rules with a limit from the platform. */
  readonly profile?: (profile: PlatformProfile) => PlatformProfile;
  /** Changes the URL that is checked. */
  readonly url?: (url: string) => string;
  /** Changes the runtime that the check sees. */
  readonly runtime?: Partial<Runtime>;
  /** What the check sends with each request, and what it knows of the project. */
  readonly target?: Pick<Target, 'headers' | 'secrets'>;
  /** Additional environment variables of a program. */
  readonly environment?: Environment;
  /** Whether a program that is started with these variables never answers at its port. The check then waits only briefly. */
  readonly neverAnswers?: (environment: Environment) => boolean;
  /** Measures the answers; the default is a clock that stands still. */
  readonly clock?: Clock;
  /** Gets the HTTP server before it is used. */
  readonly attach?: (server: Server) => void;
}

/** A clock that only the test moves, so that no verdict depends on the speed of the machine. */
export class Clock {
  #ms = 0;

  readonly now = (): number => this.#ms;

  advance(ms: number): void {
    this.#ms += ms;
  }
}

/** A server that answers some requests late, by the clock of the check. */
export function late(ms: number, isLate: (request: Request) => unknown): Variant {
  const clock = new Clock();
  const advance = instead((request) => {
    if (isLate(request)) clock.advance(ms);
    return undefined;
  });
  return { clock, ...advance };
}

/** What breaks a rule, by the rules that fail: the broken one, then others that must fail with it. */
export type Broken<What> = Readonly<Record<string, What | readonly What[]>>;

/** What breaks one rule. `fails` lists all rules that must fail, in alphabetical order. */
export interface Row<What> {
  readonly rule: string;
  readonly fails: readonly string[];
  readonly what: What;
}

export function rowsOf<What extends object>(...tables: readonly Broken<What>[]): readonly Row<What>[] {
  return tables.flatMap(Object.entries<What | readonly What[]>).flatMap(([ids, broken]) => {
    const [rule = '', ...along] = ids.split(' ');
    const fails = [rule, ...along].toSorted();
    return [broken].flat().map((what) => ({ rule, fails, what: what as What }));
  });
}

type MaybeAnswer = Answer | undefined | Promise<Answer | undefined>;

/** Answers some requests; undefined leaves them to the good server. */
export function instead(otherwise: (request: Request, steps: Steps) => MaybeAnswer): Breaks {
  return {
    answer: (good, steps) => async (request) => (await otherwise(request, steps)) ?? good(request),
  };
}

/** Answers some requests by the same. */
export function where(isMeant: (request: Request) => unknown, answer: Answer | Promise<Answer>): Breaks {
  return instead((request) => (isMeant(request) ? answer : undefined));
}

/** Changes some requests before the good server gets them. */
export function withRequest(change: (request: Request, steps: Steps) => Request): Breaks {
  return { answer: (good, steps) => (request) => good(change(request, steps)) };
}

/** Changes the good server's answers. */
export function withAnswer(change: (answer: Answer, request: Request) => Answer): Breaks {
  return { answer: (good) => async (request) => change(await good(request), request) };
}

/** Responds to some messages by other members; undefined leaves them to the good server. */
export function responds(otherwise: (message: Message) => JsonObject | undefined): Breaks {
  return { respond: (good) => async (message) => otherwise(message) ?? good(message) };
}

/** Changes members of the result of initialize. */
export function introduces(change: JsonObject | (() => JsonObject)): Breaks {
  return {
    initialize: (good) => (params) => ({
      ...good(params),
      ...(typeof change === 'function' ? change() : change),
    }),
  };
}

/** Changes each listed definition. */
export function defines(change: (tool: JsonObject) => JsonObject): Breaks {
  return { list: (good) => () => good().map(change) };
}

/** Lets each failure of a tool say this in addition. */
export function failureSays(text: string): Breaks {
  return {
    result: (good) => (outcome, tool) =>
      good(outcome.kind === 'fail' ? { ...outcome, message: `${outcome.message} ${text}` } : outcome, tool),
  };
}

/** A request with some headers replaced; undefined removes one. */
export function withHeaders(
  request: Request,
  headers: Readonly<Record<string, string | undefined>>,
): Request {
  return { ...request, headers: { ...request.headers, ...headers } };
}

/** A profile with another limit. */
export function limited(limits: Partial<PlatformProfile['limits']>): Pick<Variant, 'profile'> {
  return { profile: (profile) => ({ ...profile, limits: { ...profile.limits, ...limits } }) };
}

/** The method of the JSON-RPC message in a POST; undefined for other requests. */
export function methodOf({ method, body }: Request): string | undefined {
  return method === 'POST' ? /"method":"([^"]*)"/.exec(body ?? '')?.[1] : undefined;
}
