import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { audienceOf } from '../../packages/runtime/src/audience.ts';
import { type ShutdownTimes, shutdownTimes } from '../../src/plan/shutdown-times.ts';
import { targets } from '../../src/questions/targets.ts';
import { listen } from '../listen.ts';
import { start } from '../runtime/support.ts';
import { fileOf } from './target-files.ts';

// The files of hosts, as parsers that are not ours read them.

/** The text that a pattern captures in a file of a project. */
function captured(path: string, profile: PlatformProfile, pattern: RegExp): string | undefined {
  return pattern.exec(fileOf(path, profile))?.[1];
}

describe.each([generic, context])('on $name, the end of a server', (profile) => {
  const times = shutdownTimes(profile.limits.callMs);
  const commandOf = (name: string) =>
    captured('DEPLOY.md', profile, new RegExp(`^(${name} (?:.*\\\\\n)*.*)$`, 'm')) ?? '';

  it('has a time for running calls, and a longer one of the host, in DEPLOY.md for Docker', () => {
    const { graceMs, limitSeconds } = times.docker;
    const command = commandOf('docker run');
    expect(command).toContain(`--stop-timeout ${limitSeconds} `);
    expect(command).toContain(` -e SHUTDOWN_GRACE_MS=${graceMs} `);
  });

  it('has both in compose.yaml, and calls wait as long in the Caddyfile', () => {
    const { drainMs, graceMs, limitSeconds } = times.compose;
    const { services } = load(fileOf('compose.yaml', profile)) as {
      services: { server: { stop_grace_period: string; environment: object } };
    };
    expect(services.server.stop_grace_period).toBe(`${limitSeconds}s`);
    expect(services.server.environment).toMatchObject({ DRAIN_MS: drainMs, SHUTDOWN_GRACE_MS: graceMs });
    expect(captured('Caddyfile', profile, /lb_try_duration (.*)/)).toBe(`${limitSeconds}s`);
  });

  it('has the first in DEPLOY.md for Railway, and the second in railway.json', () => {
    const { drainMs, graceMs, limitSeconds } = times.railway;
    expect(commandOf('railway variable set')).toContain(` DRAIN_MS=${drainMs} SHUTDOWN_GRACE_MS=${graceMs} `);
    expect(JSON.parse(fileOf('railway.json', profile)).deploy.drainingSeconds).toBe(limitSeconds);
  });

  it('has both in render.yaml', () => {
    const { drainMs, graceMs, limitSeconds } = times.render;
    const { maxShutdownDelaySeconds, envVars } = serviceOf(profile);
    expect(maxShutdownDelaySeconds).toBe(limitSeconds);
    expect(envVars).toContainEqual({ key: 'DRAIN_MS', value: String(drainMs) });
    expect(envVars).toContainEqual({ key: 'SHUTDOWN_GRACE_MS', value: String(graceMs) });
  });

  it('has both in fly.toml', () => {
    const { drainMs, graceMs, limitSeconds } = times.fly;
    expect(captured('fly.toml', profile, /^kill_timeout = (\d+)$/m)).toBe(String(limitSeconds));
    expect(captured('fly.toml', profile, /^ {2}DRAIN_MS = "(\d+)"$/m)).toBe(String(drainMs));
    expect(captured('fly.toml', profile, /^ {2}SHUTDOWN_GRACE_MS = "(\d+)"$/m)).toBe(String(graceMs));
  });
});

it('docs/deploy.md has the times of each target', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/deploy.md'), 'utf8');
  const [, section = ''] = page.split('## The end of a server\n');
  const ofGeneric = shutdownTimes(generic.limits.callMs);
  const ofContext = shutdownTimes(context.limits.callMs);
  const text = ({ graceMs, limitSeconds }: ShutdownTimes) => `${graceMs / 1_000} and ${limitSeconds} s`;
  for (const name of Object.keys(ofGeneric) as (keyof typeof ofGeneric)[]) {
    const [, row] = new RegExp(`^\\| \`${name}\` (.*)$`, 'm').exec(section) ?? [];
    expect(row, name).toContain(`| ${text(ofGeneric[name])} | ${text(ofContext[name])} |`);
  }
});

describe('the health check of the image', () => {
  const [, command = ''] = /^HEALTHCHECK .*\\\n *CMD (.+)$/m.exec(fileOf('Dockerfile')) ?? [];
  /** The exit code of the check, run with the variable PORT. */
  async function exitCode(port: number | string): Promise<number | null> {
    const [program = '', ...args]: string[] = JSON.parse(command);
    const child = spawn(program, args, {
      env: { PATH: process.env.PATH, PORT: String(port) },
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    return code;
  }

  it('starts no Node and succeeds for a server that works', async () => {
    const { url } = await start();
    expect(command).not.toContain('node');
    expect(await exitCode(new URL(url).port)).toBe(0);
  });

  it('fails for a server that answers otherwise, and for a port without one', async () => {
    const server = createServer((_, response) => response.writeHead(503).end());
    const port = await listen(server);
    expect(await exitCode(port)).toBe(1);
    await new Promise((resolve) => server.close(resolve));
    expect(await exitCode(port)).toBe(1);
  });
});

it('dependabot.yml follows the base image and the actions', () => {
  const { updates } = load(fileOf('.github/dependabot.yml')) as {
    readonly updates: readonly { readonly 'package-ecosystem': string; readonly directory: string }[];
  };
  expect(updates.map((update) => [update['package-ecosystem'], update.directory])).toEqual([
    ['docker', '/'],
    ['github-actions', '/'],
  ]);
});

it('railway.json builds the Dockerfile and waits for /ready', () => {
  const { build, deploy } = JSON.parse(fileOf('railway.json'));
  expect([build.builder, deploy.healthcheckPath]).toEqual(['DOCKERFILE', '/ready']);
});

/** The service in render.yaml. */
function serviceOf(profile: PlatformProfile) {
  const { services } = load(fileOf('render.yaml', profile)) as { services: { [key: string]: unknown }[] };
  expect(services).toHaveLength(1);
  return { envVars: [], ...services[0] } as { readonly [key: string]: unknown } & {
    readonly envVars: readonly { readonly key: string; readonly value?: string }[];
  };
}

describe('render.yaml', () => {
  it('waits for /ready, and names the header with the address of a caller', () => {
    const service = serviceOf(generic);
    const expected = { type: 'web', name: 'gas.prices_2', runtime: 'docker', healthCheckPath: '/ready' };
    expect(service).toMatchObject(expected);
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
  const { http_service: service, kill_signal, env } = JSON.parse(stdout);
  expect(fileOf('Dockerfile')).toContain(` PORT=${service.internal_port}\n`);
  expect(service.checks).toMatchObject([{ path: '/ready' }]);
  expect(service.concurrency).toEqual({ type: 'requests', soft_limit: 500 });
  expect(kill_signal).toBe('SIGTERM');
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
