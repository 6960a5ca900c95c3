import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Run by its own command: it starts a registry and installs packages through it. */
export default defineConfig({
  test: {
    name: 'registry',
    root: join(import.meta.dirname, '../..'),
    include: ['test/registry/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    env: { npm_command: '' },
  },
});
