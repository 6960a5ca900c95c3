import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { ownSource } from '../test/own-source.ts';

if (!process.env.TEST_SEED) process.env.TEST_SEED = '20261122';
console.log(`TEST_SEED=${process.env.TEST_SEED}`);

const projectModules = 'test/e2e/global-setup.ts';

/** A project for each folder with tests: evidence/README.md. */
function project(
  name: string,
  options: TestProjectInlineConfiguration['test'] = {},
): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include: [`evidence/${name}/**/*.test.ts`], ...options } };
}

export default defineConfig({
  ...ownSource,
  root: join(import.meta.dirname, '..'),
  test: {
    testTimeout: 1_200_000,
    hookTimeout: 900_000,
    maxConcurrency: 2,
    env: { npm_command: '' },
    projects: [
      project('foreign-servers', { globalSetup: 'evidence/foreign-servers/global-setup.ts' }),
      project('real-tools', { globalSetup: projectModules }),
      project('windows', { globalSetup: projectModules }),
      project('fuzz', { testTimeout: 0 }),
      project('listing-schema'),
    ],
  },
});
