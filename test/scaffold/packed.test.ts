import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CreateResult, passedSelfCheck, repository, run, scratch } from '../e2e/support.ts';

const root = scratch();
const project = join(root, 'my-tool');

describe('the packed program, installed in an empty directory', () => {
  beforeAll(async () => {
    const pack = ['pack', '--ignore-scripts', '--pack-destination', root];
    const packed = await run('npm', pack, { cwd: repository });
    expect(packed.status, packed.stderr).toBe(0);
    const tarballs = readdirSync(root).filter((file) => file.endsWith('.tgz'));
    expect(tarballs).toHaveLength(1);
    const install = ['install', '--no-audit', '--no-fund', '--prefix', root, join(root, String(tarballs[0]))];
    const installed = await run('npm', install, { cwd: root });
    expect(installed.status, installed.stderr).toBe(0);
  });

  it('creates a project, installs its packages, builds it and checks it', async () => {
    const program = join(root, 'node_modules/.bin/create-market-mcp');
    const args = ['my-tool', '--yes', '--json', '--package-manager', 'npm'];
    const created = await run(program, args, { cwd: root });
    expect(created.status, created.stdout + created.stderr).toBe(0);
    const { ok, directory, packages, selfCheck }: CreateResult = JSON.parse(created.stdout);
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
  });

  it.each([['self-check'], ['test']])('npm run %s succeeds in it', async (script) => {
    const ran = await run('npm', ['run', script], { cwd: project });
    expect(ran.status, ran.stdout + ran.stderr).toBe(0);
  });
});
