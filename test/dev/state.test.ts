import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { processEntry, publishedState } from '../../src/dev/published-state.ts';
import type { StateKind } from '../../src/dev/state.ts';
import type { Access } from '../../src/marketplace/core/page-access.ts';
import { openLocalMarketplace } from '../../src/marketplace/local.ts';
import { findRunningMarketplace, requestJson } from '../../src/marketplace/running-marketplace.ts';
import { portOwner } from '../../src/system/ports.ts';
import { startApi } from '../api-server.ts';
import { freePort } from '../ports.ts';
import { run } from '../runtime/built.ts';
import { generatedProject, market, repository, untilState as untilStateOf } from './project.ts';

let project: Awaited<ReturnType<typeof generatedProject>>;
let original: string;
const at = (path: string) => join(project.directory, path);
const toolFile = 'src/tools/get-price.ts';
const gate = 'hold-compiler';

beforeAll(async () => {
  project = await generatedProject({
    platform: 'context',
    tool: 'get_price',
    description: ['Returns the last price of one coin. Use it when a question names a coin.'],
    input: ['symbol:string=BTC Ticker of the coin'],
    output: ['price:number Last price in US dollars'],
  });
  original = readFileSync(at(toolFile), 'utf8');
  mkdirSync(at('.market-mcp'), { mode: 0o700 });
  compilerBehindGate();
});
afterAll(() => project.remove());

/** The real compiler, which waits while the file of the gate exists. */
function compilerBehindGate(): void {
  const modules = join(repository, 'node_modules');
  rmSync(at('node_modules'));
  mkdirSync(at('node_modules/typescript/bin'), { recursive: true });
  for (const name of readdirSync(modules)) {
    if (name !== 'typescript') symlinkSync(join(modules, name), at(`node_modules/${name}`));
  }
  writeFileSync(at('node_modules/typescript/package.json'), '{"name":"typescript","version":"5.0.0"}');
  const compiler = JSON.stringify(join(modules, 'typescript/bin/tsc'));
  const waiting = `const { existsSync, watch } = require('node:fs');
const opened = () => !existsSync(${JSON.stringify(at(gate))});
const watcher = watch(${JSON.stringify(project.directory)}, go);
let gone = false;
function go() {
  if (gone || !opened()) return;
  gone = true;
  watcher.close();
  require(${compiler});
}
go();
`;
  writeFileSync(at('node_modules/typescript/bin/tsc'), waiting);
}

const untilState = (kind: StateKind) => untilStateOf(project.directory, kind);

/** Commands in a second terminal: PORT is not set there. */
const market2 = (...args: readonly string[]) => run(project.directory, market, {}, args).exit;

function appended(code: string): void {
  writeFileSync(at(toolFile), `${original}${code}\n`);
}

/** The line of code that `appended` adds. */
const line = () => original.split('\n').length;

async function startDev(port: number, ...args: readonly string[]) {
  const env = { PORT: String(port), HOST: '127.0.0.1' };
  return run(project.directory, market, env, ['dev', ...(args.length > 0 ? args : ['--page-port', '0'])]);
}

async function page(access: Access, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${access.secret}`, accept: 'text/html' };
  const text = await (await fetch(`${access.url}${path}`, { headers })).text();
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}

/** A started `dev`, or what stands for it, and its output so far. */
type Started = Awaited<ReturnType<typeof startDev>>;

interface Row {
  readonly kind: StateKind;
  /** Brings the server into the state. */
  readonly enter: (port: number) => Promise<Started>;
  /** What each place says; the exit codes of call and token. */
  readonly says: (port: number) => readonly string[];
  readonly codes: { readonly call: number; readonly token: number };
  /** What `dev` has said while nothing is wrong, and not yet; in all other states, what every place says. */
  readonly dev?: { readonly says: (port: number) => string; readonly isSaid: boolean };
  /** Ends the state while the commands wait. */
  readonly release?: () => void;
}

/** The line of a server that runs. */
const listening = (port: number) => `"host":"127.0.0.1","port":${port},`;

/** Waits for words of a command. */
async function untilSaid({ child, output }: Started, words: string): Promise<void> {
  while (!output.stdout.includes(words)) await once(child.stdout, 'data');
}

const untilListening = async (port: number) => {
  const dev = await startDev(port);
  await untilState('running');
  return dev;
};

const rows: readonly Row[] = [
  {
    kind: 'never-started',
    enter: async (port) => {
      const dev = await startDev(port, '--no-marketplace');
      await untilState('running');
      const pages = run(project.directory, market, {}, ['marketplace', '--page-port', '0']);
      await once(pages.child.stdout, 'data');
      dev.child.kill('SIGKILL');
      await dev.exit; // and its server, which has the same output
      return pages;
    },
    says: () => ['The server of this project is not running.', 'Start it: npm run dev.'],
    codes: { call: 3, token: 0 },
    dev: { says: listening, isSaid: false },
  },
  {
    kind: 'building',
    enter: async (port) => {
      writeFileSync(at(gate), '');
      const dev = await startDev(port);
      await Promise.all([untilState('building'), once(dev.child.stdout, 'data')]);
      return dev;
    },
    says: () => ['The server is being built and started.'],
    codes: { call: 0, token: 0 },
    dev: { says: listening, isSaid: false },
    release: () => rmSync(at(gate)),
  },
  {
    kind: 'compile-error',
    enter: async (port) => {
      appended("const wrong: number = 'text';");
      return startDev(port);
    },
    says: () => [
      'The code does not compile.',
      `${toolFile}:${line()} TS2322: Type 'string' is not assignable to type 'number'.`,
      'Correct it, and dev starts the server.',
    ],
    codes: { call: 3, token: 3 },
  },
  {
    kind: 'old-build',
    enter: async (port) => {
      const dev = await untilListening(port);
      appended("const wrong: number = 'text';");
      return dev;
    },
    says: () => [
      'The code does not compile. The last good build keeps running.',
      `${toolFile}:${line()} TS2322: Type 'string' is not assignable to type 'number'.`,
      'until then, the old build answers',
    ],
    codes: { call: 0, token: 0 },
  },
  {
    kind: 'variable-missing',
    enter: async (port) => {
      appended(
        "import { defineEnv, secret } from 'market-mcp-runtime/env';\ndefineEnv({ GAS_KEY: secret('Key of the gas API') });",
      );
      return startDev(port);
    },
    says: () => ['The server cannot start: a variable is missing or invalid.', 'GAS_KEY', 'in the file .env'],
    codes: { call: 3, token: 3 },
  },
  {
    kind: 'load-error',
    enter: async (port) => {
      appended("throw new TypeError('no table');");
      return startDev(port);
    },
    says: () => [
      'The server cannot start: an error is thrown while its code is loaded.',
      'TypeError: no table',
      `Correct ${toolFile}:${line()}.`,
    ],
    codes: { call: 3, token: 3 },
  },
  {
    kind: 'port-taken',
    enter: async (port) => {
      const other = createServer((_, response) => response.end('{"server":"other"}'));
      await once(other.listen(port, '127.0.0.1'), 'listening');
      onTestFinished(() => {
        other.closeAllConnections();
        other.close();
      });
      return startDev(port);
    },
    says: (port) => [`Port ${port} is taken by`, `(pid ${process.pid})`, 'set PORT to a free port'],
    codes: { call: 3, token: 3 },
  },
  {
    kind: 'ended',
    enter: async (port) => {
      appended("process.on('SIGUSR2', () => { throw new RangeError('too late'); });");
      const dev = await untilListening(port);
      const [, pid] = /pid (\d+)/.exec(await portOwner(port)) ?? [];
      process.kill(Number(pid), 'SIGUSR2');
      return dev;
    },
    says: () => ['The server ended with code 1.', 'RangeError: too late', `Correct ${toolFile}:${line()}.`],
    codes: { call: 3, token: 3 },
  },
  {
    kind: 'running',
    enter: untilListening,
    says: () => [],
    codes: { call: 0, token: 0 },
    dev: { says: listening, isSaid: true },
  },
];

test.each(rows)(
  '$kind is what every command and page says',
  async ({ kind, enter, says, codes, dev: own, release }) => {
    onTestFinished(() => {
      writeFileSync(at(toolFile), original);
      rmSync(at(gate), { force: true });
    });
    const port = await freePort();
    const dev = await enter(port);
    await untilState(kind);
    const access = await findRunningMarketplace(project.directory);
    if (!access) throw new Error('no marketplace runs');

    const expected = says(port);
    const missingIn = (text: string) => expected.filter((words) => !text.includes(words));
    const paths = { Home: '/', Try: '/try', Check: '/check', Register: '/register' };
    const pages = await Promise.all(
      Object.entries(paths).map(async ([name, path]) => [name, missingIn(await page(access, path))] as const),
    );
    expect(Object.fromEntries(pages)).toEqual({ Home: [], Try: [], Check: [], Register: [] });
    const everything = (await Promise.all(Object.values(paths).map((path) => page(access, path)))).join();
    expect(everything).not.toMatch(
      /ECONNREFUSED|the server does not start|Start the server with npm run dev/,
    );
    if (kind === 'running') expect(everything).not.toContain('class="notice fail"');
    const home = JSON.parse(await page(access, '/state.json')) as { readonly state: unknown };
    expect(home).toMatchObject({ state: { kind } });

    // What the forms of the pages send gets the same answer.
    const post = (path: string, body: object) =>
      requestJson(access, path, { ...body, endpoint: `http://localhost:${port}/mcp` }).catch(
        ({ message, hint }) => `${message} ${hint}`,
      );
    if (codes.call !== 0) {
      const form = { name: 'Prices', description: 'Prices', category: 'Utility', price: '0.01' };
      expect(missingIn(String(await post('/try.json', { tool: 'get_price', arguments: {} })))).toEqual([]);
      expect(missingIn(String(await post('/register.json', form)))).toEqual([]);
    }
    if (['compile-error', 'variable-missing', 'load-error'].includes(kind))
      expect(missingIn(String(await post('/check.json', {})))).toEqual([]);

    const commands = [
      market2('call', 'get_price'),
      market2('call', 'get_price', '--json'),
      market2('token', '--json'),
      market2('token'),
    ];
    if (own?.isSaid) await untilSaid(dev, own.says(port));
    else if (own) expect(dev.output.stdout).not.toContain(own.says(port));
    release?.();
    const [call, json, token, tokenText] = await Promise.all(commands);
    const ended = [call, json, token, tokenText].map((ran) => ran?.code);
    expect(ended).toEqual([codes.call, codes.call, codes.token, codes.token]);
    // A command waits while the server is built.
    const shown = kind === 'building' ? [] : expected;
    const both = (ran: typeof call) => `${ran?.stdout}${ran?.stderr}`;
    expect(shown.filter((words) => !both(call).includes(words))).toEqual([]);
    if (codes.call === 0) expect(call?.stdout).toContain('get_price  found');
    const answer = JSON.parse(json?.stdout || '{}');
    const state = codes.call === 0 ? answer.state : answer.error.state;
    expect(state).toMatchObject({ kind: kind === 'building' ? 'running' : kind });
    expect(shown.filter((words) => !JSON.stringify(state).replaceAll('\\"', '"').includes(words))).toEqual(
      [],
    );
    const printed = JSON.parse(token?.stdout || '{}');
    if (codes.token === 0 && kind !== 'never-started')
      expect(printed).toMatchObject({ url: `http://localhost:${port}/mcp` });
    if (codes.token !== 0) expect(printed.error.state).toMatchObject({ kind });
    // Its text has the token for the server of this project, or the cause alone.
    if (codes.token !== 0) expect(missingIn(tokenText?.stderr ?? '')).toEqual([]);
    expect(tokenText?.stdout ?? '').toMatch(codes.token === 0 ? /^TOKEN=[\w-]+\.[\w-]+\.[\w-]+$/m : /^$/);
    if (codes.token === 0 && kind !== 'never-started')
      expect(tokenText?.stdout).toContain(`curl -sS http://localhost:${port}/mcp `);

    if (kind === 'building') await untilSaid(dev, listening(port));
    if (!own) {
      const output = `${dev.output.stdout}${dev.output.stderr}`.replaceAll(/\((\d+),\d+\): error/g, ':$1');
      expect(expected.filter((words) => !output.includes(words))).toEqual([]);
    }
    expect(existsSync(at('.market-mcp/server.json'))).toBe(true);
    expect(statSync(at('.market-mcp/server.json')).mode & 0o777).toBe(0o600);
    dev.child.kill('SIGTERM');
    expect(await dev.exit).toMatchObject({ code: 0 });
    expect(publishedState(project.directory).kind).toBe('never-started');
  },
);

test('a dev that was killed keeps no new one from its state', async () => {
  const port = await freePort();
  const killed = await startDev(port, '--no-marketplace');
  await untilState('running');
  killed.child.kill('SIGKILL');
  await killed.exit; // and its server, which has the same output
  expect(publishedState(project.directory)).toMatchObject({ kind: 'never-started' });
  const next = await untilListening(port);
  await untilSaid(next, listening(port));
  next.child.kill('SIGTERM');
  await next.exit;
});

test.runIf(process.platform === 'linux')(
  'the state of a process whose number another one has got is not believed',
  async () => {
    const dev = await startDev(await freePort(), '--no-marketplace');
    await untilState('running');
    const file = at('.market-mcp/server.json');
    const note = JSON.parse(readFileSync(file, 'utf8'));
    dev.child.kill('SIGKILL');
    await dev.exit;
    const other = run(project.directory, '-e', {}, ['setInterval(() => {}, 1_000_000); console.log(1)']);
    await once(other.child.stdout, 'data');
    const { pid = 0 } = other.child;
    writeFileSync(file, JSON.stringify({ ...note, pid }), { mode: 0o600 });
    expect(publishedState(project.directory).kind).toBe('never-started');
    // The number alone does not decide: the same process is believed.
    writeFileSync(file, JSON.stringify({ ...note, pid, started: processEntry(pid)?.started }));
    expect(publishedState(project.directory).kind).toBe('running');
  },
);

test.each([
  ['{"status":"ok","server":"other"}', 'the server "other"'],
  ['<html>', 'another program'],
])('where /proc names no owner of a port, /health does: %s', async (health, owner) => {
  const { origin, requests } = await startApi(() => ({ body: health }));
  const port = Number(new URL(origin).port);
  expect(await portOwner(port, join(project.directory, 'no-such-directory'))).toBe(owner);
  expect(requests.map(({ target }) => target)).toEqual(['/health']);
});

test('a second dev does not hide the first one', async () => {
  const port = await freePort();
  const first = await untilListening(port);
  const second = await startDev(port, '--no-marketplace');
  await once(second.child.stdout, 'data');
  expect(publishedState(project.directory)).toMatchObject({ kind: 'running' });
  for (const { child } of [first, second]) child.kill('SIGTERM');
  await Promise.all([first.exit, second.exit]);
});

test('a second marketplace does not hide the first one, nor does its end', async () => {
  const first = await untilListening(await freePort());
  const access = await findRunningMarketplace(project.directory);
  expect(access?.url).toMatch(/^http:/);
  const { directory } = project;
  // As a command opens one to which the first has not answered in time.
  const second = await openLocalMarketplace({
    directory,
    keyDirectory: directory,
    profile: context,
    port: 0,
  });
  expect(await findRunningMarketplace(directory)).toEqual(access);
  await second.close();
  expect(await findRunningMarketplace(project.directory)).toEqual(access);
  first.child.kill('SIGTERM');
  await first.exit;
  expect(await findRunningMarketplace(project.directory)).toBeUndefined();
});

test('a tool that is added while dev runs has its source on the pages', async () => {
  const { child, exit } = await untilListening(await freePort());
  const access = await findRunningMarketplace(project.directory);
  if (!access) throw new Error('no marketplace runs');
  expect((await market2('add-tool', 'get_more', '--yes', '--no-check')).code).toBe(0);
  const sources = async () => {
    const { tools } = await requestJson<{ tools: { source: string | null }[] }>(access, '/index.json');
    return tools.map(({ source }) => source);
  };
  await expect.poll(sources).toContain('src/tools/get-more.ts');
  child.kill('SIGTERM');
  await exit;
  expect((await market2('remove-tool', 'get_more', '--yes', '--no-check')).code).toBe(0);
});

test('call without PORT uses a free port if another program has the default one', async () => {
  const other = createServer((_, response) => response.end('{"server":"other"}'));
  const listens = () =>
    once(other.listen(3000, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    );
  // The check of another test has it for seconds, a program of this machine for longer.
  await vi.waitUntil(listens, { timeout: 60_000 }).catch(() => {});
  onTestFinished(() => {
    other.closeAllConnections();
    other.close();
  });
  const { code, stdout } = await market2('call', 'get_price', '--json');
  expect(code).toBe(0);
  const { endpoint, verdict } = JSON.parse(stdout);
  expect(verdict.outcome).toBe('found');
  expect(Number(new URL(endpoint).port)).not.toBe(3000);
  expect((other.address() as AddressInfo | null)?.port ?? 3000).toBe(3000);
});
