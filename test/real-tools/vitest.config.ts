import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { ownSource } from '../own-source.ts';

/** A separate command, because it installs third-party servers and writes docs/evidence/real-tools.md. */
export default defineConfig({
  ...ownSource,
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/real-tools/**/*.test.ts'],
    globalSetup: 'test/e2e/global-setup.ts',
    testTimeout: 300_000,
    maxConcurrency: 2,
    env: { npm_command: '' },
  },
});
