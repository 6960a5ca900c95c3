// Reads the configuration of a server from its environment variables.

import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { audienceOf } from './audience.ts';
import {
  drainOf,
  hostsOf,
  isOff,
  issuerOf,
  metricsPortOf,
  onceOf,
  originsOf,
  parseHeaderName,
  parseKeySetUrl,
  secretOf,
  wholeNumber,
} from './config-values.ts';
import type { ListenOptions } from './listen.ts';
import { publicKeyOf, type ReadText } from './public-key.ts';
import type { AppConfig } from './server/http-app.ts';
import { exportJwk, type KeySources } from './server/platform-keys.ts';
import type { TokenRules } from './server/verify-token.ts';
import { stateUrlOf, tokenStateUrlOf } from './state-url.ts';
import { type VariableName, variables } from './variables.ts';

/**
 * What the environment configures, complete and validated: with a name and a version the configuration of `createApp`, and what
 * a process needs to listen.
 */
export type Config = Omit<AppConfig, 'name' | 'version' | 'modern' | 'replicas'> &
  ListenOptions &
  MetricsOptions &
  StateOptions;

export interface StateOptions {
  /** Of the store that replicas share; null for none. */
  readonly stateUrl: string | null;
  /** Of the store of used tokens; null if it is the same. */
  readonly tokenStateUrl: string | null;
  /** Limit of the cached answers in the store, in bytes. */
  readonly cacheSharedBytes: number;
}

export interface MetricsOptions {
  /** 0 means any free port; null for no metrics. */
  readonly metricsPort: number | null;
  readonly metricsHost: string;
}

/** What the server must know about its platform: the project's `platform.ts`, which market-mcp writes. */
export interface Platform {
  /** The platform's token (C§5). */
  readonly token: Omit<
    TokenRules,
    'issuer' | 'audience' | 'audienceFrom' | 'keys' | 'maxLifetimeSeconds' | 'once'
  > & {
    /** Lifetime of its tokens, in seconds. */
    readonly lifetimeSeconds: number;
    /** Null if PLATFORM_ISSUER must be set. */
    readonly issuer: string | null;
    /** URL of its key set (JWKS); null if PLATFORM_JWKS_URL or PLATFORM_PUBLIC_KEY must be set. */
    readonly jwksUrl: string | null;
    /** A public key as PEM text, used if the key set cannot be fetched, and its source. */
    readonly fallbackKey: { readonly pem: string; readonly source: string } | null;
  };
  readonly limits: {
    /** How long the platform waits for a call, in milliseconds. */
    readonly callMs: number;
  };
}

/** A configuration with its warnings. */
export interface Configured {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** A configuration, or every reason why there is none. */
export type ConfigResult =
  | ({ readonly ok: true } & Configured)
  | { readonly ok: false; readonly errors: readonly string[] };

/** The rest of the platform's time limit after the deadline of a call, so that its answer can arrive. */
const answerMs = 2_000;

/** A platform may extend the lifetime of its tokens. */
const lifetimeFactor = 10;

type Environment = { readonly [name: string]: string | undefined };

/**
 * Reads the configuration from environment variables; an empty variable counts as unset. Reports every error at once
 * and never repeats a secret.
 *
 * @param env such as `process.env`; the variables are listed in the README of this package
 * @param readText reads the file that PLATFORM_PUBLIC_KEY names
 */
export function readConfig(
  env: Environment,
  platform: Platform,
  readText: ReadText = (path) => readFileSync(path, 'utf8'),
): ConfigResult {
  const errors: string[] = [];
  const settingOf = (name: VariableName) => env[name]?.trim() || variables[name].default;
  /** The parsed variable. After an error, the value and the whole configuration are missing. */
  const read = <T>(name: VariableName, parse: (text: string | null) => T): T => {
    try {
      return parse(settingOf(name));
    } catch (error) {
      errors.push(`${name}: ${(error as Error).message}`);
      return undefined as T;
    }
  };

  const stage = settingOf('NODE_ENV')?.toLowerCase() ?? 'development';
  const production = stage === 'production';
  const port = read('PORT', wholeNumber(0, 65_535));
  const authOff = read('AUTH', (text) => isOff(text, stage));
  const audience = read('PLATFORM_AUDIENCE', (text) => audienceOf(text, port, production, env));
  const stateUrl = read('STATE_URL', stateUrlOf);
  const readKeys = (): KeySources => {
    const { algorithms, jwksUrl, fallbackKey } = platform.token;
    if (settingOf('PLATFORM_PUBLIC_KEY') !== null) {
      const key = read('PLATFORM_PUBLIC_KEY', (text) => publicKeyOf(text ?? '', algorithms, readText));
      return { initial: { key, name: 'PLATFORM_PUBLIC_KEY' }, jwksUrl: null };
    }
    // The key in the profile belongs to the platform of the profile, not to any other issuer.
    const isOwn = settingOf('PLATFORM_JWKS_URL') === null && settingOf('PLATFORM_ISSUER') === null;
    const initial =
      isOwn && fallbackKey
        ? {
            key: exportJwk(createPublicKey(fallbackKey.pem)),
            name: `the built-in key (${fallbackKey.source})`,
          }
        : null;
    const address = settingOf('PLATFORM_JWKS_URL') ?? jwksUrl;
    if (address === null && initial) return { initial, jwksUrl: null };
    return { initial, jwksUrl: read('PLATFORM_JWKS_URL', () => parseKeySetUrl(address)) };
  };
  const readToken = (): TokenRules => ({
    ...platform.token,
    issuer: read('PLATFORM_ISSUER', (text) => issuerOf(text ?? platform.token.issuer)),
    audience: audience?.url ?? null,
    audienceFrom: audience?.from ?? '',
    maxLifetimeSeconds: read('MAX_TOKEN_SECONDS', (text) =>
      wholeNumber(1, 315_360_000)(text ?? String(lifetimeFactor * platform.token.lifetimeSeconds)),
    ),
    once: read('TOKEN_ONCE', (text) => onceOf(text, stateUrl)),
    keys: readKeys(),
  });
  const bytes = wholeNumber(1_000, 100_000_000);
  const count = wholeNumber(1, 1_000_000);
  const { callMs } = platform.limits;
  const callTimeoutMs = String(Math.max(callMs - answerMs, Math.ceil(callMs / 2)));
  const shutdownGraceMs = read('SHUTDOWN_GRACE_MS', wholeNumber(0, 600_000));
  const config: Config = {
    port,
    host: read('HOST', (text) => text ?? (production ? '0.0.0.0' : '127.0.0.1')),
    production,
    token: authOff ? null : readToken(),
    sessionSecret: read('SESSION_SECRET', secretOf),
    previousSessionSecret: read('SESSION_SECRET_PREVIOUS', secretOf),
    sessionTtlSeconds: read('SESSION_TTL_SECONDS', wholeNumber(60, 31_536_000)),
    stateUrl,
    tokenStateUrl: read('TOKEN_STATE_URL', (text) => tokenStateUrlOf(text, stateUrl)),
    cacheSharedBytes: read('CACHE_SHARED_BYTES', wholeNumber(0, 10_000_000_000)),
    allowedOrigins: read('ALLOWED_ORIGINS', originsOf),
    allowedHosts: read('ALLOWED_HOSTS', (text) => hostsOf(text, audience?.url ?? null)),
    clientAddressHeader: read('CLIENT_ADDRESS_HEADER', parseHeaderName),
    maxBodyBytes: read('MAX_BODY_BYTES', bytes),
    unpaidBodyBytes: read('UNPAID_BODY_BYTES', bytes),
    unpaidBodyMs: read('UNPAID_BODY_MS', wholeNumber(100, 600_000)),
    maxMemoryBytes: read('MAX_MEMORY_BYTES', (text) =>
      wholeNumber(1_000_000, 100_000_000_000)(text ?? String(memoryShare())),
    ),
    answerStallMs: read('ANSWER_STALL_MS', wholeNumber(100, 600_000)),
    maxStreams: read('MAX_STREAMS', count),
    maxConnections: read('MAX_CONNECTIONS', count),
    maxPipelined: read('MAX_PIPELINED', count),
    maxCalls: read('MAX_CALLS', count),
    maxCallsPerToken: read('MAX_CALLS_PER_TOKEN', count),
    maxLoopDelayMs: read('MAX_LOOP_DELAY_MS', wholeNumber(50, 600_000)),
    callTimeoutMs: read('CALL_TIMEOUT_MS', (text) => wholeNumber(10, 600_000)(text ?? callTimeoutMs)),
    requestTimeoutMs: read('REQUEST_TIMEOUT_MS', wholeNumber(100, 600_000)),
    shutdownGraceMs,
    drainMs: read('DRAIN_MS', (text) => drainOf(text, shutdownGraceMs)),
    metricsPort: read('METRICS_PORT', (text) => metricsPortOf(text, port)),
    metricsHost: read('METRICS_HOST', (text) => text ?? ''),
  };
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, config, warnings: warningsOf(config, env) };
}

/** Three quarters of the heap limit: half of the counted memory, bodies and unread answers, is outside the heap. */
function memoryShare(): number {
  return Math.max(32_000_000, Math.floor(getHeapStatistics().heap_size_limit * 0.75));
}

/** A variable that a host of servers sets: Railway, Render, Fly, Vercel, Cloud Run, Kubernetes, Heroku. */
const hostVariable =
  /^(?:RAILWAY_ENVIRONMENT\w*|RENDER|FLY_APP_NAME|VERCEL|K_SERVICE|KUBERNETES_SERVICE_HOST|DYNO)$/;

function warningsOf({ token, sessionSecret, production, host, port }: Config, env: Environment): string[] {
  const warnings: string[] = [];
  const hosted = env.NODE_ENV?.trim() ? undefined : Object.keys(env).find((name) => hostVariable.test(name));
  if (hosted !== undefined) {
    warnings.push(
      `${hosted} is set, as on a host, but NODE_ENV is not: the server listens on ${host}:${port} with the settings of development. Set NODE_ENV=production and PLATFORM_AUDIENCE.`,
    );
  }
  if (token?.audience === null) {
    warnings.push(
      'PLATFORM_AUDIENCE is pending: every call of a tool is refused. Set it to the public URL of the endpoint.',
    );
  }
  for (const former of ['BODY_BUDGET_BYTES', 'ANSWER_BUDGET_BYTES']) {
    if (env[former]) warnings.push(`${former} has no effect any more: set MAX_MEMORY_BYTES.`);
  }
  if (token === null) warnings.push('AUTH is off: anyone can call the tools without paying.');
  if (production && sessionSecret === null) {
    warnings.push(
      'SESSION_SECRET is not set: sessions end with this process and are invalid on other replicas.',
    );
  }
  return warnings;
}
