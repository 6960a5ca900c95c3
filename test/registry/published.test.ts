import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { packageManagerCommands } from '../../src/plan/package-manager-commands.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import { trust } from '../broken/trust.ts';
import { defaultRules } from '../default-rules.ts';
import { repository, run, succeeded, tree } from '../e2e/support.ts';
import { freePort } from '../ports.ts';
import { emptyEnvironment, installTools, type Registry, startRegistry } from './registry.ts';

const root = mkdtempSync(join(tmpdir(), 'market-mcp-registry-'));
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
let registry: Registry | undefined;
let tools = '';

beforeAll(async () => {
  tools = await installTools();
  registry = await startRegistry(tools, mkdtempSync(join(root, 'storage-')));
  const words = ['scripts/release.js', '--dry-run', '--registry', registry.url];
  await succeeded(run(process.execPath, words, { cwd: repository, env: environment('publisher') }));
});

afterAll(async () => {
  await registry?.stop();
  rmSync(root, { recursive: true, force: true });
});

const environment = (name: string) => emptyEnvironment(registry?.url ?? '', tools, join(root, name));

/** What users type. `npx create-market-mcp` stands in README.md, whose blocks run below. */
const ways = (['npm', 'pnpm', 'yarn', 'bun'] as const).map((manager) => ({
  manager,
  title: `${manager} create market-mcp`,
  args:
    manager === 'npm'
      ? ['create', '--yes', 'market-mcp@latest', 'my-tool', '--', '--yes']
      : ['create', 'market-mcp', 'my-tool', '--yes'],
}));

const call = { npm: ['npx'], pnpm: ['pnpm', 'exec'], yarn: ['yarn'], bun: ['bunx'] } as const;

describe.sequential.each(ways)('$title', ({ title, manager, args }) => {
  it('creates a project that passes its check, and market-mcp adds a tool in it', async () => {
    const cwd = mkdtempSync(join(root, 'way-'));
    const env = environment(title.replaceAll(' ', '-'));
    const created = await succeeded(run(manager, args, { cwd, env }));
    expect(judgedIn(created.stdout)).toEqual({ rules: defaultRules.length, failed: 0 });

    const project = join(cwd, 'my-tool');
    expect(existsSync(join(project, packageManagerCommands[manager].lockFile))).toBe(true);
    const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    expect(devDependencies['create-market-mcp']).toBe(version);
    expect(existsSync(join(project, 'vendor'))).toBe(false);
    for (const text of ['README.md', 'DEPLOY.md', 'Dockerfile', 'AGENTS.md']) {
      expect(readFileSync(join(project, text), 'utf8')).not.toContain('vendor');
    }

    const more = ['market-mcp', 'add-tool', 'get_fee', '--yes', '--no-check'];
    const [program, ...words] = [...call[manager], ...more];
    await succeeded(run(program, words, { cwd: project, env }));
    expect([...tree(join(project, 'src/tools')).keys()]).toContain('get-fee.ts');
  });
});

describe('an installation by the code blocks of a README and nothing else', () => {
  const blocksOf = (file: string) =>
    [...readFileSync(join(repository, file), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(
      ([, language = '', code = '']) => ({ language, code }),
    );
  const place = (name: string) => {
    const cwd = join(root, name);
    mkdirSync(cwd);
    return { cwd, env: environment(`${name}-home`) };
  };
  const shell = (script: string, options: { cwd: string; env: Record<string, string> }) =>
    run('bash', ['-e', '-c', script], options);

  it('creates, tests and calls a project', async () => {
    const script =
      blocksOf('README.md').find(({ code }) => code.startsWith('npx create-market-mcp'))?.code ?? '';
    const here = place('by-readme');
    const ran = await succeeded(
      shell(script, { ...here, env: { ...here.env, PORT: String(await freePort()) } }),
    );
    expect(ran.stdout).toMatch(/✓|✔/);
  });

  it('checks a URL by the program and by the library', async () => {
    const server = await serve(createSteps(trust, { authorized: () => async () => true }));
    const here = place('by-contract-readme');
    const [line, install, module] = blocksOf('packages/contract/README.md').map(({ code }) =>
      code.replaceAll(/https?:\/\/(tools\.example\.com|127\.0\.0\.1:3000)\/mcp/g, server.url),
    );
    const checked = await shell(String(line).replaceAll('\n', ' || true\n'), here);
    expect(checked.stdout.match(/gate\.no-token/g)?.length, checked.stderr).toBeGreaterThan(0);
    expect(readdirSync(here.cwd)).toEqual([]);
    expect((await shell(String(install), here)).status).toBe(0);
    writeFileSync(join(here.cwd, 'check.mjs'), String(module));
    const library = await run(process.execPath, ['check.mjs'], here);
    await server.stop();
    expect([library.status, library.stdout]).toEqual([1, expect.stringContaining('gate.no-token')]);
  });

  it('serves a tool with the runtime alone', async () => {
    const here = place('by-runtime-readme');
    const blocks = blocksOf('packages/runtime/README.md');
    const at = blocks.findIndex(({ code }) => code.startsWith('npm init'));
    const [install, module, start] = blocks.slice(at, at + 3).map(({ code }) => code.trim());
    expect((await shell(String(install), here)).status).toBe(0);
    writeFileSync(join(here.cwd, 'server.js'), String(module));
    const port = await freePort();
    const server = spawn('bash', ['-c', `exec ${start}`], {
      cwd: here.cwd,
      env: { ...here.env, PORT: String(port), PLATFORM_AUDIENCE: `http://127.0.0.1:${port}/mcp` },
      stdio: 'pipe',
    });
    const ended = once(server, 'close');
    let log = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (log += text));
    try {
      await vi.waitUntil(() => log.includes('"listening"') || server.exitCode !== null, { timeout: 60_000 });
      const health = await fetch(`http://127.0.0.1:${port}/health`);
      expect(health.status, log).toBe(200);
      const unpaid = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'get_price', arguments: {} },
      };
      const headers = { 'content-type': 'application/json' };
      const refused = await fetch(`http://127.0.0.1:${port}/mcp`, {
        method: 'POST',
        headers,
        body: JSON.stringify(unpaid),
      });
      expect(refused.status).toBe(401);
    } finally {
      server.kill();
      await ended;
    }
  });
});

/** The number of rules that a printed self-check judged or listed as not run. */
function judgedIn(output: string) {
  const [line = ''] = /self-check: .*/.exec(output) ?? [];
  const counts = [...line.matchAll(/\d+/g)].map(Number);
  return { rules: counts.reduce((sum, count) => sum + count, 0), failed: counts[1] ?? 0 };
}
