import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Run by its own command, since it fetches documents of others and writes docs/openapi.md. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/openapi-table/**/*.test.ts'],
    globalSetup: ['test/e2e/global-setup.ts'],
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    env: { npm_command: '' },
  },
});
