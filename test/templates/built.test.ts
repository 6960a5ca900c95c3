import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Terminal } from '../e2e/terminal.ts';
import { keys } from '../keys.ts';
import { buildProject, freePort, run } from './built.ts';
import { audience, issuer, publicKey, RawClient, token } from './support.ts';

let project: ReturnType<typeof buildProject>;
beforeAll(() => {
  project = buildProject();
});
afterAll(() => project.remove());

const live = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: '0',
  PLATFORM_ISSUER: issuer,
  PLATFORM_AUDIENCE: audience,
  PLATFORM_PUBLIC_KEY: publicKey,
};
const patience = { timeout: 20_000 };

/** Starts the built server and waits until it listens. */
async function serve(env: Record<string, string> = {}) {
  const server = run(project.directory, 'dist/src/main.js', { ...live, ...env });
  const events = () =>
    server.output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const listening = await vi.waitUntil(() => events().find(({ event }) => event === 'listening'), patience);
  return { ...server, events, listening, client: new RawClient(`http://127.0.0.1:${listening.port}/mcp`) };
}

describe('main', () => {
  test('serves, with the identity of package.json, and says so', async () => {
    const { listening, client, output } = await serve();
    expect(listening).toMatchObject({ name: 'built', version: '0.0.7', host: '127.0.0.1', tools: 7 });
    const health = await fetch(client.url.replace('/mcp', '/health'));
    expect(await health.json()).toEqual({ status: 'ok', server: 'built', version: '0.0.7' });
    expect((await client.call('get_price')).structuredContent.price).toBe(12.5);
    expect(output.stdout).toContain('SESSION_SECRET is not set');
    expect(output.stderr).toBe('');
  });

  test('finishes running calls after SIGTERM and exits with 0', async () => {
    const { child, exit, output, client, events } = await serve();
    const call = client.call('slow');
    await vi.waitUntil(() => output.stderr.includes('slow runs'), patience);
    child.kill('SIGTERM');
    expect((await call).structuredContent).toEqual({ text: 'late' });
    expect(await exit).toMatchObject({ code: 0 });
    expect(events().map(({ event }) => event)).toEqual(['warning', 'listening', 'stopping', 'call']);
  });

  test('cuts them after the grace period and exits with 0', async () => {
    const { child, exit, output, client } = await serve({ SHUTDOWN_GRACE_MS: '50' });
    const cut = expect(client.call('slow')).rejects.toThrow();
    await vi.waitUntil(() => output.stderr.includes('slow runs'), patience);
    child.kill('SIGINT');
    expect(await exit).toMatchObject({ code: 0 });
    await cut;
  });

  test('outlives a rejection that nobody handles', async () => {
    const { client, events } = await serve();
    expect((await client.call('careless')).structuredContent).toEqual({ text: 'done' });
    await vi.waitUntil(
      () => events().some(({ detail }) => detail?.startsWith('Error: nobody waits for this')),
      patience,
    );
    expect((await client.call('careless')).structuredContent).toEqual({ text: 'done' });
  });

  test('refuses a port in use', async () => {
    const { listening } = await serve();
    const { code, stderr, stdout } = await run(project.directory, 'dist/src/main.js', {
      ...live,
      PORT: String(listening.port),
    }).exit;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `Cannot start.\n- Port ${listening.port} is already in use. Stop the program that uses it, or set PORT to a free port.\n`,
    );
  });

  test.each([
    ['a key', { PLATFORM_PUBLIC_KEY: '' }, ['PLATFORM_JWKS_URL']],
    ['an audience', { PLATFORM_AUDIENCE: '' }, ['PLATFORM_AUDIENCE']],
    ['the gate', { AUTH: 'off' }, ['AUTH']],
    [
      'much',
      { PORT: 'x', PLATFORM_ISSUER: '', SESSION_SECRET: 'hush' },
      ['PORT', 'PLATFORM_ISSUER', 'SESSION_SECRET'],
    ],
  ])('does not start in production without %s', async (_, env, names) => {
    const { code, stderr } = await run(project.directory, 'dist/src/main.js', { ...live, ...env }).exit;
    expect(code).toBe(1);
    expect([...stderr.matchAll(/^- (\w+):/gm)].map(([, name]) => name)).toEqual(names);
    expect(stderr).not.toMatch(/hush|\n {4}at /);
  });

  test('warns on every start with AUTH=off', async () => {
    const { events } = await serve({ NODE_ENV: '', AUTH: 'off' });
    expect(events()[0]).toMatchObject({ event: 'warning', text: expect.stringContaining('without paying') });
  });

  test('reads .env, below what is set', async () => {
    const file = path.join(project.directory, '.env');
    writeFileSync(file, 'SESSION_SECRET=a secret of thirty-two characters\nPORT=1\n');
    onTestFinished(() => rmSync(file));
    const { events, listening } = await serve();
    expect(events()).toHaveLength(1);
    expect(listening.port).toBeGreaterThan(1);
  });
});

describe('the local platform', () => {
  const key = () => path.join(project.directory, '.local/platform-key.pem');

  test('is refused in production', async () => {
    for (const script of ['dist/local/dev.js', 'dist/local/token.js']) {
      const { code, stderr } = await run(project.directory, script, { NODE_ENV: 'production' }).exit;
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'Cannot start.\n- NODE_ENV is production: there is no local platform there.\n',
      });
    }
    expect(existsSync(key())).toBe(false);
  });

  test.each([
    ['a directory', (file: string) => mkdirSync(file), '.env cannot be read'],
    ['a wrong port', (file: string) => writeFileSync(file, 'PORT=eighty\n'), 'PORT: expected a whole number'],
  ])('all programs say that .env is or holds %s', async (_, make, what) => {
    const file = path.join(project.directory, '.env');
    make(file);
    onTestFinished(() => rmSync(file, { recursive: true }));
    for (const script of ['src/main.js', 'local/dev.js', 'local/token.js']) {
      const { code, stdout, stderr } = await run(project.directory, `dist/${script}`).exit;
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(`Cannot start.\n- ${what}`);
      expect(stderr).not.toMatch(/\n {4}at /);
    }
  });

  test('dev serves behind the gate, and what token prints works when pasted', async () => {
    const env = { PORT: String(await freePort()), HOST: '127.0.0.1', AUTH: 'off' };
    const { child, exit, output } = run(project.directory, 'dist/local/dev.js', env);
    await vi.waitUntil(() => output.stdout.includes('listening'), patience);
    expect(output.stdout).not.toContain('AUTH is off');
    expect(statSync(key()).mode & 0o777).toBe(0o600);
    const client = new RawClient(`http://127.0.0.1:${env.PORT}/mcp`);
    const stranger = { ...(await client.session()), authorization: `Bearer ${await token()}` };
    expect((await client.request('tools/call', { name: 'echo' }, stranger)).status).toBe(401);

    const paste = async (...args: string[]) => {
      const { code, stdout } = await run(project.directory, 'dist/local/token.js', env, args).exit;
      expect(code).toBe(0);
      return JSON.parse(execFileSync('sh', ['-c', stdout], { encoding: 'utf8' })).result.structuredContent;
    };
    expect(await paste()).toEqual({ price: 12.5, rows: [{ bid: 1 }] });
    expect(await paste('echo')).toEqual({ text: `O'Brien "$HOME" \`id\` \\ $(id) ! %s 😀\n` });
    const unknown = await run(project.directory, 'dist/local/token.js', env, ['nope']).exit;
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('get_price, echo') });

    child.kill('SIGINT');
    expect(await exit).toMatchObject({ code: 0 });
    await expect(client.session()).rejects.toThrow();
  });

  test('dev tells a person at a terminal where it serves, and ends with Ctrl-C', async () => {
    const env = { PORT: String(await freePort()) };
    const terminal = new Terminal(process.execPath, ['dist/local/dev.js'], { cwd: project.directory, env });
    onTestFinished(() => terminal.kill());
    await terminal.waitFor(`Serving at http://localhost:${env.PORT}/mcp`);
    terminal.press(keys.ctrlC);
    expect(await terminal.ended).toBe(0);
  });

  test('dev starts anew after a change and keeps the last good build after an error', async () => {
    const env = { PORT: String(await freePort()), HOST: '127.0.0.1' };
    const file = path.join(project.directory, 'src/tools/index.ts');
    const original = readFileSync(file, 'utf8');
    onTestFinished(() => writeFileSync(file, original));
    const { child, exit, output } = run(project.directory, 'dist/local/dev.js', env);
    const starts = () => output.stdout.split('"listening"').length - 1;
    await vi.waitUntil(() => starts() === 1, patience);
    writeFileSync(file, original.replace("name: 'get_price'", 'name: 7'));
    await vi.waitUntil(() => output.stderr.includes('the last good build stays up'), patience);
    expect(output.stdout).toContain('error TS');
    expect(starts()).toBe(1);
    writeFileSync(file, original.replace("name: 'get_price'", "name: 'renamed'"));
    await vi.waitUntil(() => starts() === 2, patience);
    const client = new RawClient(`http://127.0.0.1:${env.PORT}/mcp`);
    const { body } = await client.request('tools/list', {}, await client.session());
    expect(body.result.tools[0].name).toBe('renamed');
    child.kill('SIGHUP');
    expect(await exit).toMatchObject({ code: 0 });
    await expect(client.session()).rejects.toThrow();
  });
});
