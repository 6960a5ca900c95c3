import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { version } from '../../src/plan/package-versions.ts';
import { buildProject, run } from './built.ts';
import { serveBuilt } from './serve-built.ts';
import { live } from './support.ts';

let project: ReturnType<typeof buildProject>;
beforeAll(() => {
  project = buildProject();
});
afterAll(() => project.remove());

const within = { timeout: 120_000 };

/** The log lines in the output of a process. */
function lines(text: string) {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The built project with code before its start, as `start.js`, and a `.env`; removed after the test. */
function withModule(code: string, dotEnv = ''): string {
  const script = path.join(project.directory, 'start.js');
  const main = readFileSync(path.join(project.directory, 'dist/src/main.js'), 'utf8');
  writeFileSync(
    script,
    main.replace("'./tools.js'", "'./dist/src/tools.js'").replace('await serve', `${code}\nawait serve`),
  );
  const env = path.join(project.directory, '.env');
  writeFileSync(env, dotEnv);
  onTestFinished(() => {
    for (const file of [script, env]) rmSync(file);
  });
  return project.directory;
}

const serve = (env: Record<string, string> = {}) => serveBuilt(project.directory, { ...live, ...env });

describe('main', () => {
  test('serves with the identity in package.json, and logs it', async () => {
    const { listening, client, output } = await serve();
    expect(listening).toMatchObject({
      name: 'built',
      version: '0.0.7',
      runtime: version,
      host: '127.0.0.1',
      tools: 7,
    });
    const health = await fetch(client.url.replace('/mcp', '/health'));
    expect(await health.json()).toEqual({ status: 'ok', server: 'built', version: '0.0.7' });
    expect((await client.call('get_price')).structuredContent.price).toBe(12.5);
    expect(output.stdout).toContain('SESSION_SECRET is not set');
    expect(output.stderr).toBe('');
  });

  test('finishes running calls after SIGTERM and exits with 0', async () => {
    const { child, exit, output, client, events } = await serve({ SHUTDOWN_GRACE_MS: '600000' });
    const call = client.call('slow');
    await vi.waitUntil(() => output.stderr.includes('slow runs'), within);
    child.kill('SIGTERM');
    expect((await call).structuredContent).toEqual({ text: 'late' });
    expect(await exit).toMatchObject({ code: 0 });
    expect(events().map(({ event }) => event)).toEqual([
      'warning',
      'listening',
      'stopping',
      'call',
      'stopped',
    ]);
  });

  test('survives an unhandled rejection', async () => {
    const { client, events } = await serve();
    expect((await client.call('careless')).structuredContent).toEqual({ text: 'done' });
    await vi.waitUntil(
      () => events().some(({ detail }) => detail?.startsWith('Error: nobody waits for this')),
      within,
    );
    expect((await client.call('careless')).structuredContent).toEqual({ text: 'done' });
  });

  test('logs an error of a tool with its line in the source, and below it those of the runtime', async () => {
    const { client, events } = await serve({ NODE_OPTIONS: '--enable-source-maps' });
    expect((await client.call('throwing')).isError).toBe(true);
    const { detail } = await vi.waitUntil(() => events().find(({ event }) => event === 'incident'), within);
    const source = readFileSync(path.join(project.directory, 'src/tools.ts'), 'utf8').split('\n');
    const line = source.findIndex((text) => text.includes('secret detail')) + 1;
    expect(detail).toMatch(new RegExp(`^Error: secret detail\n.*/src/tools\\.ts:${line}:`));
    expect(detail).toMatch(/packages\/runtime\/dist\/run-call\.js:\d+/);
  });

  test('survives the end of its log reader', async () => {
    const { child, client, exit } = await serve();
    child.stdout.destroy();
    child.stderr.destroy();
    for (let round = 0; round < 5; round++) {
      expect((await client.call('get_price')).structuredContent.price).toBe(12.5);
    }
    expect(child.exitCode).toBeNull();
    child.kill('SIGTERM');
    expect(await exit).toMatchObject({ code: 0 });
  });

  test('refuses a port in use, in production with one log line, elsewhere with text', async () => {
    const { listening } = await serve();
    const env = { ...live, PORT: String(listening.port) };
    const { stderr, ...ended } = await run(project.directory, 'dist/src/main.js', env).exit;
    expect(ended).toEqual({ code: 1, signal: null, stdout: '' });
    const reason = `Port ${listening.port} is already in use. Stop the program that uses it, or set PORT to a free port.`;
    expect(lines(stderr)).toEqual([{ time: expect.any(String), event: 'cannot-start', reasons: [reason] }]);
    const other = await run(project.directory, 'dist/src/main.js', { ...env, NODE_ENV: 'test' }).exit;
    expect(other).toMatchObject({ code: 1, stdout: '', stderr: `Cannot start.\n- ${reason}\n` });
  });

  test.each([
    ['before it serves', '', "throw new Error('no feed', { cause: new TypeError('no host') });"],
    [
      'while it serves',
      '',
      "setTimeout(() => { throw new Error('no feed', { cause: new TypeError('no host') }) }, 10);",
    ],
    [
      'in a .env file that says production',
      'NODE_ENV=production\n',
      "setTimeout(() => { throw new Error('no feed', { cause: new TypeError('no host') }) }, 10);",
    ],
  ])('an uncaught error %s is one log line in production, and ends it with 1', async (_, dotEnv, code) => {
    const own = withModule(code, dotEnv);
    const { NODE_ENV, ...env } = live;
    const inProduction = await run(own, 'start.js', { ...env, ...(dotEnv === '' && { NODE_ENV }) }).exit;
    expect(inProduction.code).toBe(1);
    const [line, ...others] = lines(inProduction.stderr);
    expect(others).toEqual([]);
    expect(line).toEqual({ time: expect.any(String), event: 'crash', detail: expect.any(String) });
    expect(line.detail).toMatch(/^Error: no feed\n {4}at .*start\.js[\s\S]*\[cause\]: TypeError: no host\n/);
    if (dotEnv !== '') return;
    const elsewhere = await run(own, 'start.js', { ...env, NODE_ENV: 'test' }).exit;
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.stderr).toMatch(/^file:.*start\.js:\d+\n.*\n +\^\n\nError: no feed\n {4}at /);
  });

  test.each([
    ['an uncaught error, which ends the process', 'throw error;'],
    ['a rejection that nothing handles', 'setInterval(() => Promise.reject(error), 10);'],
  ])('%s is logged without the keys of the author', async (_, failing) => {
    const own = withModule(`
      const { defineEnv, secret } = await import('market-mcp-runtime/env');
      defineEnv({ FEED_KEY: secret('Key of the feed.') });
      const error = new Error('no feed at ?key=' + process.env.FEED_KEY);
      ${failing}`);
    const { child, exit } = run(own, 'start.js', { ...live, FEED_KEY: 'k3y-of-the-feed' });
    // Before the server starts, a rejection is an uncaught error, too.
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        if (String(chunk).includes('no feed')) child.kill('SIGTERM');
      });
    const { stdout, stderr } = await exit;
    expect(stdout + stderr).toContain('Error: no feed at ?key=[secret]');
    expect(stdout + stderr).not.toContain('k3y-of-the-feed');
  });

  test('a listener of the author for uncaught errors decides, in production, too', async () => {
    const own = withModule(
      "process.on('uncaughtException', ({ message }) => process.exit(Number(message)));\nsetTimeout(() => { throw new Error('9') }, 10);",
    );
    expect(await run(own, 'start.js', live).exit).toMatchObject({ code: 9, stderr: '' });
  });

  test('a tool that prints more than a line can hold crashes with a line of limited length', async () => {
    const own = withModule("throw new Error('x'.repeat(1_000_000));");
    const { stderr } = await run(own, 'start.js', live).exit;
    expect(stderr.length).toBeLessThan(5_000);
    expect(lines(stderr)).toMatchObject([{ event: 'crash' }]);
  });

  test.each([
    ['a key', { PLATFORM_PUBLIC_KEY: '' }, ['PLATFORM_JWKS_URL']],
    ['an audience', { PLATFORM_AUDIENCE: '' }, ['PLATFORM_AUDIENCE']],
    ['authentication', { AUTH: 'off' }, ['AUTH']],
    [
      'much',
      { PORT: 'x', PLATFORM_ISSUER: '', SESSION_SECRET: 'hush' },
      ['PORT', 'PLATFORM_ISSUER', 'SESSION_SECRET'],
    ],
  ])('does not start in production without %s', async (_, env, names) => {
    const { code, stderr } = await run(project.directory, 'dist/src/main.js', { ...live, ...env }).exit;
    expect(code).toBe(1);
    const [{ event, reasons, hint }, ...others] = lines(stderr);
    expect({ event, others }).toEqual({ event: 'cannot-start', others: [] });
    expect(reasons.map((reason: string) => reason.split(':')[0])).toEqual(names);
    expect(hint).toContain('Set variables in the file .env');
    expect(stderr).not.toContain('hush');
    const elsewhere = await run(project.directory, 'dist/src/main.js', { PORT: 'x', SESSION_SECRET: 'hush' })
      .exit;
    expect(elsewhere.code).toBe(1);
    expect([...elsewhere.stderr.matchAll(/^- (\w+):/gm)].map(([, name]) => name)).toContain('PORT');
    expect(elsewhere.stderr).toMatch(/^Cannot start\.\n- /);
    expect(elsewhere.stderr).not.toMatch(/hush|\n {4}at /);
  });

  test('says where to set a missing variable', async () => {
    const [file = '', example = ''] = ['.env', '.env.example'].map((name) =>
      path.join(project.directory, name),
    );
    const lastLine = async () => {
      const env = { ...live, NODE_ENV: 'test', PLATFORM_ISSUER: '' };
      const { stderr } = await run(project.directory, 'dist/src/main.js', env).exit;
      return stderr.trimEnd().split('\n').at(-1);
    };
    const plain = 'Set variables in the file .env of the project, or where the server runs.';
    onTestFinished(() => {
      for (const one of [file, example]) rmSync(one, { force: true });
    });
    expect(await lastLine()).toBe(plain);
    writeFileSync(example, '');
    expect(await lastLine()).toBe(plain.replace('project,', 'project (copy .env.example to it first),'));
    writeFileSync(file, '');
    expect(await lastLine()).toBe(plain);
  });

  test('warns on every start with AUTH=off', async () => {
    const { events } = await serve({ NODE_ENV: '', AUTH: 'off' });
    expect(events()[0]).toMatchObject({ event: 'warning', text: expect.stringContaining('without paying') });
  });

  test('reads .env without overriding set variables', async () => {
    const file = path.join(project.directory, '.env');
    writeFileSync(
      file,
      'SESSION_SECRET=a secret of thirty-two characters\nSHUTDOWN_GRACE_MS=60000\nPORT=1\n',
    );
    onTestFinished(() => rmSync(file));
    const { events, listening } = await serve();
    expect(events()).toHaveLength(1);
    expect(listening.port).not.toBe(1);
  });
});
