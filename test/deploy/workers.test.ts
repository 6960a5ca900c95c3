import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { CheckReport } from '../../packages/contract/src/check/check-report.ts';
import { serveHere, startApi } from '../api-server.ts';
import { expectChecked, fromRates, platform, ratesDocument, ratesProject } from '../e2e/rates.ts';
import { failuresOf, market, scaffold, scratch } from '../e2e/support.ts';
import { recordProof, untilHealthy } from './figures.ts';
import { bundled, type RunningWorker, startWorker, wranglerModules } from './workerd.ts';

// What `--deploy workers` writes, bundled by wrangler and run by workerd.

const { audience, issuer } = platform;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const root = scratch();
let modules: string;
let plain: string;

/** `check --deploy workers` of a project. */
async function checkWorker(project: string, flags: readonly string[] = []) {
  const { status, stdout, stderr } = await market(
    ['check', project, '--deploy', 'workers', '--json', ...flags],
    { cwd: root },
  );
  return { status, stdout, stderr, report: JSON.parse(stdout) as CheckReport };
}

function expectPassed({ status, stderr, report }: Awaited<ReturnType<typeof checkWorker>>): void {
  expect(status, stderr).toBe(0);
  expect(failuresOf(report)).toEqual([]);
  expect(report.summary.passed).toBeGreaterThan(220);
}

beforeAll(async () => {
  modules = await wranglerModules();
  symlinkSync(modules, join(root, 'node_modules')); // above the projects, as in a workspace
  ({ directory: plain } = await scaffold(['plain', '--deploy', 'workers'], { cwd: root }));
});

describe('check --deploy workers', () => {
  it('names how to get wrangler where there is none', async () => {
    const elsewhere = join(scratch(), 'plain');
    cpSync(plain, elsewhere, { recursive: true, verbatimSymlinks: true });
    const { status, stdout } = await checkWorker(elsewhere, ['--no-build']);
    expect(status).toBe(3);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'NO_WRANGLER',
      hint: `In ${elsewhere} run: npm install --save-dev wrangler`,
    });
  });

  it('passes every rule on the Worker, without those about a process', async () => {
    const checked = await checkWorker(plain);
    expectPassed(checked);
    const ofProcess = checked.report.rules.filter(({ id }) => id.startsWith('process.'));
    expect(ofProcess.length).toBeGreaterThan(5);
    // A Worker has a log as well.
    const ran = ofProcess.filter(({ status }) => status !== 'not-run').map(({ id }) => id);
    expect(ran).toEqual(['process.log-secrets']);
  });

  it('names the place of an error in the code of a tool', async () => {
    const file = join(plain, 'src/tools/get-plain.ts');
    const good = readFileSync(file, 'utf8');
    const thrown = "throw new Error('The tool has thrown this.');";
    writeFileSync(file, good.replace('return found(answer);', thrown));
    const lines = readFileSync(file, 'utf8').split('\n');
    const { status, report } = await checkWorker(plain, ['--only', 'outcome']);
    writeFileSync(file, good);
    expect(status).toBe(1);
    const line = lines.findIndex((text) => text.includes(thrown)) + 1;
    expect(JSON.stringify(failuresOf(report))).toContain(`src/tools/get-plain.ts:${line}`);
  });

  it('says what wrangler says of a Worker that cannot be bundled, and of one that does not start', async () => {
    const entry = join(plain, 'worker.js');
    const good = readFileSync(entry, 'utf8');
    writeFileSync(entry, good.replace('./src/main.ts', './src/nothing.ts'));
    const unbuilt = await checkWorker(plain);
    expect(unbuilt.status).toBe(3);
    expect(JSON.parse(unbuilt.stdout).error).toMatchObject({ code: 'WORKER_NOT_BUILT' });
    expect(unbuilt.stdout).toContain('./src/nothing.ts');

    writeFileSync(entry, `${good}\nthrow new Error('The author has thrown this.');\n`);
    const unstarted = await checkWorker(plain);
    expect(unstarted.status).toBe(3);
    expect(JSON.parse(unstarted.stdout).error).toMatchObject({ code: 'NOT_STARTED' });
    expect(unstarted.stdout).toContain('The author has thrown this.');
    writeFileSync(entry, good);
  });
});

describe('a Worker in production, with a pattern, an API and routes', () => {
  let bundle: string;
  let project: string;
  let worker: RunningWorker;
  let counts: { asked: number; keySets: number };
  let environment: { readonly [name: string]: string };
  const started = (further = {}) => startWorker(project, bundle, modules, { ...environment, ...further });

  beforeAll(async () => {
    const keys = [createPublicKey(privateKey).export({ format: 'jwk' })];
    const { address, directory, ...served } = await ratesProject(root, keys, ['--deploy', 'workers']);
    counts = served.counts;
    project = directory;
    const main = join(directory, 'src/main.ts');
    const routes = `
  routes: {
    '/own': async (request, response) => {
      let size = 0;
      for await (const chunk of request) size += chunk.length;
      response.end(request.method + ' ' + size);
    },
    '/late': () => {},
  },
  headers: { 'x-by': 'me' },
});`;
    writeFileSync(main, readFileSync(main, 'utf8').replace(/\n\}\);\s*$/, routes));
    bundle = await bundled(directory, modules);
    environment = {
      PLATFORM_AUDIENCE: audience,
      PLATFORM_ISSUER: issuer,
      PLATFORM_JWKS_URL: `${address}/jwks`,
      SESSION_SECRET: randomBytes(32).toString('hex'),
      RATES_URL: address,
      CALL_TIMEOUT_MS: '20000',
    };
    worker = await started();
  });

  it('answers calls that arrive while the first fetches the keys, and logs a line for each', async () => {
    const headers = await paidHeaders(worker);
    const before = calls(worker).length;
    const codes = Array.from({ length: 24 }, (_, index) => `AB${String.fromCharCode(65 + index)}`);
    const answers = await Promise.all(codes.map((code) => callRate(worker, headers, code)));
    expect(answers.map(({ status }) => status)).toEqual(codes.map(() => 200));
    for (const { text } of answers) expect(text).toContain('"structuredContent":{"rate":0.9}');
    expect(counts.keySets).toBeGreaterThan(0); // by the first calls
    expect(counts.asked).toBe(codes.length);
    await vi.waitUntil(() => calls(worker).length === before + codes.length, { timeout: 60_000 });
    const refused = await callRate(worker, headers, 'no code');
    expect(refused.text).toContain('INVALID_ARGUMENTS');
    await vi.waitUntil(() => calls(worker).length === before + codes.length + 1, { timeout: 60_000 });
  });

  it('parses large bodies one after the other and at once, and refuses those that are too large', async () => {
    const headers = await paidHeaders(worker);
    for (const [size, given] of [
      [10_000, {}],
      [10_000, {}],
      [200_000, headers],
      [200_000, headers],
    ] as const) {
      expect((await initialize(worker, size, given)).status).toBe(200);
    }
    const all = await Promise.all(Array.from({ length: 8 }, () => initialize(worker, 200_000, headers)));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect((await initialize(worker, 100_000)).status).toBe(413);
    expect((await initialize(worker, 1_100_000, headers)).status).toBe(413);
  });

  it('serves the routes and headers of src/main.ts', async () => {
    const own = (init: RequestInit) => fetch(`${worker.origin}/own?a`, init);
    const answer = await own({ method: 'POST', body: 'x'.repeat(10_000) });
    expect([await answer.text(), answer.headers.get('x-by')]).toEqual(['POST 10000', 'me']);
    expect(await (await own({ method: 'GET' })).text()).toBe('GET 0');
    expect((await own({ method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(413);
    expect((await fetch(`${worker.origin}/late`)).status).toBe(500);
  });

  it('keeps an event stream open until a newer one of its session, and until the session ends', async () => {
    const { headers } = await initialize(worker);
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
    const open = async () => {
      const { status, body } = await fetch(`${worker.origin}/mcp`, { headers: session });
      const reader = body?.getReader();
      expect([status, (await reader?.read())?.done]).toEqual([200, false]);
      return async () => (await reader?.read())?.done;
    };
    const endOfFirst = await open();
    const isHealthy = fetch(`${worker.origin}/health`).then(() => 'open');
    expect(await Promise.race([endOfFirst(), isHealthy])).toBe('open');
    const endOfSecond = await open();
    expect((await fetch(`${worker.origin}/mcp`, { method: 'DELETE', headers: session })).status).toBe(204);
    expect(await endOfSecond()).toBe(true);
  });

  it('passes every MUST rule that can be checked at a URL', async () => {
    const { passed } = await expectChecked(worker.origin, root, privateKey);
    expect(worker.lines.filter((line) => !line.startsWith('{"time":'))).toEqual([]);
    const unexpected = worker
      .errors()
      .split('\n')
      .filter((line) => !/Premature close|^$/.test(line)); // that of /late
    expect(unexpected).toEqual([]);
    const since = performance.now();
    const fresh = await started();
    const coldStartMs = await untilHealthy(fresh.origin, since);
    await fresh.stop();
    recordProof('workers', {
      how: 'bundled by wrangler 4.86 and run by workerd, at its URL: a project with an API',
      rules: `${passed} passed, 0 failed`,
      bytes: statSync(join(bundle, 'worker.js')).size,
      coldStartMs,
    });
    const { name, version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const said = eventsOf(worker).filter(({ event }) => event === 'listening');
    expect(said).toMatchObject([{ name, version, audience, tools: 1 }]);
  });

  it('keeps sessions over a restart with the same secret, and ends them with another', async () => {
    const headers = await paidHeaders(worker);
    const same = await started();
    expect((await callRate(same, headers)).status).toBe(200);
    const other = await started({ SESSION_SECRET: randomBytes(32).toString('hex') });
    expect((await callRate(other, headers)).status).toBe(400);
    await Promise.all([same.stop(), other.stop()]);
  });

  it('ends the tool of a caller that disconnects, and logs the call', async () => {
    const asked: ServerResponse[] = [];
    const silent = await serveHere(createServer((_, response) => asked.push(response)));
    const stuck = await started({ RATES_URL: silent });
    const headers = await paidHeaders(stuck);
    const caller = request(`${stuck.origin}/mcp`, { method: 'POST', headers: { ...headers, ...jsonType } });
    caller.on('error', () => {}).end(message('tools/call', { name: 'get_rate', arguments: { code: 'USD' } }));
    const [upstream] = await vi.waitUntil(() => asked.length > 0 && asked, { timeout: 60_000 });
    const closed = once(upstream as ServerResponse, 'close');
    caller.socket?.resetAndDestroy(); // workerd takes the end of what a caller sends for no disconnect
    await closed;
    expect(upstream?.writableEnded).toBe(false);
    await vi.waitUntil(() => calls(stuck).length > 0, { timeout: 60_000 });
    expect(calls(stuck)).toMatchObject([{ tool: 'get_rate', code: 'CANCELLED' }]);
    await stuck.stop();
  });

  it.each([
    ['SESSION_SECRET', { SESSION_SECRET: '' }],
    ['PLATFORM_AUDIENCE', { PLATFORM_AUDIENCE: '' }],
    ['PLATFORM_PUBLIC_KEY', { PLATFORM_PUBLIC_KEY: '/etc/platform-key.pem' }],
    ['TOKEN_ONCE', { TOKEN_ONCE: 'strict', STATE_URL: 'redis://localhost' }],
    ['MAX_MEMORY_BYTES', { MAX_MEMORY_BYTES: '70000000' }],
    ['RATES_URL', { RATES_URL: 'no address' }],
  ])('answers 503 and logs why if %s is missing or wrong', async (name, variables) => {
    const refusing = await started(variables);
    const answers = await Promise.all([initialize(refusing), fetch(`${refusing.origin}/health`)]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    await vi.waitUntil(() => refusing.lines.length > 0, { timeout: 60_000 });
    const [line = '', ...rest] = refusing.lines;
    expect(rest).toEqual([]); // one line a minute
    expect(JSON.parse(line)).toMatchObject({
      event: 'cannot-start',
      reasons: [expect.stringMatching(`^${name}[,:]`)],
    });
    await refusing.stop();
  });

  it('answers discovery alone while the audience is pending', async () => {
    const pending = await started({ PLATFORM_AUDIENCE: 'pending' });
    const health = await (await fetch(`${pending.origin}/health`)).json();
    expect(health).toMatchObject({ status: 'ok', audience: 'pending' });
    expect((await callRate(pending, await paidHeaders(pending))).status).toBe(401);
    expect((await fetch(`${pending.origin}/ready`)).status).toBe(503);
    await pending.stop();
  });

  it('is ready once a key set was fetched, which /ready does', async () => {
    let isUp = false;
    const keys = { keys: [createPublicKey(privateKey).export({ format: 'jwk' })] };
    const platform = await startApi(() => ({ status: isUp ? 200 : 500, body: keys }));
    const PLATFORM_JWKS_URL = `${platform.origin}/jwks.json`;
    const keyless = await started({ PLATFORM_PUBLIC_KEY: '', PLATFORM_JWKS_URL });
    const ready = async () => (await fetch(`${keyless.origin}/ready`)).status;
    expect(await ready()).toBe(503);
    expect(await (await fetch(`${keyless.origin}/health`)).json()).toMatchObject({
      status: 'ok',
      keys: 'none',
    });
    isUp = true;
    await vi.waitUntil(async () => (await ready()) === 200, { timeout: 60_000, interval: 500 });
    expect((await callRate(keyless, await paidHeaders(keyless))).status).toBe(200);
    await keyless.stop();
  });

  it('passes the rules about calls with recorded answers, by check --deploy workers', async () => {
    const { status, stderr, report } = await checkWorker(project, [
      '--only',
      'outcome,result,submission,call',
    ]);
    expect(status, stderr).toBe(0);
    expect(report.rules.find(({ id }) => id === 'outcome.found')?.status).toBe('pass');
    const left = readdirSync(project).filter((name) => name.startsWith('.wrangler'));
    expect(readFileSync(join(project, '.gitignore'), 'utf8').split('\n')).toEqual(
      expect.arrayContaining(left.map((name) => `${name}/`)),
    );
    rmSync(join(project, '.wrangler'), { recursive: true });
  });
});

it('a Worker with tokens by client credentials answers calls that arrive while tokens are fetched, and after the API refuses them, and logs none', async () => {
  const valid = new Set<string>();
  let issued = 0;
  const { origin: address } = await startApi(async ({ target, headers }) => {
    const isToken = target === '/token';
    const isAccepted = isToken
      ? headers.authorization === `Basic ${Buffer.from('the-id:the-secret').toString('base64')}`
      : valid.has(String(headers.authorization));
    if (isToken && isAccepted) issued += 1;
    const access_token = `token-${issued}`;
    if (isToken && isAccepted) valid.add(`Bearer ${access_token}`);
    await delay(50); // later than the next request arrives
    if (!isAccepted) return { status: 401, body: {} };
    return { body: isToken ? { access_token, token_type: 'Bearer', expires_in: 3600 } : { rate: 0.9 } };
  });
  const flows = { clientCredentials: { tokenUrl: `${address}/token`, scopes: {} } };
  const components = { securitySchemes: { oauth: { type: 'oauth2', flows } } };
  const document = { ...ratesDocument(address), components, security: [{ oauth: [] }] };
  writeFileSync(join(root, 'api.json'), JSON.stringify(document));
  const flags = ['tokens', ...fromRates, '--deploy', 'workers'];
  const { directory } = await scaffold(flags, { cwd: root });
  const worker = await startWorker(directory, await bundled(directory, modules), modules, {
    PLATFORM_AUDIENCE: audience,
    PLATFORM_ISSUER: issuer,
    PLATFORM_PUBLIC_KEY: String(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })),
    SESSION_SECRET: randomBytes(32).toString('hex'),
    RATES_CLIENT_ID: 'the-id',
    RATES_CLIENT_SECRET: 'the-secret',
  });
  const headers = await paidHeaders(worker);
  const codes = Array.from({ length: 12 }, (_, index) => `AB${String.fromCharCode(65 + index)}`);
  const callAll = async () => {
    const before = issued;
    for (const { status, text } of await Promise.all(codes.map((code) => callRate(worker, headers, code)))) {
      expect(status).toBe(200);
      expect(text).toContain('"structuredContent":{"rate":0.9}');
    }
    return issued - before;
  };
  expect(await callAll()).toBeGreaterThan(0);
  expect(await callAll()).toBe(0);
  valid.clear();
  expect(await callAll()).toBeGreaterThan(0);
  expect(await callAll()).toBe(0);
  await vi.waitUntil(() => calls(worker).length === 4 * codes.length, { timeout: 60_000 });
  expect(worker.lines.join()).not.toMatch(/token-\d|the-secret/);
  await worker.stop();
});

const jsonType = { 'content-type': 'application/json' };

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

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

async function post({ origin }: RunningWorker, method: string, params: object, headers = {}) {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { ...jsonType, ...headers },
    body: message(method, params),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Opens a session; a padding makes the body larger than those that are parsed at once. */
function initialize(worker: RunningWorker, padding = 0, headers = {}) {
  const capabilities = { experimental: { padding: { text: 'x'.repeat(padding) } } };
  const clientInfo = { name: 'test', version: '1' };
  return post(worker, 'initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo }, headers);
}

async function paidHeaders(worker: RunningWorker): Promise<Record<string, string>> {
  const { headers } = await initialize(worker);
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '', authorization: `Bearer ${await token()}` };
}

const callRate = (worker: RunningWorker, headers: Record<string, string>, code = 'USD') =>
  post(worker, 'tools/call', { name: 'get_rate', arguments: { code } }, headers);

const eventsOf = ({ lines }: RunningWorker) =>
  lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));

const calls = (worker: RunningWorker) => eventsOf(worker).filter(({ event }) => event === 'call');
