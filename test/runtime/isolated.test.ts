import { createPublicKey } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { readConfig } from '../../packages/runtime/src/config.ts';
import { createAuthenticator } from '../../packages/runtime/src/server/auth.ts';
import { createLargeWorkQueue } from '../../packages/runtime/src/server/large-work-queue.ts';
import { Budget } from '../../packages/runtime/src/source/budget.ts';
import { mcpSource } from '../../packages/runtime/src/source/mcp-source.ts';
import { SharedResponses } from '../../packages/runtime/src/source/shared-responses.ts';
import { startApi } from '../api-server.ts';
import { audience, issuer, platformKey, start, token } from './support.ts';
import { heldTool } from './tools.ts';

/** What a request that the host has dropped would have ended; it never ends. */
const dropped = () => new Promise<never>(() => {});
const { signal } = new AbortController();

beforeEach(() => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  return () => vi.unstubAllGlobals();
});

describe('where the host isolates requests, none waits for what a dropped one has begun', () => {
  it('turns', async () => {
    const turns = createLargeWorkQueue();
    await turns();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await turns(); // the pause after the first one never ends
  });

  it('requests to a source, however many were dropped', async () => {
    const budget = new Budget({ concurrency: 1, queueMs: 60_000 });
    for (let time = 0; time < 3; time++) void budget.run(dropped, signal);
    expect(await budget.run(async () => 'answer', signal)).toBe('answer');
  });

  it('equal questions to a source', async () => {
    const answers = new SharedResponses(1_000);
    void answers.get('question', signal, dropped);
    const reply = { status: 200, text: 'answer' };
    expect(await answers.get('question', signal, async () => reply)).toBe(reply);
    expect(await answers.get('question', signal, dropped)).toBe(reply); // from the cache
  });

  it('calls that were not counted down', async () => {
    const all = ['one', 'two'].map((name) => heldTool(name));
    const { client } = await start({ tools: all.map(({ tool }) => tool), env: { MAX_CALLS: '1' } });
    const calls = ['one', 'two'].map((name) => client.call(name));
    await vi.waitUntil(() => all.every(({ held }) => held.signal), { timeout: 120_000 });
    for (const { held } of all) held.release();
    for (const { structuredContent } of await Promise.all(calls))
      expect(structuredContent).toEqual({ text: 'late' });
  });
});

/** An API whose first response never comes. Counts the requests. */
async function silentAtFirst(respond: (body: string) => unknown) {
  const { origin, requests } = await startApi(({ body }) =>
    requests.length === 1 ? new Promise(() => {}) : { body: respond(body) },
  );
  return { url: origin, requests: () => requests.length };
}

it('where the host isolates requests, each waits for keys that it fetches itself, until there are some', async () => {
  const jwk = createPublicKey(platformKey).export({ format: 'jwk' });
  const platform = await silentAtFirst(() => ({ keys: [jwk] }));
  const configured = readConfig(
    { PLATFORM_AUDIENCE: audience, PLATFORM_ISSUER: issuer, PLATFORM_JWKS_URL: platform.url },
    generic,
  );
  if (!configured.ok || !configured.config.token) throw new Error('Authentication is off.');
  const { identify } = createAuthenticator(configured.config.token, () => {});
  const caller = async () => identify({ authorization: `Bearer ${await token()}` });
  void caller();
  await expect.poll(platform.requests).toBe(1);
  expect((await caller()).hasValidToken).toBe(true);
  expect((await caller()).hasValidToken).toBe(true);
  expect(platform.requests()).toBe(2);
});

it('where the host isolates requests, a session of a source that was begun by a dropped one is opened anew', async () => {
  const result = { structuredContent: { n: 1 }, content: [] };
  const source = await silentAtFirst((body) => {
    const { id, method } = JSON.parse(body);
    return {
      jsonrpc: '2.0',
      id,
      result: method === 'initialize' ? { protocolVersion: '2025-06-18' } : result,
    };
  });
  const { call } = mcpSource({ baseUrl: source.url });
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
  void call('one', { schema }).catch(() => {});
  await expect.poll(source.requests).toBe(1);
  expect(await call('two', { schema })).toEqual({ n: 1 });
  expect(await call('three', { schema })).toEqual({ n: 1 });
  expect(source.requests()).toBe(1 + 3 + 1);
});
