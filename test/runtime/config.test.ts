import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { hostDomains as hostDomainsOfRule } from '../../packages/contract/src/rules/instance.ts';
import { hostDomains } from '../../packages/runtime/src/audience.ts';
import { readConfig } from '../../packages/runtime/src/config.ts';
import { secretsInUrl, sentinelOf } from '../../packages/runtime/src/state-url.ts';
import { variables } from '../../packages/runtime/src/variables.ts';
import { selfSigned } from '../../src/marketplace/core/key-set.ts';
import { platformKey, publicKey } from './support.ts';

const live = {
  NODE_ENV: 'production',
  PLATFORM_AUDIENCE: 'https://tools.example/mcp',
  PLATFORM_ISSUER: 'https://platform.example',
  PLATFORM_PUBLIC_KEY: publicKey,
  SESSION_SECRET: 'a secret of thirty-two characters',
};

function read(env: Record<string, string>, platform = generic, readText?: (path: string) => string) {
  const result = readConfig(env, platform, readText);
  if (!result.ok) throw new Error(result.errors.join('\n'));
  return result;
}

function errorsOf(env: Record<string, string>, platform = generic): readonly string[] {
  const result = readConfig(env, platform, () => {
    throw Object.assign(new Error('secret path'), { code: 'ENOENT' });
  });
  return result.ok ? [] : result.errors;
}

describe('defaults', () => {
  test('require only the audience for a known platform', () => {
    const { config } = read(
      { NODE_ENV: 'production', PLATFORM_AUDIENCE: 'https://tools.example/mcp' },
      context,
    );
    expect(config).toMatchObject({
      port: 3000,
      host: '0.0.0.0',
      production: true,
      sessionSecret: null,
      maxBodyBytes: 1_048_576,
      callTimeoutMs: 28_000,
      token: {
        header: 'authorization',
        scheme: 'Bearer',
        algorithms: ['RS256'],
        issuer: 'https://ctxprotocol.com',
        audience: 'https://tools.example/mcp',
        keys: {
          initial: { name: expect.stringContaining('SDK 0.23.0') },
          jwksUrl: new URL('https://ctxprotocol.com/.well-known/jwks.json'),
        },
      },
    });
  });

  test('derive the audience from the port in development', () => {
    expect(read({ PORT: '4000' }, context).config.token?.audience).toBe('http://localhost:4000/mcp');
  });

  test.each([
    ['RENDER_EXTERNAL_URL', 'https://tools.onrender.com', 'https://tools.onrender.com/mcp'],
    ['RENDER_EXTERNAL_URL', 'https://tools.onrender.com/', 'https://tools.onrender.com/mcp'],
    ['FLY_APP_NAME', 'tools', 'https://tools.fly.dev/mcp'],
    ['VERCEL_PROJECT_PRODUCTION_URL', 'tools.vercel.app', 'https://tools.vercel.app/mcp'],
    ['RAILWAY_PUBLIC_DOMAIN', 'tools.up.railway.app', 'https://tools.up.railway.app/mcp'],
  ])('take the audience in production from %s=%s, unless PLATFORM_AUDIENCE is set', (name, value, url) => {
    for (const given of ['', 'pending']) {
      const { token } = read({ ...live, PLATFORM_AUDIENCE: given, [name]: value }).config;
      expect(token).toMatchObject({ audience: url, audienceFrom: name });
    }
    const own = read({ ...live, [name]: value }).config.token;
    expect(own).toMatchObject({ audience: live.PLATFORM_AUDIENCE, audienceFrom: 'PLATFORM_AUDIENCE' });
    expect(read({ [name]: value }, context).config.token?.audience).toBe('http://localhost:3000/mcp');
  });

  test.each([
    'tools.onrender.com',
    'http://tools.onrender.com',
    'https://',
    'https://a/?b=',
    'https://a:b@c',
    'https://a/b',
  ])('refuse to start where RENDER_EXTERNAL_URL is %s', (value) => {
    const env = { ...live, PLATFORM_AUDIENCE: 'pending', RENDER_EXTERNAL_URL: value };
    expect(errorsOf(env)).toEqual([
      `PLATFORM_AUDIENCE: must be set: RENDER_EXTERNAL_URL is "${value}", which is no domain.`,
    ]);
  });

  test.each([
    ['RAILWAY_PUBLIC_DOMAIN', 'https://tools.up.railway.app'],
    ['FLY_APP_NAME', 'tools/mcp?'],
    ['FLY_APP_NAME', 'user@tools'],
  ])('refuse to start where %s is %s: its URL would have another domain', (name, value) => {
    expect(errorsOf({ ...live, PLATFORM_AUDIENCE: '', [name]: value })).toEqual([
      `PLATFORM_AUDIENCE: must be set: ${name} is "${value}", which is no domain.`,
    ]);
  });

  test('let a server start before its public URL is known, with a warning', () => {
    const { config, warnings } = read({ ...live, PLATFORM_AUDIENCE: 'pending' });
    expect(config.token).toMatchObject({ audience: null });
    expect(warnings).toEqual([expect.stringContaining('PLATFORM_AUDIENCE is pending')]);
    expect(read({ PLATFORM_AUDIENCE: 'pending' }, context).config.token?.audience).toMatch(/localhost/);
  });

  test('name the same variables of hosts as the rule that clears them', () => {
    expect(Object.keys(hostDomains)).toEqual(hostDomainsOfRule);
  });

  test.each([
    [undefined, '127.0.0.1'],
    ['development', '127.0.0.1'],
    ['staging', '127.0.0.1'],
    ['production', '0.0.0.0'],
  ])('with NODE_ENV %s it listens on %s', (stage, host) => {
    const env = { PLATFORM_AUDIENCE: 'https://tools.example/mcp', ...(stage && { NODE_ENV: stage }) };
    expect(read(env, context).config.host).toBe(host);
    expect(read({ ...env, HOST: '::' }, context).config.host).toBe('::');
  });

  test.each(['RAILWAY_ENVIRONMENT_NAME', 'RENDER', 'FLY_APP_NAME', 'VERCEL', 'K_SERVICE', 'DYNO'])(
    'on a host that sets %s, development is warned about',
    (name) => {
      const warnings = (env: object) => read({ [name]: '1', ...env }, context).warnings;
      expect(warnings({})).toEqual([
        expect.stringMatching(new RegExp(`^${name} is set, .*127\\.0\\.0\\.1:3000.*Set NODE_ENV=production`)),
      ]);
      expect(warnings({ NODE_ENV: 'development' })).toEqual([]);
    },
  );

  test("a token for a host on an author's machine is no host", () => {
    expect(read({ VERCEL_TOKEN: 'x', RAILWAY_TOKEN: 'x', RENDER_API_KEY: 'x' }, context).warnings).toEqual(
      [],
    );
  });

  test('an empty variable counts as unset', () => {
    const empty = Object.fromEntries(Object.keys(variables).map((name) => [name, ' ']));
    expect(read(empty, context)).toEqual(read({}, context));
  });

  test('are valid for every variable', () => {
    const defaults = Object.entries(variables).flatMap(([name, { default: value }]) =>
      value ? [[name, value]] : [],
    );
    expect(read(Object.fromEntries(defaults), context)).toEqual(read({}, context));
  });
});

describe('the key', () => {
  const certificate = `-----BEGIN CERTIFICATE-----\n${selfSigned(platformKey).toString('base64')}\n-----END CERTIFICATE-----`;

  test.each([
    ['PEM text', publicKey],
    ['PEM text with escaped line ends', publicKey.replaceAll('\n', '\\n')],
    ['a certificate', certificate],
    ['the path of a file', 'keys/platform.pem'],
  ])('may be %s', (_, value) => {
    const { config } = read({ ...live, PLATFORM_PUBLIC_KEY: value }, generic, (path) =>
      path === 'keys/platform.pem' ? publicKey : '',
    );
    expect(config.token?.keys.initial?.key).toEqual({ kty: 'RSA', n: expect.any(String), e: 'AQAB' });
  });

  test('is used instead of a key set', () => {
    const { config } = read({ ...live, PLATFORM_JWKS_URL: 'https://platform.example/jwks' }, context);
    expect(config.token?.keys).toMatchObject({
      initial: { key: { kty: 'RSA' }, name: 'PLATFORM_PUBLIC_KEY' },
      jwksUrl: null,
    });
  });

  test.each([
    [
      'a private key',
      platformKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'contains a private key',
    ],
    ['something else', '-----BEGIN PUBLIC KEY-----\nx', 'expected a public key or a certificate'],
    ['no file', 'keys/none.pem', 'nor the path of a readable file (ENOENT)'],
    ['a key of another type', pem('ec'), 'is a key of type ec, which cannot be used with RS256'],
    ['a short key', pem('short'), '2048 bits or more'],
  ])('%s is refused without being repeated', (_, value, message) => {
    const [error = '', ...others] = errorsOf({ ...live, PLATFORM_PUBLIC_KEY: value });
    expect(error).toContain(message);
    expect(error).not.toContain(value);
    expect(others).toEqual([]);
  });
});

test.each([
  [{ PORT: '70000' }, 'PORT: expected a whole number from 0 to 65535, got "70000".'],
  [{ PORT: '3000x' }, 'PORT: '],
  [{ PORT: '-1' }, 'PORT: '],
  [{ AUTH: 'OFF' }, 'AUTH: the only value is "off", got "OFF".'],
  [{ AUTH: 'off' }, 'AUTH: "off" is refused because NODE_ENV is "production";'],
  [{ AUTH: 'off', NODE_ENV: 'Production' }, 'AUTH: "off" is refused because NODE_ENV is "production";'],
  [{ AUTH: 'off', NODE_ENV: 'staging' }, 'AUTH: "off" is refused because NODE_ENV is "staging";'],
  [{ PLATFORM_AUDIENCE: '', NODE_ENV: 'PRODUCTION' }, 'PLATFORM_AUDIENCE: must be set in production'],
  [{ SESSION_SECRET: 'short secret' }, 'SESSION_SECRET: expected 32 characters or more, got 12.'],
  [{ PLATFORM_AUDIENCE: '' }, 'PLATFORM_AUDIENCE: must be set in production'],
  [{ PLATFORM_AUDIENCE: 'http://tools.example/mcp' }, 'PLATFORM_AUDIENCE: expected an https URL'],
  [{ PLATFORM_AUDIENCE: 'https://tools.example/mcp/' }, 'PLATFORM_AUDIENCE: expected an https URL'],
  [{ PLATFORM_AUDIENCE: 'https://tools.example/?/mcp' }, 'PLATFORM_AUDIENCE: expected an https URL'],
  [{ PLATFORM_AUDIENCE: 'tools.example/mcp' }, 'PLATFORM_AUDIENCE: expected an https URL'],
  [{ PLATFORM_ISSUER: '' }, 'PLATFORM_ISSUER: must be set'],
  [{ PLATFORM_PUBLIC_KEY: '' }, 'PLATFORM_JWKS_URL: must be set, or PLATFORM_PUBLIC_KEY'],
  [
    { PLATFORM_PUBLIC_KEY: '', PLATFORM_JWKS_URL: 'http://platform.example' },
    'PLATFORM_JWKS_URL: expected an https',
  ],
  [{ ALLOWED_ORIGINS: 'https://a.example, b.example' }, 'ALLOWED_ORIGINS: expected origins'],
  [{ ALLOWED_ORIGINS: 'https://a.example/' }, 'ALLOWED_ORIGINS: expected origins'],
  [{ DRAIN_MS: '8000' }, 'DRAIN_MS: expected less than SHUTDOWN_GRACE_MS, which is 8000, got "8000".'],
  [{ STATE_URL: 'short secret' }, 'STATE_URL: expected a URL such as redis:'],
  [{ STATE_URL: 'http://:short secret@localhost:6379' }, 'STATE_URL: expected a URL'],
  [{ STATE_URL: 'redis://:short secret@localhost:6379/name' }, 'STATE_URL: expected a URL'],
  [{ STATE_URL: 'redis://:short secret%zz@localhost:6379' }, 'STATE_URL: expected a URL'],
  [{ STATE_URL: 'redis:///0' }, 'STATE_URL: expected a URL'],
  [{ STATE_URL: 'redis+sentinel://:short secret@host:26379' }, 'STATE_URL: expected a URL'],
  [{ STATE_URL: 'redis+sentinel://:short secret%zz@host/name/0' }, 'STATE_URL: expected a URL'],
  [{ STATE_URL: 'redis+sentinel://host/name/first' }, 'STATE_URL: expected a URL'],
  [{ STATE_URL: 'redis+cluster://:short secret@host:6379' }, 'STATE_URL: Redis Cluster is not supported'],
  [{ STATE_URL: 'redis://:short secret@one:6379,two:6379' }, 'STATE_URL: Redis Cluster is not supported'],
  [{ TOKEN_STATE_URL: 'redis://localhost' }, 'TOKEN_STATE_URL: needs STATE_URL'],
  [
    { STATE_URL: 'redis://localhost:6379/0', TOKEN_STATE_URL: 'redis://:short secret@localhost:6379/1' },
    'TOKEN_STATE_URL: expected another server than that of STATE_URL',
  ],
  [{ CACHE_SHARED_BYTES: '-1' }, 'CACHE_SHARED_BYTES: expected a whole number'],
  [{ TOKEN_ONCE: 'always' }, 'TOKEN_ONCE: expected "on", "strict" or "off", got "always".'],
  [{ TOKEN_ONCE: 'strict' }, 'TOKEN_ONCE: "strict" needs STATE_URL'],
  [{ CALL_TIMEOUT_MS: '1e3' }, 'CALL_TIMEOUT_MS: expected a whole number'],
])('%j is refused', (env, message) => {
  const errors = errorsOf({ ...live, ...env });
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain(message);
  expect(errors[0]).not.toContain('short secret');
});

test.each(['redis://localhost', 'redis://user:p%40ss@[::1]:6379/2', 'rediss://redis.example:6380/'])(
  'STATE_URL may be %s',
  (url) => {
    expect(read({ ...live, STATE_URL: url }).config.stateUrl).toBe(url);
  },
);

test('STATE_URL may name Sentinels, whose parts the store gets, and TOKEN_STATE_URL another name of theirs', () => {
  const url = 'redis+sentinel://user:p%40ss@10.0.0.1,[::1]:26380/main/2';
  const tokens = 'redis+sentinel://10.0.0.1/tokens';
  const { config } = read({ ...live, STATE_URL: url, TOKEN_STATE_URL: tokens, TOKEN_ONCE: 'strict' });
  expect(config).toMatchObject({ stateUrl: url, tokenStateUrl: tokens, token: { once: 'strict' } });
  expect(sentinelOf(url)).toEqual({
    sentinels: [
      { host: '10.0.0.1', port: 26_379 },
      { host: '::1', port: 26_380 },
    ],
    ...{ name: 'main', username: 'user', password: 'p@ss', db: 2 },
  });
  expect(secretsInUrl(url)).toEqual(['p%40ss', 'p@ss']);
  expect(sentinelOf('redis://localhost')).toBeUndefined();
});

test.each(['', 'development', 'Test'])('AUTH may be off where NODE_ENV is %j', (stage) => {
  expect(read({ NODE_ENV: stage, AUTH: 'off' }).config).toMatchObject({ production: false, token: null });
});

test('reports all errors at once', () => {
  const env = { NODE_ENV: 'production', PORT: 'x', SESSION_SECRET: 'x', MAX_BODY_BYTES: '1' };
  expect(errorsOf(env).map((error) => error.split(':')[0])).toEqual([
    'PORT',
    'PLATFORM_AUDIENCE',
    'PLATFORM_ISSUER',
    'PLATFORM_JWKS_URL',
    'SESSION_SECRET',
    'MAX_BODY_BYTES',
  ]);
});

test('warnings', () => {
  expect(read(live).warnings).toEqual([]);
  expect(read({ ...live, SESSION_SECRET: '' }).warnings).toEqual([expect.stringContaining('SESSION_SECRET')]);
  expect(read({ AUTH: 'off' })).toMatchObject({
    config: { token: null },
    warnings: [expect.stringContaining('without paying')],
  });
});

function pem(kind: 'ec' | 'short'): string {
  const { publicKey: key } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 1024 });
  return key.export({ type: 'spki', format: 'pem' }).toString();
}
