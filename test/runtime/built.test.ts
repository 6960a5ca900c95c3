import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { version } from '../../src/plan/versions.ts';
import { buildProject, run } from './built.ts';
import { audience, issuer, publicKey, RawClient } from './support.ts';

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
const within = { timeout: 20_000 };

/** Starts the built server and waits until it listens. */
async function serve(env: Record<string, string> = {}) {
  const server = run(project.directory, 'dist/src/main.js', { ...live, ...env });
  const events = () =>
    server.output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const listening = await vi.waitUntil(() => events().find(({ event }) => event === 'listening'), within);
  return { ...server, events, listening, client: new RawClient(`http://127.0.0.1:${listening.port}/mcp`) };
}

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
    const { child, exit, output, client, events } = await serve();
    const call = client.call('slow');
    await vi.waitUntil(() => output.stderr.includes('slow runs'), within);
    child.kill('SIGTERM');
    expect((await call).structuredContent).toEqual({ text: 'late' });
    expect(await exit).toMatchObject({ code: 0 });
    expect(events().map(({ event }) => event)).toEqual(['warning', 'listening', 'stopping', 'call']);
  });

  test('cuts running calls after the grace period and exits with 0', async () => {
    const { child, exit, output, client } = await serve({ SHUTDOWN_GRACE_MS: '50' });
    const cut = expect(client.call('slow')).rejects.toThrow();
    await vi.waitUntil(() => output.stderr.includes('slow runs'), within);
    child.kill('SIGINT');
    expect(await exit).toMatchObject({ code: 0 });
    await cut;
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
    ['authentication', { AUTH: 'off' }, ['AUTH']],
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

  test('says where to set a missing variable', async () => {
    const [file = '', example = ''] = ['.env', '.env.example'].map((name) =>
      path.join(project.directory, name),
    );
    const lastLine = async () => {
      const { stderr } = await run(project.directory, 'dist/src/main.js', { ...live, PLATFORM_ISSUER: '' })
        .exit;
      return stderr.trimEnd().split('\n').at(-1);
    };
    const plain = 'Set variables in the file .env of the project, or where the server runs.';
    onTestFinished(() => {
      for (const one of [file, example]) rmSync(one, { force: true });
    });
    expect(await lastLine()).toBe(plain);
    writeFileSync(example, '');
    expect(await lastLine()).toBe(plain.replace('project,', 'project (create it: cp .env.example .env),'));
    writeFileSync(file, '');
    expect(await lastLine()).toBe(plain);
  });

  test('warns on every start with AUTH=off', async () => {
    const { events } = await serve({ NODE_ENV: '', AUTH: 'off' });
    expect(events()[0]).toMatchObject({ event: 'warning', text: expect.stringContaining('without paying') });
  });

  test('reads .env without overriding set variables', async () => {
    const file = path.join(project.directory, '.env');
    writeFileSync(file, 'SESSION_SECRET=a secret of thirty-two characters\nPORT=1\n');
    onTestFinished(() => rmSync(file));
    const { events, listening } = await serve();
    expect(events()).toHaveLength(1);
    expect(listening.port).not.toBe(1);
  });
});
