import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileSet } from '../../../src/plan/planned-file.ts';
import { makeStaging } from '../../../src/project/write/staging.ts';
import { makeChange, type ProjectChange, rollBack, steps } from '../../../src/project/write/transaction.ts';
import { directory, tree } from '../directory.ts';

const before = {
  'manifest.json': '1',
  'src/index.ts': 'old',
  'src/gone.ts': 'gone',
  'src/mine.ts': 'mine\r\n',
};
const after = {
  'manifest.json': '2',
  'src/index.ts': 'new',
  'src/a.ts': 'a',
  'test/a.ts': 'a',
  'src/mine.ts': 'mine\r\n',
};
const change: ProjectChange = {
  files: new Map(
    ['src/a.ts', 'test/a.ts', 'src/index.ts', 'manifest.json'].map(
      (path): [string, ReturnType<FileSet['get']> & {}] => [
        path,
        { content: Buffer.from(after[path as keyof typeof after]), owner: 'yours' },
      ],
    ),
  ),
  removed: ['src/gone.ts'],
};
const count = change.files.size + change.removed.length;

function project(): string {
  const root = directory();
  for (const [path, text] of Object.entries(before)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** A change that was killed after a number of steps. */
function killed(root: string, done: number): string {
  const staging = makeStaging(root);
  const moves = steps(root, staging, change);
  for (let i = 0; i < done; i += 1) moves.next();
  return staging;
}

describe('a change', () => {
  it('is complete and leaves nothing behind', () => {
    const root = project();
    const staging = makeStaging(root);
    makeChange(root, staging, change);
    rollBack(root, staging);
    expect(tree(root)).toEqual(after);
  });

  it.each(Array.from({ length: count + 1 }, (_, done) => done))(
    'is undone if killed after %i steps, and complete after the last one',
    (done) => {
      const root = project();
      const staging = killed(root, done);
      expect(['old', 'new']).toContain(readFileSync(join(root, 'src/index.ts'), 'utf8'));
      rollBack(root, staging);
      expect(tree(root)).toEqual(done === count ? after : before);
    },
  );

  it('is undone with the reason if it fails', () => {
    const root = project();
    const staging = makeStaging(root);
    const removed = [...change.removed, 'src/never-was.ts'];
    expect(() => makeChange(root, staging, { ...change, removed })).toThrow('never-was');
    expect(tree(root)).toEqual(before);
  });

  it('keeps the mode of each file that it replaces, finished or undone', () => {
    for (const end of ['finished', 'undone']) {
      const root = project();
      chmodSync(join(root, 'src/mine.ts'), 0o740);
      const content = Buffer.from('changed');
      const replaced: ProjectChange = {
        files: new Map([
          ['src/mine.ts', { content, owner: 'yours' }],
          ['src/index.ts', { content, owner: 'yours', mode: 0o600 }],
          ['manifest.json', { content, owner: 'yours' }],
        ]),
        removed: [],
      };
      const staging = makeStaging(root);
      const moves = steps(root, staging, replaced);
      for (let i = 0; i < (end === 'finished' ? 4 : 2); i += 1) moves.next();
      const mode = (path: string) => statSync(join(root, path)).mode & 0o777;
      expect([mode('src/mine.ts'), mode('src/index.ts')]).toEqual([0o740, 0o600]);
      rollBack(root, staging);
      expect([mode('src/mine.ts'), mode('src/index.ts')]).toEqual([
        0o740,
        end === 'finished' ? 0o600 : 0o644,
      ]);
    }
  });

  it("keeps the author's later edits when it is undone", () => {
    const root = project();
    const staging = killed(root, count - 1);
    writeFileSync(join(root, 'src/a.ts'), 'edited');
    writeFileSync(join(root, 'src/gone.ts'), 'anew');
    rollBack(root, staging);
    expect(tree(root)).toEqual({ ...before, 'src/a.ts': 'edited', 'src/gone.ts': 'anew' });
  });

  it('is not undone if its journal leads out of the directory', () => {
    const root = project();
    const staging = makeStaging(root);
    mkdirSync(join(staging, 'new'));
    writeFileSync(join(staging, 'new/x'), '');
    writeFileSync(join(staging, 'journal.json'), '{"files":{"../x":"","x":""},"removed":[]}');
    rollBack(root, staging);
    expect(tree(root)).toEqual(before);
  });
});
