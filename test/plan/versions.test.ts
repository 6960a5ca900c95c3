import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { expect, test } from 'vitest';
import { runtimeDependencies, version } from '../../src/plan/versions.ts';

const source = join(import.meta.dirname, '../../runtime/src');

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
  // Packages that are loaded on first use.
  const required = readdirSync(join(source, 'server')).flatMap((file) => {
    const text = readFileSync(join(source, 'server', file), 'utf8');
    return [...text.matchAll(/createRequire\(import\.meta\.url\)\('([^']+)'\)/g)].map(([, name]) => name);
  });
  expect(new Set([...imported, ...required])).toEqual(new Set(Object.keys(runtimeDependencies)));
});

test('the runtime has the version of the program', () => {
  const manifest = JSON.parse(readFileSync(join(source, '../package.json'), 'utf8'));
  expect(manifest.version).toBe(version);
});
