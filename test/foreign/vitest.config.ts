import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Run by its own command, since it writes docs/foreign-servers.md. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/foreign/foreign.test.ts'],
    globalSetup: 'test/foreign/global-setup.ts',
    testTimeout: 300_000,
    env: { npm_command: '' },
  },
});
