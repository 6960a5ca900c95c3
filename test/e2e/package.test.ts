import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { repository, run, scratch } from './support.ts';

const root = scratch();
const installed = join(root, 'node_modules/create-market-mcp');
const version = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).version;

beforeAll(async () => {
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', root], {
    cwd: repository,
  });
  expect(packed.status, packed.stderr).toBe(0);
  const [tarball] = readdirSync(root).filter((file) => file.endsWith('.tgz'));
  const added = await run('npm', ['install', '--prefix', root, join(root, String(tarball))]);
  expect(added.status, added.stderr).toBe(0);
});

describe('the packed tarball in an empty directory', () => {
  it('is one package', () => {
    const packages = readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(packages).toEqual(['create-market-mcp']);
  });

  it('is under 2 MB unpacked', () => {
    const bytes = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
    expect(bytes).toBeLessThan(2_000_000);
  });

  it('holds no source of ours but the contract', () => {
    expect(readdirSync(installed).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'bin',
      'dist',
      'package.json',
    ]);
  });

  it.each(['create-market-mcp', 'market-mcp'])('%s works there', async (bin) => {
    const ran = await run(join(root, 'node_modules/.bin', bin), ['--version'], { cwd: root });
    expect(ran).toEqual({ status: 0, stdout: version, stderr: '' });
  });

  it('scaffolds without the checkout', async () => {
    const bin = join(root, 'node_modules/.bin/create-market-mcp');
    const ran = await run(bin, ['made', '--yes', '--no-install', '--no-git'], { cwd: root });
    expect(ran.status, ran.stderr).toBe(0);
    expect(existsSync(join(root, 'made/src/server/http.ts'))).toBe(true);
  });

  it('ships the schema of a spec', async () => {
    const ran = await run(join(root, 'node_modules/.bin/market-mcp'), ['spec-schema'], { cwd: root });
    expect(JSON.parse(ran.stdout)).toEqual(
      JSON.parse(readFileSync(join(installed, 'dist/tool-spec.schema.json'), 'utf8')),
    );
  });
});

describe('what a generated project installs', () => {
  it('is the SDK tree, the compiler and types', async () => {
    const sdk = scratchWithSdk();
    const bare = await packagesOf(await sdk);
    const ours = await packagesOf(join(inject('sharedModules'), '..'));
    const beyond = [...ours].filter((name) => !bare.has(name) && !name.startsWith('@typescript/'));
    expect(beyond.toSorted()).toEqual(['@types/node', 'typescript', 'undici-types']);
  });
});

async function scratchWithSdk(): Promise<string> {
  const { devDependencies } = JSON.parse(
    readFileSync(join(inject('sharedModules'), '../package.json'), 'utf8'),
  );
  const directory = join(root, 'sdk-only');
  const added = await run('npm', [
    'install',
    '--prefix',
    directory,
    `@modelcontextprotocol/sdk@${devDependencies['@modelcontextprotocol/sdk']}`,
  ]);
  expect(added.status, added.stderr).toBe(0);
  return directory;
}

async function packagesOf(directory: string): Promise<Set<string>> {
  const lock = JSON.parse(readFileSync(join(directory, 'node_modules/.package-lock.json'), 'utf8'));
  return new Set(Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, '')));
}
