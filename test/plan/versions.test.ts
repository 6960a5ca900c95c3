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
  expect(new Set(imported)).toEqual(new Set(Object.keys(dependencies)));
});
