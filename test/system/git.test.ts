import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { initRepository, repositoryState } from '../../src/system/git.ts';
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

  it('without a commit is left, and the author is told how to make the first one', async () => {
    withConfig(identity);
    const root = project();
    git(root, 'init', '--quiet');
    expect(await initRepository(root, 'First')).toEqual({
      state: 'inside-repository',
      note: expect.stringContaining('git add --all && git commit'),
    });
    git(root, 'add', '--all');
    git(root, 'commit', '--quiet', '--message', 'Mine');
    expect(await initRepository(root, 'First')).toEqual({
      state: 'inside-repository',
      note: expect.not.stringContaining('git commit'),
    });
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

describe('the state of a repository', () => {
  beforeEach(() => vi.unstubAllEnvs());

  function committed(): string {
    withConfig(identity);
    const root = project();
    for (const args of [
      ['init', '--quiet'],
      ['add', '--all'],
      ['commit', '--quiet', '--message', 'x'],
    ])
      git(root, ...args);
    return root;
  }

  it('names new and changed files, and those that git can restore', async () => {
    const root = committed();
    writeFileSync(join(root, 'kept.txt'), 'x');
    git(root, 'add', 'kept.txt');
    git(root, 'commit', '--quiet', '--message', 'y');
    git(root, 'update-index', '--skip-worktree', 'kept.txt');
    writeFileSync(join(root, 'ü *.txt'), 'x');
    writeFileSync(join(root, 'package.json'), '[]');
    const state = await repositoryState(root);
    expect(state).toEqual({
      uncommitted: ['package.json', 'ü *.txt'],
      restorable: new Set(['package.json']),
      unfinished: null,
    });
  });

  it("is git's own words where there is none", async () => {
    expect(await repositoryState(project())).toEqual({
      why: expect.stringContaining('not a git repository'),
    });
    vi.stubEnv('PATH', directory());
    expect(await repositoryState(project())).toEqual({ why: 'git is not installed' });
  });

  it('is not read if a filter could not be switched off', async () => {
    const root = committed();
    git(root, 'config', 'filter.a=b.clean', 'touch ran');
    expect(await repositoryState(root)).toEqual({ why: 'the name of filter.a=b contains =' });
  });

  it('is read without fetching what a partial clone lacks', async () => {
    const root = committed();
    const ran = join(directory(), 'ran');
    git(root, 'config', 'remote.origin.url', `ext::sh -c touch% ${ran}`);
    git(root, 'config', 'remote.origin.promisor', 'true');
    git(root, 'config', 'protocol.ext.allow', 'always');
    git(root, 'config', 'core.repositoryFormatVersion', '1');
    git(root, 'config', 'extensions.partialClone', 'origin');
    const tree = git(root, 'rev-parse', 'HEAD^{tree}');
    rmSync(join(root, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    expect(await repositoryState(root)).toEqual({ why: expect.any(String) });
    expect(existsSync(ran)).toBe(false);
    // What was planted works.
    spawnSync('git', ['status'], { cwd: root });
    expect(existsSync(ran)).toBe(true);
  });
});
