import { type ChildProcess, spawn } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { SignJWT } from 'jose';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { installOnce } from '../e2e/install-once.ts';
import { expectChecked, platform, ratesProject } from '../e2e/rates.ts';
import { repository, scratch } from '../e2e/support.ts';

/** A worker that serves the project beside it. */
const worker = `
import { createServer } from 'node:http';
import { httpServerHandler } from 'cloudflare:node';
import { createApp, createLog, readConfig } from 'market-mcp-runtime/app';
import { platform } from './dist/src/platform.js';
import { tools } from './dist/src/tools/index.js';

const configured = readConfig(process.env, platform);
if (!configured.ok) throw new Error(configured.errors.join(' '));
const log = createLog((line) => console.log(line.trimEnd()));
const options = { name: 'rates', version: '1.0.0', routes: { '/own': answerOwn, '/late': () => {} }, headers: { 'x-by': 'me' } };
const app = createApp({ ...configured.config, ...options }, tools, log);
createServer(app.handle).listen(8080);
export default httpServerHandler({ port: 8080 });

async function answerOwn(request, response) {
  let size = 0;
  for await (const chunk of request) size += chunk.length;
  response.end(request.method + ' ' + size);
}
`;

const { audience, issuer } = platform;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const root = scratch();
const lines: string[] = [];
let workerd: ChildProcess;
let origin: string;
let counts: { asked: number; keySets: number };

beforeAll(async () => {
  const keys = [createPublicKey(privateKey).export({ format: 'jwk' })];
  const { address, directory, ...served } = await ratesProject(root, keys);
  counts = served.counts;
  writeFileSync(join(directory, 'worker.js'), worker);
  await build({
    input: join(directory, 'worker.js'),
    platform: 'node',
    external: [/^node:/, /^cloudflare:/],
    output: { file: join(root, 'bundle.js'), format: 'esm' },
    logLevel: 'silent',
  });
  const environment = {
    NODE_ENV: 'production',
    PLATFORM_AUDIENCE: audience,
    PLATFORM_ISSUER: issuer,
    PLATFORM_JWKS_URL: `${address}/jwks`,
    SESSION_SECRET: randomBytes(32).toString('hex'),
    RATES_URL: address,
    CALL_TIMEOUT_MS: '5000',
  };
  writeFileSync(join(root, 'config.capnp'), capnp(environment));
  workerd = spawn(await binary(), ['serve', '--control-fd=3', join(root, 'config.capnp')], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [, stdout, errors, control] = workerd.stdio as unknown as [null, Readable, Readable, Readable];
  createInterface(stdout).on('line', (line) => lines.push(line));
  let said = '';
  errors.on('data', (text) => {
    said += text;
  });
  void once(workerd, 'exit').then(() => control.destroy(new Error(`workerd ended: ${said}`)));
  const [line] = await once(createInterface(control), 'line');
  origin = `http://127.0.0.1:${JSON.parse(line).port}`;
});

afterAll(() => workerd?.kill('SIGKILL'));

/**
 * workerd's own binary: its package starts it through a script of Node. It has 100 MB, so only this test installs it. The
 * registry lacks the packages for macOS and Windows of some later versions.
 */
async function binary(): Promise<string> {
  const manifest = JSON.stringify({ dependencies: { workerd: '1.20261023.1' } });
  const modules = await installOnce('workerd', manifest);
  const { resolve } = createRequire(join(modules, 'workerd/package.json'));
  return resolve(
    `@cloudflare/workerd-${process.platform}-${process.arch === 'x64' ? '64' : process.arch}/bin/workerd`,
  );
}

function capnp(environment: Record<string, string>): string {
  const bindings = Object.entries(environment).map(
    ([name, value]) => `(name = "${name}", text = ${JSON.stringify(value)})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .server),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const server :Workerd.Worker = (
  modules = [(name = "bundle.js", esModule = embed "bundle.js")],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [${bindings.join(', ')}],
);
`;
}

async function token(): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: audience,
    iat: now,
    exp: now + 120,
    jti: randomBytes(8).toString('hex'),
  };
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(privateKey);
}

async function post(method: string, params: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Opens a session; a padding makes the body larger than those that are parsed at once. */
function initialize(padding = 0, headers = {}) {
  const capabilities = { experimental: { padding: { text: 'x'.repeat(padding) } } };
  const clientInfo = { name: 'test', version: '1' };
  return post('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo }, headers);
}

async function paidHeaders(): Promise<Record<string, string>> {
  const { headers } = await initialize();
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '', authorization: `Bearer ${await token()}` };
}

const callRate = (headers: Record<string, string>, code = 'USD') =>
  post('tools/call', { name: 'get_rate', arguments: { code } }, headers);
const calls = () => lines.filter((line) => JSON.parse(line).event === 'call');

describe('a project with a pattern and an API, on workerd', () => {
  it('answers calls that arrive while the first fetches the keys, and logs a line for each', async () => {
    const headers = await paidHeaders();
    const before = calls().length;
    const codes = Array.from({ length: 24 }, (_, index) => `AB${String.fromCharCode(65 + index)}`);
    const answers = await Promise.all(codes.map((code) => callRate(headers, code)));
    expect(answers.map(({ status }) => status)).toEqual(codes.map(() => 200));
    for (const { text } of answers) expect(text).toContain('"structuredContent":{"rate":0.9}');
    expect(counts.keySets).toBeGreaterThan(0); // by the first calls
    expect(counts.asked).toBe(codes.length);
    await vi.waitUntil(() => calls().length === before + codes.length, { timeout: 20_000 });
    const refused = await callRate(headers, 'no code');
    expect(refused.text).toContain('INVALID_ARGUMENTS');
    await vi.waitUntil(() => calls().length === before + codes.length + 1, { timeout: 20_000 });
  });

  it('parses large bodies one after the other and at once', async () => {
    const headers = await paidHeaders();
    for (const [size, given] of [
      [10_000, {}],
      [10_000, {}],
      [200_000, headers],
      [200_000, headers],
    ] as const) {
      expect((await initialize(size, given)).status).toBe(200);
    }
    const all = await Promise.all(Array.from({ length: 8 }, () => initialize(200_000, headers)));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect((await initialize(100_000)).status).toBe(413);
  });

  it('serves routes with their bodies, and headers', async () => {
    const own = (init: RequestInit) => fetch(`${origin}/own?a`, init);
    const answer = await own({ method: 'POST', body: 'x'.repeat(10_000) });
    expect([await answer.text(), answer.headers.get('x-by')]).toEqual(['POST 10000', 'me']);
    expect(await (await own({ method: 'GET' })).text()).toBe('GET 0');
    expect((await own({ method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(413);
  });

  it('answers 500 for a route that gives no answer', async () => {
    expect((await fetch(`${origin}/late`)).status).toBe(500);
  });

  it('passes every MUST rule that can be checked at a URL', async () => {
    await expectChecked(origin, root, privateKey);
    expect(lines.filter((line) => !line.startsWith('{"time":'))).toEqual([]);
  });
});

it('the worker of this test is bundled without anything that this machine has', () => {
  const bundle = readFileSync(join(root, 'bundle.js'), 'utf8');
  expect(bundle).not.toContain(repository);
  expect(bundle).not.toContain('createRequire(');
});
