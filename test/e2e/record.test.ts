import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveHere } from '../api-server.ts';
import { apiDocuments } from '../import/api-documents.ts';
import { freePort } from '../ports.ts';
import { evaluated, market, proveTools, run, scaffold, scratch, succeeded } from './support.ts';

const root = scratch();
const secret = 's3cret-of-the-api';
const recordings = 'test/recordings/get-gas-chain.json';

/** The key as the API repeats it. */
const echoes = [
  secret,
  secret.toUpperCase(),
  encodeURIComponent(secret).replaceAll('-', '%2D'),
  Buffer.from(secret).toString('base64'),
  Buffer.from(`Bearer ${secret}`).toString('base64'),
  Buffer.from(secret).toString('hex'),
];

/** The gas API: it requires its key, and repeats it in its answers. */
const asked: string[] = [];
// Generated arguments have up to 20,000 characters.
const api = createServer({ maxHeaderSize: 65_536 }, (request, response) => {
  asked.push(request.url ?? '');
  const isAllowed = request.headers.authorization === `Bearer ${secret}`;
  const [, chain] = /^\/gas\/(.+)$/.exec(request.url ?? '') ?? [];
  const allowedStatus = chain === 'base' ? 200 : 404;
  const status = isAllowed ? allowedStatus : 401;
  response.writeHead(status, { 'content-type': 'application/json' });
  const note = `your key is ${echoes.join(' ')}\u202e`;
  response.end(status === 200 ? JSON.stringify({ chain, gwei: 99.5, note }) : '{}');
});

let directory: string;
const gasUrl = await serveHere(api);
let environment: { readonly [name: string]: string };
const npm = (script: string, env: { readonly [name: string]: string } = {}) =>
  run('npm', ['run', '--silent', script], { cwd: directory, env });
const check = (...args: string[]) =>
  market(['check', '--no-build', ...args], { cwd: directory, env: environment });

beforeAll(async () => {
  const [gas] = apiDocuments;
  if (!gas) throw new Error('no document');
  writeFileSync(join(root, gas.file), gas.text);
  const flags = ['--from-openapi', join(root, gas.file), '--operation', gas.operation];
  ({ directory } = await scaffold(['gas', '--platform', 'context', ...flags], { cwd: root }));
  environment = {
    GAS_URL: gasUrl,
    GAS_TOKEN: secret,
  };
});

interface Step {
  readonly run?: string;
  readonly if?: string;
}

describe('npm run record', () => {
  it('requests every example from the API and records the answers without secrets', async () => {
    const ran = await succeeded(npm('record', environment));
    const text = readFileSync(join(directory, recordings), 'utf8');
    for (const echo of echoes) expect(text).not.toContain(echo);
    expect(text).toContain(String.raw`\u202e`);
    expect(ran.stdout + ran.stderr).not.toContain(secret);
    const made: readonly { from: string; status: number; body?: object }[] = JSON.parse(text);
    expect(made.filter(({ from }) => from === 'recorded')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          body: expect.objectContaining({
            gwei: 99.5,
            note: `your key is ${echoes.map(() => '[secret]').join(' ')}\u202e`,
          }),
        }),
      ]),
    );
  });

  it('callers of the server get the answer without the key, too', async () => {
    const body = "return callTool(tools[0], { chain: 'base' })";
    const { value, printed } = await evaluated(directory, body, environment);
    expect(value.structuredContent.note).toContain('your key is [secret]');
    for (const echo of echoes) expect(printed).not.toContain(echo);
  });

  it('a live server refuses a link-local address, and warns about loopback', async () => {
    const env = {
      ...environment,
      NODE_ENV: 'production',
      PLATFORM_AUDIENCE: 'https://gas.example/mcp',
      PORT: String(await freePort()),
    };
    const metadata = { ...env, GAS_URL: 'http://0xa9fea9fe/latest' };
    const refused = await run(process.execPath, ['dist/src/main.js'], { cwd: directory, env: metadata });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/169\.254\.169\.254.*SOURCES_LINK_LOCAL=allow/);
    for (const [given, said] of [
      [env, 'loopback'],
      [{ ...metadata, SOURCES_LINK_LOCAL: 'allow' }, 'listening'],
    ] as const) {
      const server = spawn(process.execPath, ['dist/src/main.js'], {
        cwd: directory,
        env: { ...process.env, ...given },
      });
      const ended = once(server, 'exit');
      let log = '';
      for await (const chunk of server.stdout) {
        log += chunk;
        if (log.includes('"listening"')) break;
      }
      server.kill();
      await ended; // the next one has the same port
      expect(log).toContain(said);
    }
  });

  it('reports examples that ended unexpectedly, and keeps the recordings', async () => {
    const before = readFileSync(join(directory, recordings), 'utf8');
    const ran = await npm('record', { ...environment, GAS_TOKEN: 'wrong' });
    expect(ran.status).toBe(1);
    expect(ran.stdout).toContain('SOURCE_REFUSED');
    expect(readFileSync(join(directory, recordings), 'utf8')).toBe(before);
  });
});

describe('market-mcp check', () => {
  it('reports which answers came from recordings', async () => {
    const before = asked.length;
    const ran = await succeeded(check());
    expect(ran.stderr).toMatch(
      /\d+ answers of APIs came from test\/recordings\/; --live calls the real APIs\./,
    );
    expect(ran.stderr).toMatch(/ {2}GET \/gas\/\{chain\}: recorded from the API, \d+ times?/);
    expect(asked).toHaveLength(before);
  });

  it('--live makes each request once, and reports the number of requests', async () => {
    const before = asked.length;
    const ran = await succeeded(check('--live'));
    const made = asked.slice(before);
    expect(new Set(made).size).toBe(made.length);
    expect(ran.stderr).toContain(`The check made ${made.length} requests to APIs`);
    expect(ran.stdout + ran.stderr).not.toContain(secret);
  });
});

describe('without a network and secrets', () => {
  /** Loaded into every Node process: records and closes each connection that leaves the machine. */
  const guard = join(root, 'guard.cjs');
  const left = join(root, 'left.txt');
  writeFileSync(
    guard,
    `const net = require('node:net');
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const host = options?.host ?? 'localhost';
  if (options?.path || /^(127\\.|localhost$|::1$)/.test(host)) return connect.apply(this, args);
  require('node:fs').appendFileSync(${JSON.stringify(left)}, host + '\\n');
  throw new Error('no network');
};`,
  );
  const closed = { NODE_OPTIONS: `--require ${guard}` };

  it('the guard detects a connection', async () => {
    const script = "fetch('http://192.0.2.1/').catch(() => {})";
    await run(process.execPath, ['-e', script], { cwd: root, env: closed });
    expect(readFileSync(left, 'utf8')).toBe('192.0.2.1\n');
    writeFileSync(left, '');
  });

  it('every step of the workflow succeeds', async () => {
    const workflow = load(readFileSync(join(directory, '.github/workflows/ci.yml'), 'utf8')) as {
      jobs: { check: { env: { readonly [name: string]: string }; steps: readonly Step[] } };
    };
    const { env } = workflow.jobs.check;
    const all = workflow.jobs.check.steps;
    const steps = all.flatMap((step) => (step.run === undefined || step.if ? [] : step.run));
    const [install, ...others] = steps;
    expect(install).toBe('npm ci');
    expect(others).toHaveLength(3);
    const port = { PORT: String(await freePort()), GITHUB_STEP_SUMMARY: join(root, 'summary.md') };
    for (const step of others) {
      const ran = await run('sh', ['-c', step], { cwd: directory, env: { ...env, ...port, ...closed } });
      expect(ran.status, `${step}\n${ran.stdout}${ran.stderr}`).toBe(0);
    }
    expect(existsSync(left) ? readFileSync(left, 'utf8') : '').toBe('');
  });

  it('the workflow checks the image where what it is built from has changed, and only there', async () => {
    const { jobs } = load(readFileSync(join(directory, '.github/workflows/ci.yml'), 'utf8')) as {
      jobs: { check: { steps: readonly Step[] } };
    };
    const [image, ...others] = jobs.check.steps.filter((step) => step.if !== undefined);
    expect(others).toEqual([]);
    const checkout = join(root, 'checkout');
    const git = (...args: readonly string[]) =>
      run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: checkout });
    mkdirSync(checkout);
    await git('init', '--quiet');
    const commit = async (name: string, text: string) => {
      writeFileSync(join(checkout, name), text);
      await git('add', '--all');
      await git('commit', '--quiet', '--message', name);
    };
    await commit('Dockerfile', 'FROM a');
    await commit('README.md', 'x');
    // In place of the program: whether it is called.
    const npx = join(root, 'called');
    mkdirSync(npx);
    writeFileSync(join(npx, 'npx'), '#!/bin/sh\necho "called $*"\n', { mode: 0o755 });
    const called = async (before: string) => {
      const env = { PATH: `${npx}:${process.env.PATH}`, BEFORE: before };
      return (await run('sh', ['-e', '-c', image?.run ?? ''], { cwd: checkout, env })).stdout.trim();
    };
    expect(await called('HEAD~1')).toBe('');
    await commit('Dockerfile', 'FROM b');
    expect(await called('HEAD~1')).toBe('called market-mcp check --deploy docker');
    expect(await called('0000000000000000000000000000000000000000')).toContain('called');
  });

  it('a request without a recording fails with the command that records it', async () => {
    const kept = readFileSync(join(directory, recordings), 'utf8');
    writeFileSync(join(directory, recordings), '[]');
    try {
      const { report, unitTests } = await proveTools(directory);
      expect(report.ok).toBe(false);
      expect(unitTests.status).not.toBe(0);
      expect(unitTests.stdout + unitTests.stderr).toContain('market-mcp record records the examples');
      for (const id of ['outcome.found', 'submission.succeeds']) {
        const problems = report.rules.find((rule) => rule.id === id)?.problems ?? [];
        expect(problems.length, id).toBeGreaterThan(0);
        for (const { actual, fix } of problems) {
          expect(actual).toContain(
            'There is no recording of GET /gas/{chain}: make one with market-mcp record.',
          );
          expect(fix).toContain('market-mcp record, with --call <tool> if the tool may change something');
        }
      }
      const another = ['add-tool', 'other', '--yes', '--output', 'n:number A number', '--json'];
      const added = await succeeded(market(another, { cwd: directory }));
      const result = JSON.parse(added.stdout);
      expect(result.ok).toBe(true);
      expect(result.selfCheck.failed).toBeGreaterThan(0);
      await market(['remove-tool', 'other', '--yes', '--no-check'], { cwd: directory });
    } finally {
      writeFileSync(join(directory, recordings), kept);
    }
  });
});
