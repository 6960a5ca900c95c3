import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileSet } from '../../src/plan/model.ts';
import { makeStaging } from '../../src/project/staging.ts';
import { type Change, makeChange, steps, takeBack } from '../../src/project/transaction.ts';
import { directory, tree } from './directory.ts';

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
const change: Change = {
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
  it('is made whole and leaves nothing behind', () => {
    const root = project();
    const staging = makeStaging(root);
    makeChange(root, staging, change);
    takeBack(root, staging);
    expect(tree(root)).toEqual(after);
  });

  it.each(Array.from({ length: count }, (_, done) => done))('killed after %i steps is taken back', (done) => {
    const root = project();
    const staging = killed(root, done);
    expect(['old', 'new']).toContain(readFileSync(join(root, 'src/index.ts'), 'utf8'));
    takeBack(root, staging);
    expect(tree(root)).toEqual(before);
  });

  it('killed after its last step stays', () => {
    const root = project();
    takeBack(root, killed(root, count));
    expect(tree(root)).toEqual(after);
  });

  it('that fails is taken back and says why', () => {
    const root = project();
    const staging = makeStaging(root);
    const removed = [...change.removed, 'src/never-was.ts'];
    expect(() => makeChange(root, staging, { ...change, removed })).toThrow('never-was');
    expect(tree(root)).toEqual(before);
  });

  it('taken back keeps what the author did meanwhile', () => {
    const root = project();
    const staging = killed(root, count - 1);
    writeFileSync(join(root, 'src/a.ts'), 'edited');
    writeFileSync(join(root, 'src/gone.ts'), 'anew');
    takeBack(root, staging);
    expect(tree(root)).toEqual({ ...before, 'src/a.ts': 'edited', 'src/gone.ts': 'anew' });
  });

  it('with a journal that leads out of the directory is not taken back', () => {
    const root = project();
    const staging = makeStaging(root);
    mkdirSync(join(staging, 'new'));
    writeFileSync(join(staging, 'new/x'), '');
    writeFileSync(join(staging, 'journal.json'), '{"files":{"../x":"","x":""},"removed":[]}');
    takeBack(root, staging);
    expect(tree(root)).toEqual(before);
  });
});
