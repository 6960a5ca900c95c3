import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLauncher, type WatchedInstance } from '../../src/check/launch.ts';
import { type ReverseProxy, startProxy } from '../attacks/proxies.ts';
import { expectChecked } from '../e2e/rates.ts';
import { run, scaffold, scratch } from '../e2e/support.ts';
import { freePort } from '../ports.ts';
import { initializeParams, issuer, platformKey, publicKey, token } from '../runtime/support.ts';
import { recordProof } from './figures.ts';

// What `--deploy compose` writes: Debian's docker-compose reads compose.yaml, and Debian's Caddy runs the Caddyfile in front of the
// server with the variables of compose.yaml.

/** Code, stacks and libraries of a process that does nothing, in bytes. */
const idleMemory = 100 * 2 ** 20;

/** The memory that the server may need with a heap of this size: what is counted by MAX_MEMORY_BYTES is outside of the heap by half. */
function mostMemory(heapMiB: number): number {
  const script = `console.log(require('node:v8').getHeapStatistics().heap_size_limit)`;
  const flags = [`--max-old-space-size=${heapMiB}`, '-e', script];
  const heap = Number(spawnSync(process.execPath, flags, { encoding: 'utf8' }).stdout);
  return heap + (heap * 0.75) / 2 + idleMemory;
}

const units: { readonly [unit: string]: number } = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };
/** A size as docker-compose prints it: a number of bytes, or `1g`. */
function bytesOf(size: string): number {
  const [, number, unit = 'b'] = /^(\d+(?:\.\d+)?)([bkmg])?/.exec(size) ?? [];
  return Number(number) * (units[unit] ?? Number.NaN);
}

const isHere = (program: string) => spawnSync(program, ['version']).error === undefined;
const root = scratch();
let project: string;
beforeAll(async () => {
  ({ directory: project } = await scaffold(['composed', '--deploy', 'compose'], { cwd: root }));
});

describe.skipIf(!isHere('docker-compose'))('compose.yaml (skipped without docker-compose)', () => {
  const settings = 'DOMAIN=tools.example.com\nTLS=internal\n';
  const secrets = 'SESSION_SECRET=a secret of thirty-two characters\n';

  /** What docker-compose makes of the project with these files. */
  function config(name: string, files: { readonly [file: string]: string }) {
    const copy = join(root, name);
    cpSync(join(project, 'compose.yaml'), join(copy, 'compose.yaml'));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(copy, file), text);
    return run('docker-compose', ['config'], { cwd: copy });
  }

  it('exposes Caddy alone, and takes each right from both', async () => {
    const { stdout, stderr, status } = await config('whole', {
      '.env': settings,
      '.env.production': secrets,
    });
    expect(status, stderr).toBe(0);
    const { services } = load(stdout) as { services: { [name: string]: { [key: string]: unknown } } };
    const { server, caddy } = services;
    expect(Object.keys(services).sort()).toEqual(['caddy', 'server']);
    expect(server).toMatchObject({
      user: 'node',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      environment: {
        PLATFORM_AUDIENCE: 'https://tools.example.com/mcp',
        SESSION_SECRET: 'a secret of thirty-two characters',
      },
    });
    const environment = (server?.environment ?? {}) as {
      readonly DRAIN_MS?: number;
      readonly SHUTDOWN_GRACE_MS?: number;
      readonly NODE_OPTIONS?: string;
    };
    expect(server).not.toHaveProperty('ports');
    expect(server).not.toHaveProperty('network_mode');
    expect(caddy).toMatchObject({ read_only: true, cap_drop: ['ALL'], cap_add: ['NET_BIND_SERVICE'] });
    expect(caddy?.environment).toEqual({
      DOMAIN: 'tools.example.com',
      SERVER: 'server:3000',
      TLS: 'internal',
    });
    expect(server?.healthcheck).toEqual({ interval: '5s' }); // the test is that of the Dockerfile
    const [, heapMiB] = /^--max-old-space-size=(\d+)$/.exec(String(environment.NODE_OPTIONS)) ?? [];
    expect(mostMemory(Number(heapMiB))).toBeLessThanOrEqual(bytesOf(String(server?.mem_limit)));
    const grace = Number(/^(\d+)s$/.exec(String(server?.stop_grace_period))?.[1]) * 1_000;
    const { DRAIN_MS = 0, SHUTDOWN_GRACE_MS = 0 } = environment;
    expect(DRAIN_MS).toBeGreaterThan(0);
    expect(SHUTDOWN_GRACE_MS).toBeGreaterThan(DRAIN_MS);
    expect(grace).toBeGreaterThan(SHUTDOWN_GRACE_MS);
  });

  it.each([
    ['DOMAIN', { '.env': 'TLS=internal\n', '.env.production': secrets }],
    ['TLS', { '.env': 'DOMAIN=tools.example.com\n', '.env.production': secrets }],
    ['.env.production', { '.env': settings }],
  ])('is refused without %s, which the error names', async (missing, files) => {
    const { status, stderr } = await config(`without ${missing}`, files);
    expect(status).toBe(1);
    expect(stderr).toContain(missing);
  });
});

if (!isHere('caddy')) recordProof('compose', { notRun: 'there is no Caddy: `apt-get install caddy`' });
describe.skipIf(!isHere('caddy'))('the Caddyfile (skipped without caddy)', () => {
  const started: WatchedInstance[] = [];
  let front: Awaited<ReturnType<typeof startProxy>>;
  let origin: string;
  let certificate: string;
  let startServer: () => Promise<WatchedInstance>;

  beforeAll(async () => {
    const port = await freePort();
    const proxy: ReverseProxy = {
      name: 'Caddy',
      // What the machine of a test needs besides: loopback alone, and no root certificate installed on it.
      config(ownPort, _servers, directory) {
        origin = `https://localhost:${ownPort}`;
        certificate = join(directory, '.local/share/caddy/pki/authorities/local/root.crt');
        const options = [
          'admin off',
          'auto_https disable_redirects',
          'skip_install_trust',
          'default_bind 127.0.0.1',
        ];
        return `{\n${options.join('\n')}\n}\nimport ${join(project, 'Caddyfile')}\n`;
      },
      command: (file) => {
        const variables = [`DOMAIN=${new URL(origin).host}`, 'TLS=internal', `SERVER=127.0.0.1:${port}`];
        return ['env', ...variables, 'caddy', 'run', '--adapter', 'caddyfile', '--config', file];
      },
    };
    front = await startProxy(proxy, [port]);
    const { services } = load(readFileSync(join(project, 'compose.yaml'), 'utf8')) as {
      services: { server: { environment: Record<string, unknown> } };
    };
    const given = Object.entries(services.server.environment).map(([name, value]) => [name, String(value)]);
    const environment = {
      ...Object.fromEntries(given),
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      PLATFORM_AUDIENCE: `${origin}/mcp`,
      PLATFORM_ISSUER: issuer,
      PLATFORM_PUBLIC_KEY: publicKey,
      SESSION_SECRET: 'a secret of thirty-two characters',
    };
    const launch = createLauncher(join(project, 'dist/src/main.js'), environment, { cwd: project });
    startServer = async () => {
      const server = await launch({ PORT: String(port) });
      started.push(server);
      expect(server.healthy, server.output()).toBe(true);
      return server;
    };
    await startServer();
    // Caddy has asked /ready before there was a server.
    const agent = new Agent({ ca: readFileSync(certificate) });
    const isLetThrough = async () => expect((await post(agent, 'ping', {})).status).not.toBe(503);
    await vi.waitFor(isLetThrough, { timeout: 60_000 });
  });
  afterAll(async () => {
    await front?.stop();
    await Promise.all(started.map((server) => server.stop()));
  });

  it('lets the whole contract through, over https', async () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', certificate);
    const { passed } = await expectChecked(origin, root, platformKey, { issuer, audience: `${origin}/mcp` });
    vi.unstubAllEnvs();
    recordProof('compose', {
      how: 'the `Caddyfile` in Caddy, before the server with the variables of `compose.yaml`, at its https URL',
      rules: `${passed} passed, 0 failed`,
    });
  });

  it('breaks no call while a new version starts', async () => {
    const agent = new Agent({ ca: readFileSync(certificate), keepAlive: true });
    const opened = await post(agent, 'initialize', initializeParams);
    expect(opened.status).toBe(200);
    const headers = {
      authorization: `Bearer ${await token({ aud: `${origin}/mcp` })}`,
      'mcp-session-id': opened.session,
    };
    const outcomes = new Map<string, number>();
    let isOver = false;
    const caller = async () => {
      while (!isOver) {
        const outcome = await post(agent, 'tools/call', { name: 'get_composed', arguments: {} }, headers)
          .then(({ status, text }) =>
            text.includes('"structuredContent":{"name"') ? 'answered' : `${status} ${text}`,
          )
          .catch((error: Error) => error.message);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        await setTimeout(5);
      }
    };
    const timesAnswered = () => outcomes.get('answered') ?? 0;
    const calling = Array.from({ length: 4 }, caller);
    const [first] = started;
    await vi.waitUntil(() => timesAnswered() > 20, { timeout: 60_000 });
    first?.signal('SIGTERM');
    expect(await first?.exit).toEqual({ code: 0, signal: null });
    await startServer();
    const before = timesAnswered();
    await expect.poll(timesAnswered, { timeout: 60_000 }).toBeGreaterThan(before + 20);
    isOver = true;
    await Promise.all(calling);
    agent.destroy();
    // The tool ran for none of these. Caddy 2.6 answers so at once; later versions wait for the server.
    const { answered: _answered, '503 ': _refused, ...lost } = Object.fromEntries(outcomes);
    expect(lost).toEqual({});
  });

  function post(agent: Agent, method: string, params: object, headers: Record<string, string> = {}) {
    return new Promise<{
      readonly status: number | undefined;
      readonly session: string;
      readonly text: string;
    }>((resolve, reject) => {
      const options = { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } };
      const asking = request(`${origin}/mcp`, options, (response) => {
        const { statusCode: status, headers } = response;
        const session = String(headers['mcp-session-id']);
        text(response).then((said) => resolve({ status, session, text: said }), reject);
      });
      asking.on('error', reject).end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    });
  }
});
