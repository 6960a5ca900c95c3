import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asNobody, bins, create, giveToNobody, run, scratch } from './support.ts';

const quick = ['--yes', '--no-install', '--no-git'];
const root = scratch();

function own(name: string): string {
  const directory = join(root, name);
  mkdirSync(directory);
  return directory;
}

describe('a target that cannot be written', () => {
  const nobody = asNobody();

  it('a read-only directory', async () => {
    const cwd = own('read-only');
    chmodSync(root, 0o755);
    giveToNobody(cwd);
    chmodSync(cwd, 0o555);
    const ran = await run(process.execPath, [nobody.bins.create, 'tool', ...quick], { cwd, ...nobody.user });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/read-only|permission|not writable|cannot write/i);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('a package manager that fails', () => {
  it('if missing, the project remains and the command to retry is printed', async () => {
    const cwd = own('no-manager');
    const bin = own('bin');
    symlinkSync(process.execPath, join(bin, 'node'));
    const ran = await create(['tool', '--yes', '--no-git', '--package-manager', 'pnpm'], {
      cwd,
      env: { PATH: bin },
    });
    expect(ran.status).toBe(4);
    expect(ran.stderr).toContain('pnpm install');
    expect(existsSync(join(cwd, 'tool/package.json'))).toBe(true);
  });

  it('if offline, the last lines are printed, and --json has one line on stderr', async () => {
    const cwd = own('offline');
    const env = {
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_fetch_retries: '0',
      npm_config_cache: join(cwd, 'cache'),
    };
    const ran = await create(['tool', '--yes', '--no-git', '--json'], { cwd, env });
    expect(ran.status).toBe(4);
    expect(ran.stdout).toBe('');
    const { error } = JSON.parse(ran.stderr);
    expect(error).toMatchObject({ code: expect.any(String), hint: expect.stringContaining('npm install') });
    expect(existsSync(join(cwd, 'tool/package.json'))).toBe(true);
  });
});

describe('an old Node', () => {
  it('is reported in a readable message', async () => {
    const cwd = own('old-node');
    const installed = await run('npm', ['install', '--prefix', cwd, 'node@18']);
    expect(installed.status, installed.stderr).toBe(0);
    const old = join(cwd, 'node_modules/node/bin/node');
    const ran = await run(old, [bins.create, 'tool', ...quick], { cwd: dirname(old) });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/Node(\.js)? 20/);
    expect(ran.stderr).not.toContain('    at ');
  });
});
