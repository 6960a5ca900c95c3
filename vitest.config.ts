import { defineConfig } from 'vitest/config';

const results = process.env.TEST_RESULTS;

export default defineConfig({
  test: {
    // A generated project is compiled and run by several processes of its own; two cores bear two at once.
    maxConcurrency: 2,
    // What is said does not depend on how the tests were started.
    env: { npm_command: '' },
    reporters: results ? ['default', ['json', { outputFile: results }]] : ['default'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/reliability/**'],
          testTimeout: 120_000,
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
      'test/reliability/vitest.config.ts',
    ],
  },
});
