import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'reliability',
    root: join(import.meta.dirname, '../..'),
    include: ['test/reliability/**/*.test.ts'],
    globalSetup: ['test/e2e/global-setup.ts', 'test/reliability/global-setup.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
