import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { expect, test } from 'vitest';
import { runtimeDependencies, version } from '../../src/plan/versions.ts';

const source = join(import.meta.dirname, '../../packages/runtime/src');

test('the runtime depends on exactly what it imports for servers without an API', async () => {
  const { output } = await build({
    input: ['app.ts', 'index.ts', 'serve.ts', 'testing.ts'].map((file) => join(source, file)),
    platform: 'node',
    external: /^[^./]/,
    write: false,
  });
  const imported = output
    .flatMap((chunk) => (chunk.type === 'chunk' ? [...chunk.imports, ...chunk.dynamicImports] : []))
    .filter((path) => !/^node:|\.js$/.test(path))
    .map((path) => path.split('/')[0]);
  expect(new Set(imported)).toEqual(new Set(Object.keys(runtimeDependencies)));
});

test('the runtime has the version of the program', () => {
  const manifest = JSON.parse(readFileSync(join(source, '../package.json'), 'utf8'));
  expect(manifest.version).toBe(version);
});
