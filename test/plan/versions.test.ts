import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { dependencies } from '../../src/plan/versions.ts';

const source = join(import.meta.dirname, '../../templates/project/src');

test('a generated server depends on what it imports, and on nothing else but its own development', async () => {
  const { metafile } = await build({
    entryPoints: [
      'config.ts',
      'process.ts',
      'server/http.ts',
      'server/listen.ts',
      'server/define-tool.ts',
    ].map((file) => join(source, file)),
    bundle: true,
    write: false,
    outdir: 'nowhere',
    platform: 'node',
    format: 'esm',
    packages: 'external',
    metafile: true,
  });
  const imported = Object.values(metafile.outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external && !path.startsWith('node:'))
    .map(({ path }) => path.split('/')[0]);
  // What is loaded when it is first needed.
  const required = readdirSync(join(source, 'server')).flatMap((file) => {
    const text = readFileSync(join(source, 'server', file), 'utf8');
    return [...text.matchAll(/createRequire\(import\.meta\.url\)\('([^']+)'\)/g)].map(([, name]) => name);
  });
  expect(new Set([...imported, ...required])).toEqual(new Set(Object.keys(dependencies)));
});
