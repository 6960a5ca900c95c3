import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { readConfig } from '../../packages/runtime/src/config.ts';
import { createAuthenticator } from '../../packages/runtime/src/server/auth.ts';
import { createLog } from '../../packages/runtime/src/server/log.ts';
import { selfSigned } from '../../src/marketplace/core/key-set.ts';
import { listen } from '../listen.ts';
import { audience, issuer, platformKey, start, stopClock, token } from './support.ts';

const jwk = (key: KeyObject) => createPublicKey(key).export({ format: 'jwk' });
const pemOf = (key: KeyObject) => createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const other = newKey();
const shipped = newKey();
const within = { timeout: 120_000 };

/** The key set that a test publishes, and how. */
interface Published {
  body: unknown;
  status: number;
  requests: number;
  /** Replaces `body` and `status`. */
  handler?: RequestListener;
}

/** A platform on loopback that publishes keys, and the authentication of a server that is configured for it. */
async function publish(
  first: unknown,
  { fallback = false, host = '127.0.0.1', handler, env = {} }: PublishOptions = {},
) {
  const platform: Published = { body: first, status: 200, requests: 0, ...(handler && { handler }) };
  const server = createServer((request, response) => {
    platform.requests++;
    if (platform.handler) platform.handler(request, response);
    else response.writeHead(platform.status).end(JSON.stringify(platform.body));
  });
  const port = await listen(server);
  const configured = readConfig(
    { PLATFORM_AUDIENCE: audience, ...env },
    {
      ...context,
      token: {
        ...context.token,
        issuer,
        jwksUrl: `http://${host}:${port}/jwks.json`,
        fallbackKey: fallback ? { pem: pemOf(shipped), source: 'the test' } : null,
      },
    },
  );
  if (!configured.ok || !configured.config.token) throw new Error('Authentication is off.');
  const lines: string[] = [];
  const log = createLog((text) => lines.push(...text.trimEnd().split('\n')));
  const authentication = createAuthenticator(configured.config.token, log);
  const admits = async (...args: Parameters<typeof token>) =>
    (await authentication.identify({ authorization: `Bearer ${await token(...args)}` })).admitCall('id');
  const events = () => {
    return lines.map((line) => JSON.parse(line));
  };
  return { platform, port, authentication, admits, events };
}

interface PublishOptions {
  readonly fallback?: boolean;
  /** By which the key set is fetched. */
  readonly host?: string;
  readonly handler?: RequestListener;
  readonly env?: Record<string, string>;
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

  test('is fetched without a call until there is one, and outlives an outage', async () => {
    const { platform, authentication, admits } = await publish({ keys: [] });
    await authentication.prepare();
    expect(authentication.hasKey()).toBe(false);
    platform.body = { keys: [jwk(platformKey)] };
    await vi.waitUntil(authentication.hasKey, within);
    expect(platform.requests).toBe(2);
    platform.status = 500;
    expect(await admits({}, { key: other })).toBe(false);
    expect(authentication.hasKey()).toBe(true);
  });

  test('may contain keys as certificates only', async () => {
    const x5c = [selfSigned(platformKey).toString('base64')];
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

  test('is fetched again for an unknown key name, at most every 30 s', async () => {
    stopClock();
    const { platform, admits } = await publish({ keys: [{ ...jwk(other), kid: 'old' }] });
    for (let index = 0; index < 20; index++) expect(await admits({}, { kid: `new${index}` })).toBe(false);
    expect(platform.requests).toBe(1);
    platform.body = { keys: [{ ...jwk(platformKey), kid: 'new' }] };
    passTime(31_000);
    expect(await admits({}, { kid: 'new' })).toBe(true);
    expect(platform.requests).toBe(2);
  });

  test('stays in use while the platform is down', async () => {
    stopClock();
    const { platform, admits } = await publish({ keys: [jwk(platformKey)] });
    expect(await admits()).toBe(true);
    platform.status = 503;
    passTime(3_700_000);
    expect(await admits()).toBe(true);
    await vi.waitUntil(() => platform.requests === 2, within);
    expect(await admits()).toBe(true);
  });

  test.each([
    ['an error', 503, { keys: [jwk(platformKey)] }],
    ['no list', 200, {}],
    ['nothing', 200, null],
  ])('%s admits nobody, and is not requested by every caller', async (_, status, body) => {
    const { platform, admits } = await publish(body);
    platform.status = status;
    for (let index = 0; index < 5; index++) expect(await admits()).toBe(false);
    expect(platform.requests).toBe(1);
  });
});

describe('the priority of the keys', () => {
  const byShipped = { key: shipped };

  test('a configured key excludes all others, and no key set is fetched', async () => {
    const env = { PLATFORM_PUBLIC_KEY: pemOf(other) };
    const { platform, authentication, admits } = await publish(
      { keys: [jwk(platformKey)] },
      { fallback: true, env },
    );
    await authentication.prepare();
    expect(authentication.describeKeys()).toBe('PLATFORM_PUBLIC_KEY');
    expect(await admits({}, { key: other })).toBe(true);
    expect(await admits()).toBe(false);
    expect(await admits({}, byShipped)).toBe(false);
    expect(platform.requests).toBe(0);
  });

  test('a fetched key set excludes the fallback key', async () => {
    const { authentication, admits, events } = await publish(
      { keys: [jwk(platformKey)] },
      { fallback: true },
    );
    expect(authentication.describeKeys()).toBe('the built-in key (the test)');
    await authentication.prepare();
    expect(authentication.describeKeys()).toMatch(/^1 from http:/);
    expect(await admits()).toBe(true);
    expect(await admits({}, byShipped)).toBe(false);
    expect(events().filter(({ event }) => event === 'keys')).toMatchObject([
      { inUse: authentication.describeKeys() },
    ]);
  });

  test.each<[string, RequestListener, string]>([
    ['answers 404', (_, response) => response.writeHead(404).end(), 'status 404'],
    ['is not JSON', (_, response) => response.end('<html>'), 'is not valid JSON'],
    ['holds no key', (_, response) => response.end('{"keys":[]}'), 'no usable key'],
    [
      'has only keys that cannot be read',
      (_, response) => response.end(JSON.stringify({ keys: [{ kty: 'RSA', n: '!' }, 7, null] })),
      'no usable key',
    ],
    ['is too large', (_, response) => response.end(' '.repeat(70_000)), 'more than 65536 characters'],
    [
      'redirects without end',
      (_, response) => response.writeHead(302, { location: '/again' }).end(),
      'too many redirects',
    ],
    [
      'redirects to another port',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      'redirect to another site',
    ],
    [
      'redirects to another scheme',
      ({ headers }, response) => response.writeHead(302, { location: `https://${headers.host}/` }).end(),
      'redirect to another site',
    ],
    ['breaks off', (request) => request.socket.destroy(), 'fetch failed UND_ERR_SOCKET'],
    ['never answers', () => {}, 'aborted due to timeout'],
    [
      'stalls in its answer',
      (_, response) => response.writeHead(200).write('{"keys":['),
      'aborted due to timeout',
    ],
  ])('if a key set %s, the fallback key is used, and the log has the reason', async (_, handler, why) => {
    const { authentication, admits, events } = await publish(null, { fallback: true, handler });
    expect(await admits({}, byShipped)).toBe(true);
    expect(await admits()).toBe(false);
    expect(authentication.describeKeys()).toBe('the built-in key (the test)');
    const told = events().find(({ event }) => event === 'keys');
    expect(told).toMatchObject({
      inUse: authentication.describeKeys(),
      reason: expect.stringContaining(why),
    });
  });

  test('without a fallback key, a failure is logged as a warning once', async () => {
    const { platform, admits, events } = await publish(null);
    platform.status = 404;
    for (let time = 0; time < 3; time++) expect(await admits()).toBe(false);
    const warnings = events().filter(({ event }) => event === 'warning');
    expect(warnings).toMatchObject([
      { inUse: expect.stringContaining('calls are refused'), reason: expect.stringContaining('status 404') },
    ]);
  });

  test('the fallback key is not used for another platform than that of the profile', async () => {
    const others = { PLATFORM_ISSUER: issuer, PLATFORM_JWKS_URL: 'http://127.0.0.1:9/jwks' };
    for (const [name, value] of Object.entries(others)) {
      const env = { [name]: value };
      const { platform, admits } = await publish(null, { fallback: true, env });
      platform.status = 404;
      expect(await admits({}, byShipped)).toBe(false);
    }
  });

  test('a redirect within the site is followed, one to another site is not requested', async () => {
    const key = JSON.stringify({ keys: [jwk(platformKey)] });
    const inside = await publish(null, {
      handler: ({ url }, response) =>
        url === '/moved' ? response.end(key) : response.writeHead(301, { location: '/moved' }).end(),
    });
    expect(await inside.admits()).toBe(true);
    expect(inside.platform.requests).toBe(2);
    const foreign = await publish({ keys: [jwk(platformKey)] });
    const location = `http://localhost:${foreign.port}/jwks.json`;
    const outside = await publish(null, {
      fallback: true,
      handler: (_, response) => response.writeHead(301, { location }).end(),
    });
    expect(await outside.admits()).toBe(false);
    expect(await outside.admits({}, byShipped)).toBe(true);
    expect(foreign.platform.requests).toBe(0);
  });

  test('a redirect to a host whose name only ends like ours is not followed', async () => {
    const { admits, events } = await publish(null, {
      fallback: true,
      host: 'localhost',
      handler: ({ headers }, response) =>
        response.writeHead(302, { location: `http://evil${headers.host}/` }).end(),
    });
    expect(await admits({}, byShipped)).toBe(true);
    expect(events()).toMatchObject([
      { event: 'keys', reason: expect.stringMatching(/redirect to another site, http:\/\/evillocalhost/) },
    ]);
  });

  test('a token is valid up to five seconds after its end, and is not remembered for longer', async () => {
    stopClock(1_800_000_000_000);
    const { authentication, admits } = await publish({ keys: [jwk(platformKey)] });
    const ending = (seconds: number) => ({ iat: 1_799_999_900, exp: 1_800_000_000 + seconds });
    expect(await admits(ending(-4))).toBe(true);
    expect(await admits(ending(-6))).toBe(false);
    const headers = { authorization: `Bearer ${await token(ending(60))}` };
    const pays = async () => (await authentication.identify(headers)).hasValidToken;
    expect(await pays()).toBe(true);
    passTime(64_000);
    expect(await pays()).toBe(true);
    passTime(2_000);
    expect(await pays()).toBe(false);
  });

  test('a key set that becomes available later replaces the fallback key', async () => {
    stopClock();
    const { platform, admits, events } = await publish({ keys: [jwk(platformKey)] }, { fallback: true });
    platform.status = 404;
    expect(await admits({}, byShipped)).toBe(true);
    platform.status = 200;
    passTime(31_000);
    expect(await admits()).toBe(true);
    expect(await admits({}, byShipped)).toBe(false);
    expect(events().filter(({ event }) => event === 'keys')).toHaveLength(2);
  });

  test('a rotated key is used, whether keys have names or not', async () => {
    stopClock();
    for (const name of [undefined, 'same']) {
      const { platform, admits } = await publish({ keys: [{ ...jwk(other), kid: name }] });
      expect(await admits({}, { key: other, kid: name })).toBe(true);
      platform.body = { keys: [{ ...jwk(platformKey), kid: name }] };
      passTime(31_000);
      expect(await admits({}, { kid: name })).toBe(true);
      expect(await admits({}, { key: other, kid: name })).toBe(false);
    }
  });
});

describe('a key set has no effect', () => {
  test('with one malformed key on the others, and beyond the first 20 keys', async () => {
    const bad = [
      null,
      7,
      { kty: 'RSA' },
      { kty: 'oct', k: 'c2VjcmV0' },
      { kty: 'RSA', x5c: 'x' },
      { kty: 'RSA', n: {} },
    ];
    const { admits } = await publish({ keys: [...bad, jwk(platformKey)] });
    expect(await admits()).toBe(true);
    const many = await publish({ keys: [...Array(20).fill(jwk(other)), jwk(platformKey)] });
    expect(await many.admits()).toBe(false);
  });

  test('with a key for encryption', async () => {
    const { admits } = await publish({ keys: [{ ...jwk(platformKey), use: 'enc' }, jwk(other)] });
    expect(await admits()).toBe(false);
  });

  test('with key locations in a token, which are neither fetched nor used', async () => {
    const trap = await publish({ keys: [jwk(other)] });
    const url = `http://127.0.0.1:${trap.port}/jwks.json`;
    const { admits } = await publish({ keys: [jwk(platformKey)] });
    const header = { jku: url, x5u: url, jwk: jwk(other), x5c: [selfSigned(other).toString('base64')] };
    expect(await admits({}, { key: other, ...header })).toBe(false);
    expect(trap.platform.requests).toBe(0);
  });
});

test('a server listens before a slow key set has arrived, and its first call waits for it', async () => {
  let answer = () => {};
  const body = JSON.stringify({ keys: [jwk(platformKey)] });
  const { port, platform } = await publish(null, {
    handler: (_, response) => {
      answer = () => response.end(body);
    },
  });
  const env = { PLATFORM_PUBLIC_KEY: '', PLATFORM_JWKS_URL: `http://127.0.0.1:${port}/jwks.json` };
  const { client, app } = await start({ env });
  const prepared = app.prepare();
  await vi.waitUntil(() => platform.requests === 1, within);
  const headers = { ...(await client.session()), authorization: `Bearer ${await token()}` };
  const call = client.request('tools/call', { name: 'get_price' }, headers);
  answer();
  expect((await call).body.result.structuredContent.price).toBe(12.5);
  await prepared;
  expect(platform.requests).toBe(1);
});
