import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asNobody, create, giveToNobody, run, scratch } from './support.ts';

const root = scratch();
const nobody = asNobody();

function own(name: string): string {
  const directory = join(root, name);
  mkdirSync(directory);
  return directory;
}

it('a directory that cannot be written is reported, and nothing is written', async () => {
  const cwd = own('read-only');
  chmodSync(root, 0o755);
  giveToNobody(cwd);
  chmodSync(cwd, 0o555);
  const args = [nobody.bins.create, 'tool', '--yes', '--no-install', '--no-git'];
  const ran = await run(process.execPath, args, { cwd, ...nobody.user });
  expect(ran.status).toBe(2);
  expect(ran.stderr).toMatch(/read-only|permission|not writable|cannot write/i);
  expect(readdirSync(cwd)).toEqual([]);
});

it('if the package manager is missing, the project remains and the command to retry is printed', async () => {
  const cwd = own('no-manager');
  const bin = own('bin');
  symlinkSync(process.execPath, join(bin, 'node'));
  const args = ['tool', '--yes', '--no-git', '--package-manager', 'pnpm', '--json'];
  const ran = await create(args, { cwd, env: { PATH: bin } });
  expect([ran.status, ran.stderr]).toEqual([4, '']);
  const { error } = JSON.parse(ran.stdout);
  expect(error).toMatchObject({ code: expect.any(String), hint: expect.stringContaining('pnpm install') });
  expect(existsSync(join(cwd, 'tool/package.json'))).toBe(true);
});
