import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { version } from '../../src/plan/package-versions.ts';

const source = join(import.meta.dirname, '../../packages/runtime/src');

test('the runtime has the version of the program', () => {
  const manifest = JSON.parse(readFileSync(join(source, '../package.json'), 'utf8'));
  expect(manifest.version).toBe(version);
});
