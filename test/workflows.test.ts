import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const folder = join(root, '.github/workflows');

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: { readonly [name: string]: Job };
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: unknown;
  readonly strategy?: { readonly matrix: unknown };
  readonly steps: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

describe.each(readdirSync(folder))('the workflow %s', (file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const workflow = load(text) as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  test('uses each action at a commit, with its version beside it', () => {
    const uses = text.split('\n').filter((line) => line.includes('uses:'));
    expect(uses).toHaveLength(steps.filter((step) => step.uses !== undefined).length);
    for (const line of uses) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('may only read, except where a job says more', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
  });

  test('runs files and scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const commands = steps.map((step) => step.run ?? '').join('\n');
    const files = [...commands.matchAll(/^node (\S+\.js)|^(\.ci\/\S+)/gm)].map(
      ([, script, run]) => script ?? run,
    );
    expect(files.filter((name) => !existsSync(join(root, String(name))))).toEqual([]);
    const named = [...commands.matchAll(/npm run (\S+)/g)].map(([, name]) => name);
    expect(named.filter((name) => !(String(name) in scripts))).toEqual([]);
  });
});

test('a version is published only after its tests, with the findings about third-party servers', () => {
  const { jobs } = load(readFileSync(join(folder, 'release.yml'), 'utf8')) as Workflow;
  expect(jobs.publish?.needs).toEqual(['pack', 'evidence']);
  expect([jobs.pack?.needs, jobs.evidence?.needs]).toEqual(['test', 'test']);
  expect(jobs.test?.steps.map(({ run }) => run).slice(-2)).toEqual(['.ci/run', 'npm run test:release']);
  const commandsOf = (job: string) => jobs[job]?.steps.flatMap(({ run }) => run ?? []) ?? [];
  expect(commandsOf('pack')).toEqual([
    'npm ci --ignore-scripts',
    'npm audit --audit-level=high',
    'npm run release -- pack release',
  ]);
  // The job that may publish installs nothing, and alone has more rights than reading.
  const [publish, page] = commandsOf('publish');
  expect([publish, page]).toEqual([
    'npm run release -- publish release',
    expect.stringMatching(/^gh release/),
  ]);
  const withRights = Object.keys(jobs).filter((job) => jobs[job]?.permissions !== undefined);
  expect(withRights).toEqual(['publish']);
  const { name, path } = jobs.evidence?.steps.at(-1)?.with ?? {};
  expect(path).toBe('dist/foreign-servers.md');
  expect(jobs.publish?.steps.map((step) => step.with)).toContainEqual({ name, path: 'release' });
});

test('both lines of the README run on Windows and macOS', () => {
  const { jobs } = load(readFileSync(join(folder, 'ci.yml'), 'utf8')) as Workflow;
  const [, block = ''] = /```sh\n([^`]+)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  const lines = block.trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(jobs.systems?.steps.flatMap(({ run }) => run ?? [])).toEqual(lines);
  expect(jobs.systems?.strategy?.matrix).toEqual({
    os: ['windows-latest', 'macos-latest'],
    node: [20, 22, 24],
  });
});
