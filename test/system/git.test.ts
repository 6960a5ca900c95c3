import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { initRepository } from '../../src/system/git.ts';
import { directory } from '../project/directory.ts';

const identity = '[user]\nname = Test\nemail = test@example.com\n';

function withConfig(text: string): void {
  const home = directory();
  writeFileSync(join(home, '.gitconfig'), text);
  vi.stubEnv('HOME', home);
  vi.stubEnv('XDG_CONFIG_HOME', home);
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
  for (const name of [
    'GIT_AUTHOR_NAME',
    'GIT_AUTHOR_EMAIL',
    'GIT_COMMITTER_NAME',
    'GIT_COMMITTER_EMAIL',
    'EMAIL',
  ]) {
    vi.stubEnv(name, undefined);
  }
}

function project(): string {
  const root = directory();
  writeFileSync(join(root, 'package.json'), '{}');
  return root;
}

const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();

describe('a git repository', () => {
  beforeEach(() => vi.unstubAllEnvs());

  it('is made with a first commit', async () => {
    withConfig(identity);
    const root = project();
    expect(await initRepository(root, 'First')).toEqual({ state: 'committed' });
    expect(git(root, 'log', '--format=%s')).toBe('First');
    expect(git(root, 'ls-files')).toBe('package.json');
  });

  it('is made without a commit if git has no identity', async () => {
    withConfig('');
    const root = project();
    expect(await initRepository(root, 'First')).toMatchObject({
      state: 'initialised',
      note: expect.stringContaining('user.email'),
    });
    expect(git(root, 'status', '--short')).toBe('?? package.json');
  });

  it('is not made inside another one', async () => {
    withConfig(identity);
    const outer = project();
    git(outer, 'init', '--quiet');
    const root = join(outer, 'inner');
    mkdirSync(root);
    expect(await initRepository(root, 'First')).toMatchObject({ state: 'inside-repository' });
    expect(existsSync(join(root, '.git'))).toBe(false);
  });

  it.each([
    ['GIT_DIR', '.git'],
    ['GIT_OBJECT_DIRECTORY', '.git/objects'],
    ['GIT_COMMON_DIR', '.git'],
  ])('is made in the directory even inside a hook that sets %s', async (name, place) => {
    withConfig(identity);
    const outer = project();
    git(outer, 'init', '--quiet');
    const root = project();
    vi.stubEnv(name, join(outer, place));
    expect(await initRepository(root, 'First')).toEqual({ state: 'committed' });
    vi.stubEnv(name, undefined);
    expect(git(root, 'log', '--format=%s')).toBe('First');
    expect(git(outer, 'count-objects')).toMatch(/^0 objects/);
  });

  it('fails with the output of git if git fails', async () => {
    withConfig(identity);
    const root = project();
    writeFileSync(join(root, '.git'), 'gitdir: nowhere');
    await expect(initRepository(root, 'First')).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: 'git init failed',
      details: expect.arrayContaining([expect.stringContaining('not a git repository')]),
    });
  });

  it('is skipped without git', async () => {
    vi.stubEnv('PATH', directory());
    expect(await initRepository(project(), 'First')).toMatchObject({
      state: 'none',
      note: expect.stringContaining('not installed'),
    });
  });
});
