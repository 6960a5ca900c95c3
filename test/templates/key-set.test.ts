import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { certificateOf } from '../../src/marketplace/core/certificate.ts';
import { createGate } from '../../templates/project/src/server/auth.ts';
import { config, platformKey, token } from './support.ts';

const jwk = (key: KeyObject) => createPublicKey(key).export({ format: 'jwk' });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/** A platform that publishes keys, and the gate of a server that trusts them. */
async function publish(first: unknown) {
  const platform = { body: first, status: 200, requests: 0 };
  const server = createServer((_, response) => {
    platform.requests++;
    response.writeHead(platform.status).end(JSON.stringify(platform.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const rules = config().token;
  if (!rules) throw new Error('The gate is off.');
  const jwksUrl = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`);
  const gate = createGate(
    { ...rules, keys: { configured: null, jwksUrl, fallback: null } },
    Object.assign(() => {}, { flush() {} }),
  );
  const admits = async (...args: Parameters<typeof token>) =>
    gate.admits({ authorization: `Bearer ${await token(...args)}` });
  return { platform, admits };
}

function passTime(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

describe('a published key set', () => {
  test('is fetched once', async () => {
    const { platform, admits } = await publish({ keys: [{ ...jwk(platformKey), kid: 'a', use: 'sig' }] });
    const all = Array.from({ length: 10 }, () => admits({}, { kid: 'a' }));
    expect(await Promise.all(all)).toEqual(Array(10).fill(true));
    expect(await admits({}, { key: other, kid: 'a' })).toBe(false);
    expect(platform.requests).toBe(1);
  });

  test('may give keys by certificate alone', async () => {
    const x5c = [certificateOf(platformKey).toString('base64')];
    const { admits } = await publish({
      keys: [
        { kty: 'RSA', x5c: ['unreadable'] },
        { kty: 'RSA', x5c },
      ],
    });
    expect(await admits()).toBe(true);
    expect(await admits({}, { kid: 'named' })).toBe(true);
    expect(await admits({}, { key: other })).toBe(false);
  });

  test.each([
    ['several keys without names', [{ ...jwk(other) }, { ...jwk(platformKey) }], {}],
    [
      'keys whose names the token does not give',
      [
        { ...jwk(other), kid: 'a' },
        { ...jwk(platformKey), kid: 'b' },
      ],
      {},
    ],
    ['a name that the set does not give', [{ ...jwk(other) }, { ...jwk(platformKey) }], { kid: 'c' }],
  ])('%s: every key is tried', async (_, keys, header) => {
    const { admits } = await publish({ keys });
    expect(await admits({}, header)).toBe(true);
  });

  test('an unknown key name is looked up, but not more often than every 30 s', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { platform, admits } = await publish({ keys: [{ ...jwk(other), kid: 'old' }] });
    for (let index = 0; index < 20; index++) expect(await admits({}, { kid: `new${index}` })).toBe(false);
    expect(platform.requests).toBe(1);
    platform.body = { keys: [{ ...jwk(platformKey), kid: 'new' }] };
    passTime(31_000);
    expect(await admits({}, { kid: 'new' })).toBe(true);
    expect(platform.requests).toBe(2);
  });

  test('while the platform is down the last keys stay in use', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { platform, admits } = await publish({ keys: [jwk(platformKey)] });
    expect(await admits()).toBe(true);
    platform.status = 503;
    passTime(3_700_000);
    expect(await admits()).toBe(true);
    await vi.waitUntil(() => platform.requests === 2, { timeout: 20_000 });
    expect(await admits()).toBe(true);
  });

  test.each([
    ['an error', 503, { keys: [jwk(platformKey)] }],
    ['no list', 200, {}],
    ['nothing', 200, null],
  ])('%s admits nobody, and the platform is not asked by every caller', async (_, status, body) => {
    const { platform, admits } = await publish(body);
    platform.status = status;
    for (let index = 0; index < 5; index++) expect(await admits()).toBe(false);
    expect(platform.requests).toBe(1);
  });
});
