import { spawn } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, it, vi } from 'vitest';
import { recordProof, untilHealthy } from '../deploy/figures.ts';
import { expectChecked, platform, ratesProject } from '../e2e/rates.ts';
import { compile, run, scratch } from '../e2e/support.ts';
import { record } from './figures.ts';
import { installToolchain, toolFile } from './toolchain.ts';

/** A server with routes. */
const main = `
import { type RouteHandler, serve } from 'market-mcp-runtime/serve';
import { platform } from './platform.ts';
import { tools } from './tools/index.ts';

const size: RouteHandler = async (request, response) => {
  let size = 0;
  for await (const chunk of request) size += chunk.length;
  response.end(request.method + ' ' + size);
};
const partial: RouteHandler = (_, response) => {
  response.write('part');
  throw new Error('expected by the test');
};
const routes = { '/size': size, '/partial': partial, '/late': () => {} };
await serve({ tools, platform, routes, headers: { 'x-by': 'me' } });
`;

const within = { timeout: 120_000 };

const hosts = [
  { name: 'node', command: process.execPath },
  { name: 'bun', command: toolFile('bun', 'bin/bun') },
  { name: 'deno', command: toolFile('deno', 'deno') },
] as const;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
const root = scratch();
let project: Awaited<ReturnType<typeof ratesProject>>;

beforeAll(installToolchain);
beforeAll(async () => {
  project = await ratesProject(root);
  writeFileSync(join(project.directory, 'src/main.ts'), main);
  const { status, stdout } = await compile(project.directory);
  expect(status, stdout).toBe(0);
});

/** Starts the project's server as its DEPLOY.md says. */
async function start(name: string, command: string) {
  const readme = readFileSync(join(project.directory, 'DEPLOY.md'), 'utf8');
  const line = readme.match(new RegExp(`(?:^|" )${name} (.*dist/src/main\\.js)$`, 'm'))?.[1];
  const since = performance.now();
  const server = spawn(command, line?.split(' ') ?? expect.fail(`DEPLOY.md does not start it on ${name}`), {
    cwd: project.directory,
    env: {
      PATH: process.env.PATH,
      HOME: root,
      DENO_NO_UPDATE_CHECK: '1',
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      PLATFORM_ISSUER: platform.issuer,
      PLATFORM_AUDIENCE: platform.audience,
      PLATFORM_PUBLIC_KEY: publicKey,
      SESSION_SECRET: 'x'.repeat(32),
      CALL_TIMEOUT_MS: '5000',
      RATES_URL: project.address,
    },
  });
  const ended = once(server, 'exit');
  const entries: { event: string; port?: number }[] = [];
  createInterface(server.stdout).on('line', (line) => entries.push(JSON.parse(line)));
  let errors = '';
  server.stderr.on('data', (text) => {
    errors += text;
  });
  const listening = () => entries.find(({ event }) => event === 'listening');
  const begun = () => listening() ?? (server.exitCode !== null && expect.fail(errors));
  await vi.waitUntil(begun, { ...within, interval: 10 });
  const origin = `http://127.0.0.1:${listening()?.port}`;
  return {
    origin,
    coldStartMs: await untilHealthy(origin, since),
    count: (event: string) => entries.filter((entry) => entry.event === event).length,
    errors: () => errors,
    async stop() {
      server.kill('SIGTERM');
      return (await ended)[0];
    },
  };
}

it.each(hosts)(
  'a project with a pattern, an API and routes, on $name passes the check, serves routes and stops',
  async ({ name, command }) => {
    const { stdout } = await run(command, ['--version']);
    const asked = project.counts.asked;
    const { origin, coldStartMs, count, errors, stop } = await start(name, command);
    try {
      const { passed } = await expectChecked(origin, root, privateKey);
      expect(project.counts.asked).toBeGreaterThan(asked);
      await expect.poll(() => count('call'), within).toBeGreaterThanOrEqual(project.counts.asked - asked);
      const post = (path: string, size: number) =>
        fetch(`${origin}${path}`, { method: 'POST', body: 'x'.repeat(size) });
      const sized = await post('/size', 10_000);
      expect([await sized.text(), sized.headers.get('x-by')]).toEqual(['POST 10000', 'me']);
      expect(await (await fetch(`${origin}/size`)).text()).toBe('GET 0');
      expect((await post('/size', 100_000)).status).toBe(413);
      await expect(fetch(`${origin}/partial`).then((response) => response.text())).rejects.toThrow();
      await expect(fetch(`${origin}/late`).then(({ status }) => status)).rejects.toThrow('fetch failed');
      await vi.waitUntil(() => count('incident') === 2, within);
      const version = stdout.match(/\d+\.\d+\.\d+/)?.[0];
      record(name, { version, passed });
      recordProof(name, {
        how: `the start line of DEPLOY.md, ${name} ${version}, at its URL: a project with an API`,
        rules: `${passed} passed, 0 failed`,
        coldStartMs,
      });
    } finally {
      expect([await stop(), errors()]).toEqual([0, '']);
    }
  },
);
