import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { FileSet } from '../../../src/plan/planned-file.ts';
import { makeStaging, removeStaging, writeFiles } from '../../../src/project/write/staging.ts';
import { rollBack, steps } from '../../../src/project/write/transaction.ts';
import { directory } from '../directory.ts';

const files: FileSet = new Map([
  ['src/a.ts', { content: Buffer.from('new'), owner: 'yours' }],
  ['manifest.json', { content: Buffer.from('2'), owner: 'generated' }],
]);

it('writes no file over another one, and through no link', () => {
  const root = directory();
  writeFileSync(join(root, 'mine'), 'mine');
  mkdirSync(join(root, 'src'));
  symlinkSync(join(root, 'mine'), join(root, 'src/a.ts'));
  expect(() => writeFiles(root, files)).toThrow('EEXIST');
  expect(readFileSync(join(root, 'mine'), 'utf8')).toBe('mine');
});

it('copies a link that it replaces as a link, and puts it back', () => {
  const root = directory();
  mkdirSync(join(root, 'src'));
  symlinkSync('/nowhere', join(root, 'src/a.ts'));
  const staging = makeStaging(root);
  steps(root, staging, { files, removed: [] }).next();
  expect(lstatSync(join(root, 'src/a.ts')).isFile()).toBe(true);
  expect(readlinkSync(join(staging, 'old/src/a.ts'))).toBe('/nowhere');
  rollBack(root, staging);
  expect(readlinkSync(join(root, 'src/a.ts'))).toBe('/nowhere');
});

it('replaces a file by one rename, so there is one at every moment', () => {
  const root = directory();
  const manifest = join(root, 'manifest.json');
  writeFileSync(manifest, '1');
  const seen = [...steps(root, makeStaging(root), { files, removed: [] })].map(() => existsSync(manifest));
  expect(seen).toEqual([true, true]);
});

it('removes a link in a staging directory, not what it leads to', () => {
  const [root, outside] = [directory(), directory()];
  writeFileSync(join(outside, 'mine'), 'mine');
  const staging = makeStaging(root);
  symlinkSync(outside, join(staging, 'link'));
  removeStaging(staging);
  expect(readdirSync(root)).toEqual([]);
  expect(readdirSync(outside)).toEqual(['mine']);
});
