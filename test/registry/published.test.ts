import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import { packageManagerCommands } from '../../src/plan/package-manager.ts';
import { trust } from '../broken/check.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import { repository, run, tree } from '../e2e/support.ts';
import { emptyEnvironment, installTools, type Registry, startRegistry } from './registry.ts';

const root = mkdtempSync(join(tmpdir(), 'market-mcp-registry-'));
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
let registry: Registry | undefined;
let tools = '';

beforeAll(async () => {
  tools = await installTools();
  registry = await startRegistry(tools, mkdtempSync(join(root, 'storage-')));
  const words = ['scripts/release.js', '--dry-run', '--registry', registry.url];
  const released = await run(process.execPath, words, { cwd: repository, env: environment('publisher') });
  expect(released.status, released.stderr).toBe(0);
});

afterAll(async () => {
  await registry?.stop();
  rmSync(root, { recursive: true, force: true });
});

const environment = (name: string) => emptyEnvironment(registry?.url ?? '', tools, join(root, name));

/** The first three words are typed by users. */
const ways = [
  {
    title: 'npx create-market-mcp',
    manager: 'npm',
    command: ['npx', '--yes', 'create-market-mcp', 'my-tool', '--yes'],
  },
  {
    title: 'npm create market-mcp@latest',
    manager: 'npm',
    command: ['npm', 'create', '--yes', 'market-mcp@latest', 'my-tool', '--', '--yes'],
  },
  {
    title: 'pnpm create market-mcp',
    manager: 'pnpm',
    command: ['pnpm', 'create', 'market-mcp', 'my-tool', '--yes'],
  },
  {
    title: 'yarn create market-mcp',
    manager: 'yarn',
    command: ['yarn', 'create', 'market-mcp', 'my-tool', '--yes'],
  },
  {
    title: 'bun create market-mcp',
    manager: 'bun',
    command: ['bun', 'create', 'market-mcp', 'my-tool', '--yes'],
  },
] as const;

const call = { npm: ['npx'], pnpm: ['pnpm', 'exec'], yarn: ['yarn'], bun: ['bunx'] } as const;

describe.sequential.each(ways)('$title', ({ title, manager, command: [file, ...args] }) => {
  it('creates a project that passes its check, and market-mcp adds a tool in it', async () => {
    const cwd = mkdtempSync(join(root, 'way-'));
    const env = environment(title.replaceAll(' ', '-'));
    const created = await run(file, args, { cwd, env });
    expect(created.status, created.stdout + created.stderr).toBe(0);
    expect(judgedIn(created.stdout)).toEqual({ rules: rules.length, failed: 0 });
    expect(created.stdout).toContain('To repeat this without questions: npx create-market-mcp my-tool');

    const project = join(cwd, 'my-tool');
    expect(existsSync(join(project, packageManagerCommands[manager].lockFile))).toBe(true);
    const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    expect(devDependencies['create-market-mcp']).toBe(version);
    expect(existsSync(join(project, 'vendor'))).toBe(false);
    for (const text of ['README.md', 'Dockerfile', 'AGENTS.md']) {
      expect(readFileSync(join(project, text), 'utf8')).not.toContain('vendor');
    }

    const [program, ...words] = [...call[manager], 'market-mcp', 'add-tool', 'get_fee', '--yes'];
    const added = await run(program, words, { cwd: project, env });
    expect(added.status, added.stdout + added.stderr).toBe(0);
    expect(judgedIn(added.stdout)).toEqual({ rules: rules.length, failed: 0 });
    expect([...tree(join(project, 'src/tools')).keys()]).toContain('get-fee.ts');
  });
});

it('npx market-mcp-contract checks a URL from an empty directory with an empty cache', async () => {
  const server = await serve(createSteps(trust, { authorized: () => async () => true }));
  const cwd = mkdtempSync(join(root, 'contract-'));
  const words = ['--yes', 'market-mcp-contract', server.url, '--platform', 'context', '--json'];
  const checked = await run('npx', words, { cwd, env: environment('contract') });
  await server.stop();
  expect([checked.status, readdirSync(cwd)]).toEqual([1, []]);
  const failed = JSON.parse(checked.stdout).rules.filter(
    ({ status }: { status: string }) => status === 'fail',
  );
  expect(failed).toContainEqual(expect.objectContaining({ id: 'gate.no-token' }));
});

/** The number of rules that a printed self-check judged or listed as not run. */
function judgedIn(output: string) {
  const [line = ''] = /self-check: .*/.exec(output) ?? [];
  const counts = [...line.matchAll(/\d+/g)].map(Number);
  return { rules: counts.reduce((sum, count) => sum + count, 0), failed: counts[1] ?? 0 };
}
