import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installedPackages } from '../../../src/project/read/installed.ts';
import { isInside, readIfThere, resolveInside } from '../../../src/project/read/resolve-inside.ts';
import { makeStaging } from '../../../src/project/write/staging.ts';
import { makeChange, rollBack } from '../../../src/project/write/transaction.ts';
import { directory, tree } from '../directory.ts';

describe('a path inside of a project', () => {
  it.each(['a', 'a/b.ts', '.local/upgrade', '.gitignore', '.github/workflows/ci.yml', '..a/b', 'a b/ü'])(
    'may be %j',
    (path) => {
      expect(isInside(path)).toBe(true);
    },
  );

  it.each([
    '',
    '.',
    '..',
    '../a',
    'a/../../b',
    'a/..',
    'a//b',
    'a/',
    './a',
    '/etc/passwd',
    '//host/share',
    '\\\\host\\share',
    'a\\..\\..\\b',
    'C:\\a',
    'C:a',
    'c:/a',
    'a\0b',
    '.. /a',
    '... /a',
    '.git/hooks/post-checkout',
    'a/.GIT/config',
    '.git. /config',
  ])('cannot be %j', (path) => {
    expect(isInside(path)).toBe(false);
    expect(() => resolveInside('/tmp', path)).toThrow('is no path in /tmp');
  });
});

describe('a link', () => {
  /** A project with a link to a directory outside, which contains one file. */
  function linked(): { readonly root: string; readonly outside: string } {
    const [root, outside] = [directory(), directory()];
    writeFileSync(join(outside, 'a.txt'), 'outside');
    symlinkSync(outside, join(root, 'link'));
    symlinkSync(join(outside, 'a.txt'), join(root, 'file'));
    symlinkSync(join(outside, 'none'), join(root, 'dangling'));
    return { root, outside };
  }

  it('is not followed to read', () => {
    const { root } = linked();
    expect(() => readIfThere(root, 'link/a.txt')).toThrow('link is a link');
    expect(() => readIfThere(root, 'link/none')).toThrow('link is a link');
    expect(() => readIfThere(root, 'file')).toThrow('file is a link');
    expect(() => readIfThere(root, 'dangling')).toThrow('dangling is a link');
    expect(() => readIfThere(root, 'file/a')).toThrow('file is a link');
    expect(readIfThere(root, 'none/a')).toBe(undefined);
  });

  it.each([
    ['link/a.txt', []],
    ['new.txt', ['link/a.txt']],
    ['new.txt', ['../x']],
    ['../x', []],
  ])('is not followed by a change of %s that removes %j', (path, removed) => {
    const { root, outside } = linked();
    const staging = makeStaging(root);
    const content = Buffer.from('new');
    const before = tree(outside);
    expect(() =>
      makeChange(root, staging, { files: new Map([[path, { content, owner: 'yours' }]]), removed }),
    ).toThrow(/is a link|is no path/);
    expect(readdirSync(root).filter((name) => !name.startsWith('.'))).toEqual(['dangling', 'file', 'link']);
    expect(tree(outside)).toEqual(before);
  });

  it('is not followed by an undo', () => {
    const { root, outside } = linked();
    const staging = makeStaging(root);
    const before = tree(outside);
    mkdirSync(join(staging, 'old/link'), { recursive: true });
    mkdirSync(join(staging, 'new'));
    writeFileSync(join(staging, 'old/link/a.txt'), 'overwritten');
    writeFileSync(join(staging, 'new/last'), '');
    writeFileSync(
      join(staging, 'journal.json'),
      JSON.stringify({ files: { 'link/a.txt': 'x', last: 'y' }, removed: [] }),
    );
    rollBack(root, staging);
    expect(tree(outside)).toEqual(before);
  });
});

it('a dependency whose name is a path is not looked up', () => {
  const around = directory();
  const root = join(around, 'project');
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(around, 'package.json'), '{"version":"outside"}');
  writeFileSync(join(root, 'package.json'), '{"dependencies":{"../../..":"1.0.0"}}');
  expect(installedPackages(root)).toEqual([]);
});
