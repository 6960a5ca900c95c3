import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { ownSource } from '../own-source.ts';

/** A separate command, because it writes docs/evidence/foreign-servers.md and dist/foreign-servers.md. */
export default defineConfig({
  ...ownSource,
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/foreign/foreign.test.ts'],
    globalSetup: 'test/foreign/global-setup.ts',
    maxConcurrency: 3,
    testTimeout: 300_000,
    env: { npm_command: '' },
  },
});
