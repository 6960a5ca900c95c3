import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { create, repository, run, scratch, tree } from './support.ts';

const root = scratch();
const installed = join(root, 'node_modules/create-market-mcp');

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
  it('is a single package', () => {
    const packages = readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(packages).toEqual(['create-market-mcp']);
  });

  it('is under 2.6 MB unpacked, without the archives of earlier versions and the copies for unpublished projects', () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter(
        (entry) =>
          entry.isFile() &&
          !/^dist\/(?:vendor\/|runtime\.tar\.br$)/.test(
            relative(installed, join(entry.parentPath, entry.name)),
          ),
      )
      .map(({ parentPath, name }) => ({
        isArchive: parentPath.endsWith('dist/releases'),
        bytes: statSync(join(parentPath, name)).size,
      }));
    const sum = files.reduce((total, { isArchive, bytes }) => total + (isArchive ? 0 : bytes), 0);
    expect(sum).toBeLessThan(2_600_000);
    // There is one for each earlier version.
    for (const { isArchive, bytes } of files) if (isArchive) expect(bytes).toBeLessThan(80_000);
  });

  it('contains none of our source files', () => {
    expect(readdirSync(installed).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'bin',
      'dist',
      'package.json',
    ]);
  });
});

describe('a generated project', () => {
  it('installs at most 6 packages', () => {
    // The packages that projects with the source kit, and with Redis, have in addition.
    const kit = ['eventemitter3', 'ky', 'lru-cache', 'p-queue', 'p-timeout'];
    const redis = [
      '@ioredis/commands',
      'cluster-key-slot',
      'debug',
      'denque',
      'ioredis',
      'ms',
      'redis-errors',
    ];
    const others = [...kit, ...redis, 'standard-as-callback'];
    const installed = packagesIn(inject('sharedModules')).filter((name) => !others.includes(name));
    expect(installed).toContain('create-market-mcp');
    expect(installed.length, installed.join(' ')).toBeLessThanOrEqual(6);
  });

  it('has at most 21 files', async () => {
    const made = await create(['counted', '--yes', '--no-install', '--no-git'], { cwd: root });
    expect(made.status, made.stderr).toBe(0);
    // npm adds the lock file.
    expect(tree(join(root, 'counted')).size + 1).toBeLessThanOrEqual(21);
  });
});

/** Names of the packages in a node_modules directory and below it. */
function packagesIn(modules: string): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  return Object.keys(packages)
    .map((path) => path.replace(/^.*node_modules\//, ''))
    .filter((name) => existsSync(join(modules, name)));
}
