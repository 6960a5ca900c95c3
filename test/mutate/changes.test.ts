import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@babel/parser';
import { expect, it } from 'vitest';
import { repository } from '../e2e/support.ts';
import { changedText, changes } from './changes.ts';

it.each(changes)('$file still has "$before", and is TypeScript after the change', (change) => {
  const text = readFileSync(join(repository, 'packages/runtime/src', change.file), 'utf8');
  parse(changedText(change, text), { sourceType: 'module', plugins: ['typescript'] });
  const files = change.tests.map((name) => join(repository, `test/runtime/${name}.test.ts`));
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

it('applies to text that occurs once alone', () => {
  const change = { file: 'a.ts', before: 'b', after: '$&c', tests: [] };
  expect(changedText(change, 'abd')).toBe('a$&cd');
  expect(() => changedText(change, 'acd')).toThrow('a.ts must have this text once: b');
  expect(() => changedText(change, 'abdb')).toThrow('a.ts must have this text once: b');
});
