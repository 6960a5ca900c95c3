import { randomInt } from 'node:crypto';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ownSource } from './test/own-source.ts';
import slow from './test/slow.json' with { type: 'json' };

const results = process.env.TEST_RESULTS;

/** `npm run test:nightly` draws a seed; every other run has the same one, so that a failure is that of a change. */
const seed = process.env.NIGHTLY ? randomInt(2 ** 31) : 20_261_122;
// Workers inherit it, and whatever reads this file again finds it set.
if (!process.env.TEST_SEED) {
  process.env.TEST_SEED = String(seed);
  console.log(`TEST_SEED=${process.env.TEST_SEED}`);
}

const folders = (...names: readonly string[]) => names.map((name) => `test/${name}/**/*.test.ts`);

/** Folders of tests that run whole projects. `test/scaffold/`, which does so, too, is part of `unit`. */
const e2e = folders('hostile', 'matrix', 'e2e', 'dev', 'openapi-requests', 'upgrade');
/** They run programs of this machine, bind addresses beside 127.0.0.1, or measure memory. */
const machines = folders('deploy', 'browser', 'attacks', 'reliability');
const endurance = 'test/reliability/endurance.test.ts';
/** What only a release or a measurement needs. */
const nightly = [endurance, ...folders('bench', 'registry')];

const installs = 'test/e2e/global-setup.ts';
const measures = 'test/reliability/global-setup.ts';

/** Files of a minute or more. Some compute, others wait: they run beside each other. */
const long = [
  'broken/broken',
  'reliability/failover',
  'hostile/content',
  'hostile/transport',
  'broken/programs',
  'reliability/lost-tokens',
  'attacks/attacks',
  'matrix/matrix',
  // It builds the earlier version, which others need, too.
  'upgrade/merges',
  'deploy/docker',
  'e2e/harm',
  'e2e/action',
  'e2e/add-tool-kill',
  'e2e/troubleshooting',
  'hostile/clone',
  'contract/probe/deadline',
  'reliability/managers',
];

/** The long files first, so that none of them runs alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification) => {
      const at = long.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return project.config.sequence.groupOrder * 1_000 + (at < 0 ? long.length : at);
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

function project(name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration {
  return { extends: true, test: { name, ...test } };
}

/** `npm test` runs `unit`, `npm run test:more` `slow`, `e2e` and `machines`, `npm run test:nightly` `nightly`: docs/testing.md. */
export default defineConfig({
  ...ownSource,
  test: {
    // Most tests wait for processes of their own, and a generated project is several of them: two cores bear two at once in a file,
    // and four files, which wait for a third of their time.
    maxConcurrency: 2,
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    // What is said does not depend on how the tests were started.
    env: { npm_command: '' },
    reporters: results ? ['default', ['json', { outputFile: results }]] : ['default'],
    // Only a test that hangs takes longer, also on a busy machine.
    testTimeout: 1_200_000,
    // Hooks install, build and publish.
    hookTimeout: 900_000,
    // A click does not wait for the page that it opens.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      project('unit', {
        // One process for many files: a third of the time went into loading the same modules again.
        isolate: false,
        setupFiles: 'test/restored.ts',
        include: folders('**'),
        exclude: [...slow, ...e2e, ...machines, ...nightly],
      }),
      project('slow', { include: slow }),
      project('e2e', { include: e2e, globalSetup: installs }),
      project('machines', {
        include: machines,
        exclude: [endurance],
        globalSetup: [installs, measures],
      }),
      // After all others, one file at a time: figures of a machine that does nothing else.
      project('nightly', {
        include: nightly,
        globalSetup: [installs, measures],
        maxWorkers: 1,
        sequence: { groupOrder: 1 },
      }),
    ],
  },
});
