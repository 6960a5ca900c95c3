import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { ownSource } from '../../test/own-source.ts';
import { changedText, changes } from './changes.ts';

const root = join(import.meta.dirname, '../..');
const change = changes[Number(process.env.CHANGE || -1)];
const changed = change && join(root, 'packages/runtime/src', change.file);

/** The unit tests of the runtime, with one change in it: `npm run mutate`. The change is in what the tests load, not on disk. */
export default defineConfig({
  ...ownSource,
  plugins: [
    {
      name: 'change',
      enforce: 'pre',
      load: (id) => (change && id === changed ? changedText(change, readFileSync(id, 'utf8')) : undefined),
    },
  ],
  test: {
    root,
    include: ['test/runtime/**/*.test.ts'],
    env: { npm_command: '', TEST_SEED: '1' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 1,
  },
});
