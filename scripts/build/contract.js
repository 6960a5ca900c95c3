import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { conditionNames } from '../load.js';
import { licences } from './licences.js';
import { checks, commanderWithoutProcesses, readExplanations, small, smallDependencies } from './shared.js';
import { writeTypes } from './types.js';
import { compiledSchemas } from './validators.js';
import { functionWrappers } from './wrappers.js';

// Bundles the contract as it is published: a library and a program that depend on nothing, with types.

const place = 'packages/contract';
rmSync(join(place, 'dist'), { recursive: true, force: true });
const types = writeTypes(place, join(place, 'dist/types'), ['index.d.ts', 'platforms/index.d.ts']);
const { output } = await build({
  input: {
    index: join(place, 'src/index.ts'),
    platforms: join(place, 'src/platforms/index.ts'),
    program: join(place, 'src/program/main.ts'),
  },
  platform: 'node',
  checks,
  resolve: { conditionNames },
  treeshake: { moduleSideEffects: (id) => (id.includes('node_modules') ? undefined : false) },
  plugins: [
    readExplanations(),
    compiledSchemas(),
    commanderWithoutProcesses(),
    smallDependencies(),
    functionWrappers(),
  ],
  output: { ...small, dir: join(place, 'dist') },
});
writeFileSync(join(place, 'dist/LICENSES.txt'), licences(output.flatMap(({ moduleIds = [] }) => moduleIds)));
await types;
