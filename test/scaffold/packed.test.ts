import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CreateResult, passedSelfCheck, repository, run, scratch, succeeded } from '../e2e/support.ts';

const root = scratch();
const project = join(root, 'my-tool');
const program = join(root, 'node_modules/create-market-mcp');

describe('the packed program, installed in an empty directory', () => {
  beforeAll(async () => {
    const pack = ['pack', '--ignore-scripts', '--pack-destination', root];
    await succeeded(run('npm', pack, { cwd: repository }));
    const tarballs = readdirSync(root).filter((file) => file.endsWith('.tgz'));
    expect(tarballs).toHaveLength(1);
    const install = ['install', '--no-audit', '--no-fund', '--prefix', root, join(root, String(tarballs[0]))];
    await succeeded(run('npm', install, { cwd: root }));
  });

  it('is a single package without our sources, under 2.8 MB without archives of earlier versions and copies for unpublished projects', () => {
    const packages = readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(packages).toEqual(['create-market-mcp']);
    expect(readdirSync(program).toSorted()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json']);
    let sum = 0;
    for (const entry of readdirSync(program, { recursive: true, withFileTypes: true })) {
      const place = join(entry.parentPath, entry.name);
      const path = relative(program, place);
      if (!entry.isFile() || /^dist\/(?:vendor\/|runtime\.tar\.br$)/.test(path)) continue;
      const { size } = statSync(place);
      // There is one for each earlier version.
      if (path.startsWith('dist/releases/')) expect(size, path).toBeLessThan(80_000);
      else sum += size;
    }
    expect(sum).toBeLessThan(2_800_000);
  });

  it('creates a project of at most 22 files and 6 packages, installs them, builds it and checks it', async () => {
    const args = ['my-tool', '--yes', '--json', '--package-manager', 'npm'];
    const created = await succeeded(
      run(join(root, 'node_modules/.bin/create-market-mcp'), args, { cwd: root }),
    );
    const { ok, directory, files, packages, selfCheck }: CreateResult = JSON.parse(created.stdout);
    expect({ ok, directory }).toEqual({ ok: true, directory: project });
    expect(selfCheck).toMatchObject(passedSelfCheck);
    for (const path of ['node_modules/market-mcp-runtime', 'dist/src/main.js', '.git', 'package-lock.json']) {
      expect(existsSync(join(project, path)), path).toBe(true);
    }
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    const locked = Object.entries<{ version: string; optional?: boolean }>(lock.packages)
      .filter(([path, { optional }]) => path !== '' && (!optional || existsSync(join(project, path))))
      .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
    expect(packages).toEqual(locked.sort());
    expect(packages?.length, packages?.join(' ')).toBeLessThanOrEqual(6);
    // npm adds the lock file.
    expect(files.length + 1, files.join(' ')).toBeLessThanOrEqual(22);
  });

  it.each([['self-check'], ['test']])('npm run %s succeeds in it', async (script) => {
    await succeeded(run('npm', ['run', script], { cwd: project }));
  });
});
