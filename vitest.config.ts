import { randomInt } from 'node:crypto';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const results = process.env.TEST_RESULTS;

/** `npm run test:nightly` draws a seed; every other run has the same one, so that a failure is that of a change. */
const seed = process.env.NIGHTLY ? randomInt(2 ** 31) : 20_261_122;
// Workers inherit it, and whatever reads this file again finds it set.
if (!process.env.TEST_SEED) {
  process.env.TEST_SEED = String(seed);
  console.log(`TEST_SEED=${process.env.TEST_SEED}`);
}

/** Unit tests of three seconds or more: `npm test` must take at most two minutes. */
const thorough = [
  'broken/broken',
  'broken/sample',
  'changes/deployment',
  'check/launch',
  'check/self-check',
  'cli/bin',
  'cli/check',
  'cli/tools/clone',
  'cli/tools/doctor',
  'cli/tools/rename-tool',
  'contract/findings',
  'contract/probe/deadline',
  'contract/probe/life',
  'contract/probe/safety',
  'contract/receive',
  'contract/report/not-run',
  'contract/rules/inspect',
  'contract/run',
  'foreign/quickstart',
  'fuzz/short',
  'marketplace/access',
  'marketplace/marketplace',
  'marketplace/pages',
  'project/source/mcp-server',
  'project/write/write',
  'questions/create',
  'runtime/built',
  'runtime/call',
  'runtime/http',
  'runtime/keys',
  'runtime/limits',
  'runtime/metrics',
  'runtime/patterns',
  'runtime/source',
  'runtime/types',
  'system/package-manager',
  'tools/definitions.property',
  'tools/prepare',
].map((name) => `test/${name}.test.ts`);

/** Tests that build and run projects: they take longer. */
function builds(name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration {
  return { extends: true, test: { name, testTimeout: 300_000, hookTimeout: 300_000, ...test } };
}

const installs = 'test/e2e/global-setup.ts';
const measures = [installs, 'test/reliability/global-setup.ts'];

/** `npm test` runs `unit` and `scaffold`, `npm run test:more` all others: docs/testing.md. */
export default defineConfig({
  // The contract's own source, as tsconfig.json has it.
  resolve: { conditions: ['market-mcp-source'] },
  ssr: { resolve: { conditions: ['market-mcp-source'] } },
  test: {
    // Most tests wait for processes of their own, and a generated project is several of them; two cores bear two at once.
    maxConcurrency: 2,
    maxWorkers: 2,
    // What is said does not depend on how the tests were started.
    env: { npm_command: '' },
    reporters: results ? ['default', ['json', { outputFile: results }]] : ['default'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/{scaffold,hostile,matrix,judge,e2e,dev,browser,registry,bench,reliability,attacks,real-tools,upgrade,openapi-requests,deploy,windows}/**',
            'test/foreign/foreign.test.ts',
            'test/fuzz/long.test.ts',
            ...thorough,
          ],
          testTimeout: 120_000,
        },
      },
      builds('thorough', { include: thorough }),
      builds('scaffold', { include: ['test/scaffold/**/*.test.ts'] }),
      builds('hostile', { include: ['test/{hostile,matrix,judge}/**/*.test.ts'] }),
      builds('e2e', {
        include: ['test/{e2e,dev,openapi-requests}/**/*.test.ts'],
        globalSetup: installs,
      }),
      // They build and run images and Workers.
      builds('deploy', {
        include: ['test/deploy/**/*.test.ts'],
        globalSetup: installs,
        testTimeout: 900_000,
      }),
      // Needs the package to be built, and chromium.
      builds('browser', { include: ['test/browser/**/*.test.ts'] }),
      builds('registry', { include: ['test/registry/**/*.test.ts'] }),
      builds('bench', { include: ['test/bench/**/*.test.ts'] }),
      // Needs Wine.
      builds('windows', { include: ['test/windows/**/*.test.ts'], globalSetup: installs }),
      // They make projects of earlier versions from the history of this repository.
      builds('upgrade', { include: ['test/upgrade/**/*.test.ts'], globalSetup: installs }),
      builds('reliability', {
        include: ['test/reliability/**/*.test.ts'],
        exclude: ['test/reliability/endurance.test.ts'],
        globalSetup: measures,
      }),
      // They bind addresses of this machine beside 127.0.0.1, and measure memory.
      builds('attacks', { include: ['test/attacks/**/*.test.ts'] }),
      // Its figures are those of a machine that does nothing else.
      builds('endurance', {
        include: ['test/reliability/endurance.test.ts'],
        globalSetup: measures,
        sequence: { groupOrder: 1 },
      }),
    ],
  },
});
