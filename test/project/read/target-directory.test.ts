import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { describe, expect, it } from 'vitest';
import { inspectTarget } from '../../../src/project/read/target-directory.ts';
import { directory } from '../directory.ts';

const paths = ['package.json', 'src/tools/index.ts'];

describe('a target', () => {
  it('may be missing, with its parents', () => {
    const target = join(directory(), 'a/b/c');
    expect(inspectTarget(target, paths)).toEqual({ directory: target, state: 'absent', conflicts: [] });
  });

  it('may be empty', () => {
    const target = directory();
    expect(inspectTarget(target, paths)).toEqual({ directory: target, state: 'empty', conflicts: [] });
  });

  it('may contain a repository and a licence', () => {
    const target = directory();
    mkdirSync(join(target, '.git'));
    for (const name of ['LICENSE', 'LICENCE.md', 'COPYING', '.DS_Store'])
      writeFileSync(join(target, name), '');
    expect(inspectTarget(target, paths)).toMatchObject({ state: 'occupied', conflicts: [] });
  });

  it("lists the author's files in it", () => {
    const target = directory();
    for (const name of ['package.json', 'notes.txt', 'licensed.ts', '.gitignore'])
      writeFileSync(join(target, name), '');
    expect(inspectTarget(target, paths).conflicts).toEqual([
      '.gitignore',
      'licensed.ts',
      'notes.txt',
      'package.json',
    ]);
  });

  it('may be a link to a directory', () => {
    const real = directory();
    const link = join(directory(), 'link');
    symlinkSync(real, link);
    expect(inspectTarget(link, paths).directory).toBe(real);
  });
});

describe('an impossible target', () => {
  const codeOf = (target: string) => {
    try {
      inspectTarget(target, paths);
    } catch (error) {
      if (error instanceof CommandError) return error.code;
      throw error;
    }
    return undefined;
  };

  it('is a file or below one', () => {
    const file = join(directory(), 'file');
    writeFileSync(file, '');
    expect(codeOf(file)).toBe('NOT_A_DIRECTORY');
    expect(codeOf(join(file, 'a/b'))).toBe('NOT_A_DIRECTORY');
  });

  it('is a dangling or circular link', () => {
    const root = directory();
    symlinkSync(join(root, 'nowhere'), join(root, 'dangling'));
    symlinkSync(join(root, 'loop'), join(root, 'loop'));
    expect(codeOf(join(root, 'dangling'))).toBe('NOT_A_DIRECTORY');
    expect(codeOf(join(root, 'loop/a'))).toBe('NOT_WRITABLE');
  });

  it('leads outside through a linked directory', () => {
    const target = directory();
    symlinkSync(directory(), join(target, 'src'));
    expect(codeOf(target)).toBe('LINK_IN_THE_WAY');
  });

  it('has a directory at the path of a file, or the reverse', () => {
    const target = directory();
    mkdirSync(join(target, 'package.json'));
    expect(codeOf(target)).toBe('DIRECTORY_IN_THE_WAY');
    const other = directory();
    writeFileSync(join(other, 'src'), '');
    expect(codeOf(other)).toBe('NOT_A_DIRECTORY');
  });
});
