import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { audienceOf } from '../../packages/runtime/src/audience.ts';
import { variables } from '../../packages/runtime/src/variables.ts';
import { targets } from '../../src/questions/targets.ts';
import { fileOf } from './target-files.ts';

// The files of hosts, as parsers that are not ours read them.

/** Milliseconds that the server takes to end at most. */
const graceMs = Number(variables.SHUTDOWN_GRACE_MS.default);

it('railway.json waits for /ready, and longer for an end than the server takes', () => {
  const { build, deploy } = JSON.parse(fileOf('railway.json'));
  expect([build.builder, deploy.healthcheckPath]).toEqual(['DOCKERFILE', '/ready']);
  expect(deploy.drainingSeconds * 1_000).toBeGreaterThan(graceMs);
});

describe('render.yaml', () => {
  const serviceOf = (profile: PlatformProfile) => {
    const { services } = load(fileOf('render.yaml', profile)) as { services: { [key: string]: unknown }[] };
    expect(services).toHaveLength(1);
    return { envVars: [], ...services[0] } as { readonly [key: string]: unknown } & {
      readonly envVars: readonly { readonly key: string; readonly value?: string }[];
    };
  };

  it('waits for /ready, and longer for an end than the server takes; names the header with the address of a caller', () => {
    const service = serviceOf(generic);
    const expected = { type: 'web', name: 'gas.prices_2', runtime: 'docker', healthCheckPath: '/ready' };
    expect(service).toMatchObject(expected);
    expect(Number(service.maxShutdownDelaySeconds) * 1_000).toBeGreaterThan(graceMs);
    expect(service.envVars).toContainEqual({ key: 'CLIENT_ADDRESS_HEADER', value: 'cf-connecting-ip' });
  });

  it('contains no secret, and asks for what the server needs to start', () => {
    const asked = (profile: PlatformProfile) =>
      serviceOf(profile).envVars.flatMap((one) => ('value' in one || 'generateValue' in one ? [] : one.key));
    expect(asked(generic)).toEqual(['PLATFORM_ISSUER', 'PLATFORM_JWKS_URL']);
    expect(asked(context)).toEqual([]);
    expect(serviceOf(generic).envVars).toContainEqual({ key: 'SESSION_SECRET', generateValue: true });
  });
});

describe('wrangler.jsonc', () => {
  const configOf = (profile: PlatformProfile) => {
    const text = fileOf('wrangler.jsonc', profile);
    return JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''));
  };

  it('has a name that a domain can contain, and a date on which workerd runs servers of node:http', () => {
    const { name, compatibility_date, compatibility_flags } = configOf(generic);
    expect(name).toBe('gas-prices-2');
    expect(compatibility_date >= '2026-04-01').toBe(true);
    expect(compatibility_flags).toContain('nodejs_compat');
  });

  it('contains no secret, and requires those that the server needs', () => {
    const { vars, secrets } = configOf(generic);
    expect(vars).toMatchObject({ NODE_ENV: 'production', PLATFORM_AUDIENCE: 'pending' });
    expect(secrets.required).toEqual(['SESSION_SECRET', 'PLATFORM_ISSUER', 'PLATFORM_JWKS_URL']);
    for (const name of secrets.required) expect(vars).not.toHaveProperty(name);
    expect(configOf(context).secrets.required).toEqual(['SESSION_SECRET']);
  });
});

const canRead = spawnSync('python3', ['-c', 'import tomllib']).status === 0;
it.skipIf(!canRead)('fly.toml asks /ready at the port of the image (skipped without Python 3.11)', () => {
  const script = 'import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)))';
  const { stdout, stderr } = spawnSync('python3', ['-c', script], {
    input: fileOf('fly.toml'),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const { http_service: service, kill_signal, kill_timeout, env } = JSON.parse(stdout);
  expect(fileOf('Dockerfile')).toContain(` PORT=${service.internal_port}\n`);
  expect(service.checks).toMatchObject([{ path: '/ready' }]);
  expect(service.concurrency).toEqual({ type: 'requests', soft_limit: 500 });
  expect(kill_signal).toBe('SIGTERM');
  expect(kill_timeout * 1_000).toBeGreaterThan(graceMs);
  // The proxy has asked twice before the server stops accepting connections.
  expect(Number(env.DRAIN_MS)).toBeGreaterThan(Number.parseInt(service.checks[0].interval, 10) * 1_000);
  expect(env).not.toHaveProperty('SESSION_SECRET');
});

it('Dockerfile.vercel is the Dockerfile', () => {
  expect(fileOf('Dockerfile.vercel')).toMatch(/^FROM node:/);
  expect(fileOf('Dockerfile.vercel')).toBe(fileOf('Dockerfile'));
});

it.each([
  [{ RENDER_EXTERNAL_URL: 'https://gas.onrender.com' }, 'https://gas.onrender.com/mcp'],
  [{ FLY_APP_NAME: 'gas' }, 'https://gas.fly.dev/mcp'],
  [{ VERCEL_PROJECT_PRODUCTION_URL: 'gas.vercel.app' }, 'https://gas.vercel.app/mcp'],
  [{ RAILWAY_PUBLIC_DOMAIN: 'gas.up.railway.app' }, 'https://gas.up.railway.app/mcp'],
])('the pending audience becomes the domain of the host: %o', (env, url) => {
  expect(audienceOf('pending', 3000, true, env).url).toBe(url);
});

it.each(Object.entries(targets))('docs/deploy.md has a row for %s with its files', (name, { files }) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/deploy.md'), 'utf8');
  const [, , named = ''] =
    /^\| `(\w+)`[^|]*\| ([^|]+) \|.*$/m.exec(page.slice(page.indexOf(`| \`${name}\``))) ?? [];
  expect(named.split(', ')).toEqual(files.map((file) => `\`${file}\``));
});
