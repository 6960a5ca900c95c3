import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync } from 'node:zlib';
import { build } from 'rolldown';
import { contract, programs, runtime } from './rolldown.config.js';
import { writeTypes } from './scripts/build/types.js';
import { load } from './scripts/load.js';

// Builds the three packages: the runtime, the contract, and the programs. With `--published`, projects install them from the registry
// (src/plan/published.ts). Otherwise, the package of the programs contains what a project gets in its `vendor` folder.

const isPublished = process.argv.includes('--published');

await build([runtime, contract, programs({ isPublished })]);
await writeTypes('packages/runtime', 'dist', Object.keys(runtime.input));
await writeTypes('packages/contract', 'dist/types', ['index', 'platforms/index']);
await writeSpecSchema();
// The earlier versions whose projects can be upgraded.
cpSync('releases', 'dist/releases', { recursive: true });
// The last step, because the packed package contains all other files.
if (!isPublished) await packForProjects();

async function writeSpecSchema() {
  const { specFileSchema } = await load('src/tools/tool-spec-schema.ts');
  writeFileSync('dist/tool-spec.schema.json', `${JSON.stringify(specFileSchema, null, 2)}\n`);
}

/** Packs the runtime and the programs for projects that do not install them from the registry. */
async function packForProjects() {
  const { packPackage, packRuntime, packedDirectory, smallRuntime } = await load(
    'src/project/package/pack.ts',
  );
  const packedRuntime = packRuntime('.');
  mkdirSync(packedDirectory);
  writeFileSync(smallRuntime, brotliCompressSync(gunzipSync(packedRuntime.content)));
  for (const { name, content } of [packedRuntime, packPackage('.')])
    writeFileSync(join(packedDirectory, name), content);
}
