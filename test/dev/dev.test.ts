import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { Terminal } from '../e2e/terminal.ts';
import { keys } from '../keys.ts';
import { freePort } from '../ports.ts';
import { run } from '../runtime/built.ts';
import { generatedProject, market } from './project.ts';

let project: Awaited<ReturnType<typeof generatedProject>>;
beforeAll(async () => {
  project = await generatedProject({ tool: 'get_price', input: ['symbol:string=BTC Symbol'] });
});
afterAll(() => project.remove());

const within = { timeout: 120_000 };
const command = (name: string, env: Record<string, string> = {}, args: readonly string[] = []) =>
  run(project.directory, market, env, [name, ...args]);
const key = () => path.join(project.directory, '.local/platform-key.pem');

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

async function request(port: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { result: { tools: { name: string }[] } },
  };
}

async function sessionAt(port: string) {
  const { headers } = await request(port, initialize);
  return { 'mcp-session-id': String(headers.get('mcp-session-id')) };
}

/** Writes the project's `.env` for this test. */
function writeEnv(text: string): string {
  const file = path.join(project.directory, '.env');
  writeFileSync(file, text);
  onTestFinished(() => rmSync(file, { force: true }));
  return file;
}

/** Changes the source of the tool for this test. @returns the source, changed and as it was, and what changes it again */
function replaceInTool(text: string, other: string) {
  const file = path.join(project.directory, 'src/tools/get-price.ts');
  const original = readFileSync(file, 'utf8');
  onTestFinished(() => writeFileSync(file, original));
  expect(original).toContain(text);
  const write = (source: string) => writeFileSync(file, source);
  const source = original.replace(text, other);
  write(source);
  return { original, source, write };
}

/** A `dev` whose server listens. */
async function serving(given: Record<string, string> = {}, args: readonly string[] = []) {
  const env = { PORT: String(await freePort()), HOST: '127.0.0.1', ...given };
  const dev = command('dev', env, args);
  const starts = () => dev.output.stdout.split('"listening"').length - 1;
  await vi.waitUntil(() => starts() === 1, within);
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    dev.child.kill(signal);
    expect(await dev.exit).toMatchObject({ code: 0 });
  };
  return { ...dev, env, starts, end };
}

/** A directory with the programs that npm finds in an installed project. */
function binaries(): string {
  const directory = path.join(project.directory, '.local/bin');
  mkdirSync(directory, { recursive: true });
  rmSync(path.join(directory, 'market-mcp'), { force: true });
  symlinkSync(market, path.join(directory, 'market-mcp'));
  return directory;
}

function isAnswering(port: string): Promise<boolean> {
  const limits = { signal: AbortSignal.timeout(60_000) };
  return fetch(`http://127.0.0.1:${port}/health`, limits).then(
    ({ ok }) => ok,
    () => false,
  );
}

function isListening(port: string): Promise<boolean> {
  const socket = connect(Number(port), '127.0.0.1');
  const connected = once(socket, 'connect').then(
    () => true,
    () => false,
  );
  return connected.finally(() => socket.destroy());
}

describe('dev and token', () => {
  test('refuse to run in production', async () => {
    for (const name of ['dev', 'token']) {
      const { code, stderr } = await command(name, { NODE_ENV: 'production' }).exit;
      expect(code).toBe(2);
      expect(stderr).toContain('NODE_ENV is production, but the local platform is only for development');
    }
    expect(existsSync(key())).toBe(false);
  });

  test.each([
    ['is a directory', (file: string) => mkdirSync(file), '.env cannot be read'],
    ['holds a wrong port', (file: string) => writeFileSync(file, 'PORT=eighty\n'), 'PORT: expected a whole'],
    [
      'is production',
      (file: string) => writeFileSync(file, 'NODE_ENV=production\n'),
      'NODE_ENV is production',
    ],
  ])('report that .env %s', async (_, make, what) => {
    const file = path.join(project.directory, '.env');
    make(file);
    onTestFinished(() => rmSync(file, { recursive: true }));
    for (const name of ['dev', 'token']) {
      const { code, stdout, stderr } = await command(name).exit;
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(what);
      expect(stderr).not.toMatch(/\n {4}at /);
    }
  });

  test('dev serves with authentication, and the pasted output of token works', async () => {
    const { env, output, end } = await serving();
    expect(statSync(key()).mode & 0o777).toBe(0o600);
    const call = { method: 'tools/call', params: { name: 'get_price' } };
    expect((await request(env.PORT, call, await sessionAt(env.PORT))).status).toBe(401);
    const refusal = '"event":"refused","reason":"no token: expected authorization: Bearer <token>"';
    await vi.waitUntil(() => output.stdout.includes(refusal), within);

    for (const args of [[], ['get_price']]) {
      const { code, stdout } = await command('token', env, args).exit;
      expect(code).toBe(0);
      const { result } = JSON.parse(execFileSync('sh', ['-c', stdout], { encoding: 'utf8' }));
      expect(result).toMatchObject({ structuredContent: { name: expect.any(String) } });
    }
    const { stdout } = await command('token', env, ['--json']).exit;
    const { tool, token, commands } = JSON.parse(stdout);
    expect(tool).toBe('get_price');
    expect(commands).toContain(token);
    const long = await command('token', env, ['--ttl', '90', '--json']).exit;
    const { exp, iat } = decodeJwt(JSON.parse(long.stdout).token);
    expect(Number(exp) - Number(iat)).toBe(90);
    const limit = 10 * generic.token.lifetimeSeconds;
    const longest = await command('token', env, ['--ttl', String(limit)]).exit;
    const { result } = JSON.parse(execFileSync('sh', ['-c', longest.stdout], { encoding: 'utf8' }));
    expect(result).toMatchObject({ structuredContent: { name: expect.any(String) } });
    for (const [args, what] of [
      [['--ttl', String(limit + 1)], `is longer than the server accepts (${limit} seconds)`],
      [['--ttl', 'ever'], '--ttl "ever"'],
      [['get_price', 'more'], 'too many arguments'],
      [['--lasting'], "unknown option '--lasting'"],
    ] as const) {
      const refused = await command('token', env, args).exit;
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(what) });
    }
    const unknown = await command('token', env, ['get_prise']).exit;
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean get_price?') });

    await end('SIGINT');
    await expect(sessionAt(env.PORT)).rejects.toThrow();
  });

  test('dev prints its address on a terminal, and ends on Ctrl-C', async () => {
    const env = { PORT: String(await freePort()) };
    const terminal = new Terminal(process.execPath, [market, 'dev'], { cwd: project.directory, env });
    await terminal.waitFor(`Serving at http://localhost:${env.PORT}/mcp`);
    terminal.press(keys.ctrlC);
    expect(await terminal.ended).toBe(0);
  });

  describe('at a terminal of 80 columns', () => {
    /** Runs dev and, once it serves, the calls with these symbols. */
    async function shown(args: readonly string[], ...symbols: readonly unknown[]): Promise<Terminal> {
      const throws = [
        "console.log('asked for', { symbol: input.symbol });",
        "if (input.symbol === 'XTS') throw new TypeError('no price');",
        "if (input.symbol === 'XXX') {",
        "  console.error(new RangeError('it is closed'));",
        "  return fail('CLOSED', 'The exchange is closed.');",
        '}',
      ].join('\n    ');
      replaceInTool('{ found, empty, signal }', '{ found, empty, fail, signal }');
      replaceInTool(
        'const answer = await source.read(input, signal);',
        `${throws}\n    const answer = await source.read(input, signal);`,
      );
      const env = { PORT: String(await freePort()), HOST: '127.0.0.1' };
      const terminal = new Terminal(process.execPath, [market, 'dev', '--page-port', '0', ...args], {
        cwd: project.directory,
        env,
        columns: 80,
      });
      onTestFinished(async () => {
        terminal.press(keys.ctrlC);
        await terminal.ended;
      });
      await terminal.waitFor('Serving at');
      for (const symbol of symbols)
        await command('call', env, ['get_price', JSON.stringify({ symbol })]).exit;
      return terminal;
    }
    const place = (code = 'throw new TypeError') => {
      const lines = readFileSync(path.join(project.directory, 'src/tools/get-price.ts'), 'utf8').split('\n');
      return `src/tools/get-price.ts:${lines.findIndex((line) => line.includes(code)) + 1}`;
    };

    test.each([[[]], [['--no-marketplace']]])('dev %j shows a line for each call', async (args) => {
      const terminal = await shown(args, 'BTC', 'XTS');
      await terminal.waitFor('Correct src/tools');
      const text = terminal.text.replaceAll('\r', '');
      expect(text).toMatch(
        /^asked for \{ symbol: 'BTC' \}\n\d\d:\d\d:\d\d {2}get_price {2}found {2}\d+ ms$/m,
      );
      expect(text).toMatch(
        /^asked for \{ symbol: 'XTS' \}\n[\d:]{8} {2}get_price {2}failed INTERNAL_ERROR {2}\d+ ms\n {2}error {3}TypeError: no price\n/m,
      );
      expect(text).toContain(`\n  at      ${place()}\n  fix     Correct ${place()}.`);
      expect(text).not.toContain('"event"');
    });

    test('dev names the place of an error that the tool prints, which has colors at a terminal', async () => {
      const terminal = await shown([], 'XXX');
      await terminal.waitFor('failed CLOSED');
      await terminal.waitFor(`at      ${place('new RangeError')}`);
      await terminal.waitFor(`fix     Correct ${place('new RangeError')}.`);
    });

    test('dev names a wrong argument, which only the answer does', async () => {
      const terminal = await shown([], 7);
      await terminal.waitFor('failed INVALID_ARGUMENTS');
      await terminal.waitFor('error   arguments.symbol: must be string, got 7');
      await terminal.waitFor('fix     Send arguments that match the inputSchema.');
    });

    test('dev --raw-log shows the log as it is', async () => {
      const terminal = await shown(['--raw-log'], 'BTC');
      await terminal.waitFor('"event":"listening"');
      await terminal.waitFor("asked for { symbol: 'BTC' }");
      await terminal.waitFor('"event":"call","tool":"get_price"');
      expect(terminal.text).not.toContain('get_price  found');
    });
  });

  test('dev restarts after a change and keeps the last good build after an error', async () => {
    const { env, output, starts, end } = await serving();
    const { original, write } = replaceInTool("name: 'get_price'", 'name: 7');
    await vi.waitUntil(() => output.stdout.includes('The last good build keeps running.'), within);
    await vi.waitUntil(() => output.stderr.includes('error TS'), within);
    expect(starts()).toBe(1);
    write(original.replace("name: 'get_price'", "name: 'renamed'"));
    await vi.waitUntil(() => starts() === 2, within);
    const { body } = await request(env.PORT, { method: 'tools/list', params: {} }, await sessionAt(env.PORT));
    expect(body.result.tools[0]?.name).toBe('renamed');
    await end('SIGHUP');
    await expect(sessionAt(env.PORT)).rejects.toThrow();
  });

  test('dev waits for a source that compiles', async () => {
    const env = { PORT: String(await freePort()), HOST: '127.0.0.1' };
    const { original, write } = replaceInTool("name: 'get_price'", 'name: 7');
    const { child, exit, output } = command('dev', env);
    await vi.waitUntil(() => output.stdout.includes('The code does not compile.'), within);
    write(original);
    await vi.waitUntil(() => output.stdout.includes('listening'), within);
    child.kill('SIGTERM');
    expect(await exit).toMatchObject({ code: 0 });
  });

  test('dev --inspect lets a debugger attach at the port in .vscode/launch.json', async () => {
    const launch = readFileSync(path.join(project.directory, '.vscode/launch.json'), 'utf8');
    const attach = JSON.parse(launch).configurations.find(
      ({ request }: { request: string }) => request === 'attach',
    );
    expect(attach).toMatchObject({ address: '127.0.0.1', port: 9229, restart: true });
    const port = String(await freePort());
    const { env, output, end } = await serving({}, ['--inspect', port]);
    const targets = async () => (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    expect(await targets()).toMatchObject([{ title: 'dist/src/main.js' }]);
    const listening = `Debugger listening on ws://127.0.0.1:${port}/`;
    await vi.waitUntil(() => output.stderr.includes(listening), within);
    await end();
    for (const wrong of ['0', 'x', '70000']) {
      const refused = await command('dev', env, ['--inspect', wrong]).exit;
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`--inspect "${wrong}"`) });
    }
  });

  test.each([
    ['the environment', { AUTH: 'off' }, undefined],
    ['.env', undefined, 'AUTH=off\n'],
  ])('AUTH=off in %s disables the token check', async (_, given, text) => {
    if (text !== undefined) writeEnv(text);
    const { env, output, end } = await serving(given);
    await vi.waitUntil(() => output.stdout.includes('AUTH is off'), within);
    const call = { method: 'tools/call', params: { name: 'get_price' } };
    expect((await request(env.PORT, call, await sessionAt(env.PORT))).status).toBe(200);
    await end();
  });

  test('a change of .env restarts the server, an invalid one does not', async () => {
    const port = await freePort();
    const file = writeEnv(`PORT=${port}\nMAX_BODY_BYTES=5000\n`);
    const { child, exit, output } = command('dev', { HOST: '127.0.0.1' });
    const starts = () => output.stdout.split('"listening"').length - 1;
    await vi.waitUntil(() => starts() === 1, within);
    const long = { method: 'ping', params: { text: 'x'.repeat(3_000) } };
    const session = await sessionAt(String(port));
    expect((await request(String(port), long, session)).status).toBe(200);
    writeFileSync(file, `PORT=${port}\nMAX_BODY_BYTES=2000\n`);
    await vi.waitUntil(() => starts() === 2, within);
    expect((await request(String(port), long, session)).status).toBe(413);
    const asked = JSON.parse((await command('token', {}, ['--ttl', '86400', '--json']).exit).stdout).error;
    expect(asked.hint).toContain('or set MAX_TOKEN_SECONDS=86400 in .env');
    writeFileSync(file, `PORT=${port + 1}\nMAX_BODY_BYTES=5000\n`);
    await vi.waitUntil(() => output.stdout.includes('Restart the command to use the new port.'), within);
    await expect
      .poll(() => output.stdout)
      .toContain(
        `PORT was changed, so the server would move from http://localhost:${port}/mcp to http://localhost:${port + 1}/mcp`,
      );
    expect((await request(String(port), long, session)).status).toBe(413);
    writeFileSync(file, 'NODE_ENV=production\n');
    await vi.waitUntil(() => output.stdout.includes('The server keeps running with the old values'), within);
    expect((await request(String(port), long, session)).status).toBe(413);
    child.kill('SIGTERM');
    expect(await exit).toMatchObject({ code: 0 });
  });

  test('dev --no-marketplace follows PORT in .env, and token names the new address', async () => {
    const [port, next] = [String(await freePort()), String(await freePort())];
    const file = writeEnv(`PORT=${port}\n`);
    const { child, exit, output } = command('dev', { HOST: '127.0.0.1' }, ['--no-marketplace']);
    await vi.waitUntil(() => output.stdout.includes('listening'), within);
    await sessionAt(port);
    writeFileSync(file, `PORT=${next}\n`);
    await vi.waitUntil(() => isAnswering(next), within);
    expect(await isListening(port)).toBe(false);
    const { stdout } = await command('token', {}).exit;
    expect(stdout).toContain(`http://localhost:${next}/mcp`);
    const { result } = JSON.parse(execFileSync('sh', ['-c', stdout], { encoding: 'utf8' }));
    expect(result).toMatchObject({ structuredContent: { name: expect.any(String) } });
    child.kill('SIGTERM');
    expect(await exit).toMatchObject({ code: 0 });
  });

  test('dev ends the server when it can no longer read the sources', async () => {
    const { env, exit } = await serving({}, ['--no-marketplace']);
    const sources = path.join(project.directory, 'src');
    renameSync(sources, `${sources}-elsewhere`);
    onTestFinished(() => renameSync(`${sources}-elsewhere`, sources));
    const { code, stderr } = await exit;
    expect({ code, stderr }).toEqual({ code: expect.any(Number), stderr: expect.stringContaining(sources) });
    expect(code).not.toBe(0);
    expect(await isListening(env.PORT)).toBe(false);
  });

  test('dev does not report a running server after a failed start and a change of PORT', async () => {
    const port = await freePort();
    const taken = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void taken.close());
    const file = writeEnv(`PORT=${port}\n`);
    const { child, exit, output } = command('dev', { HOST: '127.0.0.1' });
    await vi.waitUntil(() => output.stdout.includes('The server ended with code 1'), within);
    writeFileSync(file, `PORT=${await freePort()}\n`);
    const told = 'The server stays stopped. Restart the command to use the new port.';
    await vi.waitUntil(() => output.stdout.includes(told), within);
    child.kill('SIGTERM');
    expect(await exit).toMatchObject({ code: 0 });
  });

  test('dev ends a server that is in an endless loop', async () => {
    replaceInTool('return samples', 'while (input.symbol);\n    return samples');
    const { env, end } = await serving({ AUTH: 'off' });
    const session = await sessionAt(env.PORT);
    request(env.PORT, { method: 'tools/call', params: { name: 'get_price' } }, session).catch(() => {});
    await vi.waitUntil(async () => !(await isAnswering(env.PORT)), within);
    await end();
    await expect(sessionAt(env.PORT)).rejects.toThrow();
  });

  // On Ctrl-C, a terminal sends SIGINT to all foreground processes; npm alone ignores it.
  test.each([
    ['SIGTERM', 'npm'],
    ['SIGHUP', 'npm'],
    ['SIGKILL', 'npm'],
    ['SIGINT', 'its process group'],
  ] as const)('%s to %s ends the server as well', async (signal, whom) => {
    const env = { PORT: String(await freePort()), HOST: '127.0.0.1' };
    const child = spawn('npm', ['run', 'dev'], {
      cwd: project.directory,
      env: { ...process.env, ...env, PATH: `${binaries()}:${process.env.PATH}` },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    child.stdout.on('data', (text) => {
      told += text;
    });
    await vi.waitUntil(() => told.includes('"listening"'), within);
    const { pid = 0 } = child;
    process.kill(whom === 'npm' ? pid : -pid, signal);
    await vi.waitUntil(async () => !(await isListening(env.PORT)), within);
  });

  test.each([
    ['market-mcp dev', process.execPath, [market, 'dev']],
    ['npm run dev', 'npm', ['run', 'dev']],
  ])('NODE_OPTIONS=--inspect %s lets a debugger attach to the server', async (_, program, args) => {
    const port = await freePort();
    const child = spawn(program, args, {
      cwd: project.directory,
      env: {
        ...process.env,
        PORT: String(await freePort()),
        HOST: '127.0.0.1',
        NODE_OPTIONS: `--inspect=127.0.0.1:${port}`,
        PATH: `${binaries()}:${process.env.PATH}`,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    let told = '';
    child.stdout.on('data', (text) => {
      told += text;
    });
    await vi.waitUntil(() => told.includes('"listening"'), within);
    const [, used] = /attach it to the server at 127\.0\.0\.1:(\d+)/.exec(told) ?? [];
    const targets = await (await fetch(`http://127.0.0.1:${used}/json/list`)).json();
    expect(targets).toMatchObject([{ title: 'dist/src/main.js' }]);
    child.kill('SIGTERM');
    await exit;
  });

  test('every script, program and path in .vscode/launch.json exists', async () => {
    const read = (file: string) => JSON.parse(readFileSync(path.join(project.directory, file), 'utf8'));
    const { scripts } = read('package.json');
    const { configurations } = read('.vscode/launch.json');
    execFileSync(process.execPath, [path.join(project.directory, 'node_modules/typescript/bin/tsc')], {
      cwd: project.directory,
    });
    for (const { runtimeExecutable, runtimeArgs, outFiles, name } of configurations) {
      if (runtimeExecutable !== undefined) {
        execFileSync(runtimeExecutable, ['--version']);
        expect(runtimeArgs[0]).toBe('run');
        expect(scripts).toHaveProperty(runtimeArgs[1]);
      }
      for (const pattern of outFiles) {
        const [folder] = pattern.replace('${workspaceFolder}', project.directory).split('/**');
        expect(existsSync(path.join(folder, 'src/main.js')), `${name}: ${pattern}`).toBe(true);
      }
    }
  });

  test('a stack trace names the source line', async () => {
    const thrown = "throw new Error('no source');";
    const { source } = replaceInTool('return samples', `if (Date.now() > 0) ${thrown}\n    return samples`);
    const line = source.split('\n').findIndex((line) => line.includes(thrown)) + 1;
    const { env, output, end } = await serving();
    const { stdout } = await command('token', env).exit;
    execFileSync('sh', ['-c', stdout]);
    await expect.poll(() => output.stdout, within).toContain('no source');
    await expect.poll(() => output.stdout).toContain(`src/tools/get-price.ts:${line}:`);
    await end();
  });
});
