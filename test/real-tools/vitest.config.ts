import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Run by its own command, since it installs servers of others and writes docs/real-tools.md. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/real-tools/**/*.test.ts'],
    globalSetup: ['test/e2e/global-setup.ts', 'test/real-tools/global-setup.ts'],
    testTimeout: 300_000,
    maxConcurrency: 2,
    env: { npm_command: '' },
  },
});
