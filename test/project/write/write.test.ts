import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectTarget } from '../../../src/project/read/target-directory.ts';
import { makeStaging, staleStagings } from '../../../src/project/write/staging.ts';
import { steps } from '../../../src/project/write/transaction.ts';
import { rollBackKilledRuns, writeProject } from '../../../src/project/write/write.ts';
import { directory, fileSet, tree } from '../directory.ts';

const files = fileSet({ 'package.json': '{}', 'src/tools/a.ts': 'a', 'src/main.ts': 'main' });
const texts = Object.fromEntries(
  [...files].map(([path, { content }]) => [path, Buffer.from(content).toString()]),
);
const write = (target: string) => writeProject(inspectTarget(target, [...files.keys()]), files);

describe('a project is written', () => {
  it('into a new directory, with its parents', () => {
    const root = directory();
    write(join(root, 'a/b/c'));
    expect(tree(root)).toEqual(
      Object.fromEntries(Object.entries(texts).map(([path, text]) => [`a/b/c/${path}`, text])),
    );
  });

  it('into an empty directory, which keeps its mode', () => {
    const target = join(directory(), 'empty');
    mkdirSync(target, { mode: 0o750 });
    write(target);
    expect(tree(target)).toEqual(texts);
    expect(statSync(target).mode & 0o777).toBe(0o750);
  });

  it('into the current directory, which stays the same one', () => {
    const target = directory();
    const { ino } = statSync(target);
    const before = process.cwd();
    process.chdir(target);
    write('.');
    process.chdir(before);
    expect(tree(target)).toEqual(texts);
    expect(statSync(target).ino).toBe(ino);
  });

  it('over existing files, keeping all others', () => {
    const target = directory();
    mkdirSync(join(target, 'src'));
    writeFileSync(join(target, 'src/main.ts'), 'mine');
    writeFileSync(join(target, 'src/notes.ts'), 'mine');
    write(target);
    expect(tree(target)).toEqual({ ...texts, 'src/notes.ts': 'mine' });
  });

  it("in place of a link, keeping the link's target", () => {
    const target = directory();
    const elsewhere = join(directory(), 'elsewhere');
    writeFileSync(elsewhere, 'mine');
    symlinkSync(elsewhere, join(target, 'package.json'));
    write(target);
    expect(tree(target)).toEqual(texts);
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
  });
});

describe('a write that fails halfway', () => {
  it('is undone: a new directory', () => {
    const root = directory();
    const broken = new Map([
      ...files,
      ['src/main.ts/below', { content: Buffer.from(''), owner: 'yours' } as const],
    ]);
    const target = inspectTarget(join(root, 'a/b'), []);
    expect(() => writeProject(target, broken)).toThrow('cannot write');
    expect(readdirSync(root)).toEqual([]);
  });

  it('is reported with the reason if nothing can be written', () => {
    expect(() => writeProject({ directory: '/proc/none', state: 'absent', conflicts: [] }, files)).toThrow(
      'cannot write /proc/none',
    );
  });

  it("is undone by the next run, which keeps the author's concurrent changes", () => {
    const target = directory();
    mkdirSync(join(target, 'src'));
    writeFileSync(join(target, 'src/main.ts'), 'mine');
    writeFileSync(join(target, 'package.json'), 'mine');
    const moves = steps(target, makeStaging(target), { files, removed: [] });
    for (let done = 0; done < 3; done += 1) moves.next();
    writeFileSync(join(target, 'package.json'), 'changed');
    rollBackKilledRuns(target);
    const left = { 'package.json': 'changed', 'package.json.before': 'mine', 'src/main.ts': 'mine' };
    expect(tree(target)).toEqual(left);
    expect(readdirSync(target).sort()).toEqual(['package.json', 'package.json.before', 'src']);
  });
});

describe('a sweep', () => {
  it('removes leftovers of dead processes of this machine', async () => {
    const root = directory();
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    stagingOf(root, child.pid);
    rollBackKilledRuns(join(root, 'target'));
    expect(readdirSync(root)).toEqual([]);
  });

  it('keeps directories of running processes, and other names', async () => {
    const root = directory();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    try {
      stagingOf(root, child.pid);
      mkdirSync(join(root, '.create-market-mcp-notes'));
      rollBackKilledRuns(join(root, 'target'));
      expect(readdirSync(root)).toHaveLength(2);
    } finally {
      child.kill();
    }
  });

  function stagingOf(root: string, pid: number | undefined): void {
    const own = makeStaging(root);
    renameSync(own, own.replace(`-${process.pid}-`, `-${pid}-`));
  }

  it('gives other machines an hour', () => {
    const root = directory();
    const own = makeStaging(root);
    const other = own.replace(/-[0-9a-f]{8}-\d+-/, '-00000000-1-');
    renameSync(own, other);
    expect(staleStagings(root)).toEqual([]);
    utimesSync(other, new Date(0), new Date(0));
    expect(staleStagings(root)).toEqual([other]);
  });

  it('ignores staging directories that came with a repository', () => {
    const root = directory();
    const target = join(root, 'target');
    const victim = join(root, 'victim');
    for (const path of [target, victim]) mkdirSync(path);
    writeFileSync(join(victim, 'known.txt'), 'mine');
    symlinkSync(victim, join(target, 'link'));
    const planted = join(target, basename(makeStaging(root)).replace(`-${process.pid}-`, '-4999999-'));
    mkdirSync(join(planted, 'old/link'), { recursive: true });
    mkdirSync(join(planted, 'new'));
    writeFileSync(join(planted, 'old/link/authorized_keys'), 'theirs');
    writeFileSync(join(planted, 'new/market-mcp.json'), '');
    const hash = createHash('sha256').update('mine').digest('hex');
    const files = { 'link/known.txt': hash, 'link/authorized_keys': hash, 'market-mcp.json': hash };
    writeFileSync(join(planted, 'journal.json'), JSON.stringify({ files, removed: [] }));
    const before = tree(planted);

    rollBackKilledRuns(target);
    expect(readdirSync(victim)).toEqual(['known.txt']);
    expect(tree(planted)).toEqual(before);
    expect(inspectTarget(target, []).conflicts).toEqual([basename(planted), 'link']);
  });
});

describe('two runs into one directory', () => {
  it('stop if another one is running there', () => {
    const target = directory();
    writeFileSync(join(target, 'LICENSE'), 'mine');
    const seen = inspectTarget(target, [...files.keys()]);
    const own = makeStaging(target);
    const other = own.replace(`-${process.pid}-`, `-${process.ppid}-`);
    renameSync(own, other);
    expect(() => writeProject(seen, files)).toThrow('another run is writing to');
    expect(readdirSync(target).sort()).toEqual([basename(other), 'LICENSE'].sort());
  });

  it('stop if another one has written since they looked', () => {
    const target = directory();
    writeFileSync(join(target, 'LICENSE'), 'mine');
    const seen = inspectTarget(target, [...files.keys()]);
    writeProject(seen, files);
    const written = tree(target);
    expect(() => writeProject(seen, files)).toThrow('another run is writing to');
    expect(tree(target)).toEqual(written);
  });
});
