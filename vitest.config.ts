import { defineConfig } from 'vitest/config';

const results = process.env.TEST_RESULTS;

export default defineConfig({
  test: {
    reporters: results ? ['default', ['json', { outputFile: results }]] : ['default'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/reliability/**'],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: 'test/e2e/global-setup.ts',
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
