import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { onTestFinished, vi } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { createApp } from '../../packages/runtime/src/app.ts';
import { type Config, type Platform, readConfig } from '../../packages/runtime/src/config.ts';
import { listen } from '../../packages/runtime/src/listen.ts';
import type { Caller } from '../../packages/runtime/src/server/auth.ts';
import type { RouteOptions } from '../../packages/runtime/src/server/author-routes.ts';
import type { Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { createLog } from '../../packages/runtime/src/server/log.ts';
import type { UseResult } from '../../packages/runtime/src/server/used-tokens.ts';
import { tools as fixtureTools } from './tools.ts';

export const issuer = 'https://platform.example';
export const audience = 'https://tools.example/mcp';
export const info = { name: 'fixture', version: '1.2.3' };

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const platformKey = privateKey;
export const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

/** The environment of a server in production, on any port of this machine. */
export const live = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: '0',
  PLATFORM_ISSUER: issuer,
  PLATFORM_AUDIENCE: audience,
  PLATFORM_PUBLIC_KEY: publicKey,
};

/** A token signed by the platform, with changes; a claim of `undefined` is omitted. */
export function token(
  claims: Record<string, unknown> = {},
  { key = privateKey as KeyObject | Uint8Array, alg = 'RS256', ...header }: TokenChanges = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: issuer, aud: audience, iat: now, exp: now + 120, jti: randomUUID(), ...claims };
  return new SignJWT(JSON.parse(JSON.stringify(payload))).setProtectedHeader({ alg, ...header }).sign(key);
}

interface TokenChanges {
  readonly key?: KeyObject | Uint8Array;
  readonly alg?: string;
  readonly [header: string]: unknown;
}

/** The configuration from a production environment, with changes. */
export function config(env: Record<string, string> = {}, platform: Partial<Platform> = {}): Config {
  const result = readConfig(
    {
      PORT: '0',
      HOST: '127.0.0.1',
      PLATFORM_ISSUER: issuer,
      PLATFORM_AUDIENCE: audience,
      PLATFORM_PUBLIC_KEY: publicKey,
      MAX_LOOP_DELAY_MS: '600000', // other tests keep this process busy
      ...env,
    },
    { ...generic, ...platform },
  );
  if (!result.ok) throw new Error(result.errors.join('\n'));
  return result.config;
}

/** The date stands still until the test has finished, or its next change; timers run. */
export function stopClock(now = Date.now()): void {
  vi.useFakeTimers({ now, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Timers that a test may advance; those of its own waiting and of Node stay real. */
type Timer = 'setTimeout' | 'setInterval';

/**
 * Lets timers that start from now on stand still until the test has finished. `pass` advances them, and `performance.now()` with
 * those of setInterval, and lets the server do what became due.
 */
export function stopTimers(timer: Timer): { pass(ms: number): Promise<void> } {
  vi.useFakeTimers({
    toFake:
      timer === 'setTimeout'
        ? ['setTimeout', 'clearTimeout']
        : ['setInterval', 'clearInterval', 'performance'],
  });
  onTestFinished(() => void vi.useRealTimers());
  return {
    async pass(ms) {
      vi.advanceTimersByTime(ms);
      for (let turn = 0; turn < 5; turn++) await nextTurn();
    },
  };
}

/** Starts a server for one test. */
export async function start({ env = {}, tools = fixtureTools, platform, ...further }: StartOptions = {}) {
  const lines: string[] = [];
  const settings = config(env, platform);
  const log = createLog((text) => lines.push(...text.trimEnd().split('\n')));
  const app = createApp({ ...settings, ...info, ...further }, tools, log);
  const server = await listen(app, settings, log);
  onTestFinished(async () => {
    await server.stop();
  });
  const url = `http://127.0.0.1:${server.port}/mcp`;
  return {
    ...server,
    app,
    url,
    client: new RawClient(url),
    /** All events logged so far. */
    events() {
      return lines.map((line) => JSON.parse(line));
    },
  };
}

export interface StartOptions extends RouteOptions {
  readonly env?: Record<string, string>;
  readonly tools?: readonly Tool[];
  readonly modern?: boolean;
  /** Changes to the platform's profile. */
  readonly platform?: Partial<Platform>;
}

/** What a caller is told who calls a tool: whether the call is admitted, and then whether its token could be used up. */
export async function admissionOf(caller: Caller | Promise<Caller>): Promise<UseResult> {
  const { admitCall, useUp } = await caller;
  if (!admitCall('id')) return 'denied';
  return useUp ? useUp('id') : 'admitted';
}

/** Sends single requests with full control of the headers. */
export class RawClient {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async send(body: unknown, headers: Record<string, string> = {}, method = 'POST') {
    const response = await fetch(this.url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body), // undefined stays undefined
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text && JSON.parse(text) };
  }

  request(method: string, params?: object, headers: Record<string, string> = {}) {
    return this.send({ jsonrpc: '2.0', id: 1, method, params }, headers);
  }

  /** Opens a session and returns its header. */
  async session(): Promise<{ 'mcp-session-id': string }> {
    const { headers } = await this.request('initialize', initializeParams);
    return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
  }

  /** Calls a tool with a valid token in a new session. */
  async call(name: string, args?: object) {
    const headers = { ...(await this.session()), authorization: `Bearer ${await token()}` };
    const { body } = await this.request('tools/call', { name, arguments: args }, headers);
    return body.result;
  }
}

export const initializeParams = {
  protocolVersion: '2024-11-05',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};
