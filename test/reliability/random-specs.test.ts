import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { inspectToolList } from '../../packages/contract/src/rules/inspect.ts';
import { mapConcurrently } from '../../packages/contract/src/wire/concurrency.ts';
import type { CallResult } from '../../packages/runtime/src/server/call-result.ts';
import { toImportedTool } from '../../src/import/imported-tool.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { toolFile } from '../../src/model/names.ts';
import type { PreparedTool, ToolSpec } from '../../src/model/tool-model.ts';
import { planProject } from '../../src/plan/plan-project.ts';
import { readTemplates } from '../../src/project/package/templates.ts';
import { render } from '../../src/render/render.ts';
import { compile, failuresOf, lendModules, prove, scaffold, scratch } from '../e2e/support.ts';
import { seed } from '../random.ts';
import { record } from './figures.ts';
import { randomSpecs } from './random-specs.ts';

const perProfile = process.env.NIGHTLY ? 160 : 80;
const built = process.env.NIGHTLY ? 10 : 3;
const toolsPerProject = 3;
const atOnce = 3;

/** Rules that every tool must pass, because the program provides what they need. */
const ours = new Set([
  'fit.title',
  'fit.hints',
  'fit.idempotent-hint',
  'fit.no-root-union',
  'fit.no-ref',
  'fit.keywords',
]);

/** Rules about texts, which random authors may fail. */
const authorsOwn = new Set([
  'tool.description-length',
  'tool.description-complete',
  'tool.description-own-words',
  'tool.description-distinct',
  'input.description',
  'input.sample',
  'input.placeholder',
  'output.described',
  ...rules.flatMap(({ id }) => (id.startsWith('fit.') && !ours.has(id) ? [id] : [])),
]);

const root = scratch();
const done = { rendered: 0, called: 0, selfChecked: 0 };

afterAll(() => record('random-specs', { seed, ...done }));

describe.each([generic, context])('random tool specs for $name', (profile) => {
  const specs = randomSpecs(perProfile, seed + (profile === generic ? 0 : 1));
  const directory = join(root, profile.name);
  let prepared: readonly PreparedTool[] = [];

  it('become projects whose every file is well-formed and compiles', async () => {
    prepared = prepareAll(specs, profile);
    const templates = readTemplates();
    const answers = {
      name: profile.name,
      profile,
      packageManager: 'npm',
      tools: prepared,
      packages: { program: 'file:vendor/none.tgz', runtime: 'file:vendor/none.tgz' },
      start: 'blank',
      targets: [],
    } as const;
    for (const [path, { content }] of render(planProject(answers, templates), templates)) {
      mkdirSync(join(directory, path, '..'), { recursive: true });
      writeFileSync(join(directory, path), content);
    }
    lendModules(directory);
    const { stdout } = await compile(directory);
    expect(invalidSpecs(stdout, specs), stdout.slice(0, 2_000)).toEqual([]);
    done.rendered += specs.length;
  });

  it('serve exactly the prepared definitions, which pass every static rule', async () => {
    const tools = await compiledTools(directory);
    const served = Object.fromEntries(
      tools.map(({ name, ...tool }) => [name, JSON.parse(JSON.stringify(tool))]),
    );
    for (const { definition, examples } of prepared) {
      const { name, ...rest } = definition;
      expect(served[name], name).toEqual({ ...JSON.parse(JSON.stringify(rest)), examples });
    }
    const failed = inspectToolList(tools.map(definitionOf), profile).filter(
      ({ id, status }) => status === 'fail' && !authorsOwn.has(id),
    );
    expect(failed).toEqual([]);
  });

  it('answer every example as expected', async () => {
    const { callTool } = await import(join(directory, 'node_modules/market-mcp-runtime/dist/testing.js'));
    for (const tool of await compiledTools(directory)) {
      for (const { arguments: args, expect: expected } of tool.examples) {
        const result: CallResult = await callTool(tool, args);
        expect(outcomeOf(result), `${tool.name} ${JSON.stringify(args)}`).toBe(expected);
        done.called += 1;
      }
    }
  });
});

it(`builds, starts and checks ${built} projects of random tool specs`, async () => {
  const specs = randomSpecs(built * toolsPerProject, seed + 2);
  const projects = Array.from({ length: built }, (_, index) =>
    specs.slice(index * toolsPerProject, (index + 1) * toolsPerProject),
  );
  const outcomes = await mapConcurrently(projects, atOnce, proveProject);
  expect(outcomes.filter(({ failures, unitTests }) => failures.length > 0 || unitTests.status !== 0)).toEqual(
    [],
  );
  done.selfChecked += outcomes.length;
});

async function proveProject(specs: readonly ToolSpec[], index: number) {
  const file = join(root, `project-${index}.json`);
  writeFileSync(file, JSON.stringify(specs));
  const platform = index % 2 === 0 ? 'generic' : 'context';
  const { directory } = await scaffold([`project-${index}`, '--spec', file, '--platform', platform], {
    cwd: root,
  });
  const { report, unitTests } = await prove(directory);
  const judged = report.rules.filter(({ id }) => !authorsOwn.has(id));
  return { specs, failures: failuresOf({ ...report, rules: judged }), unitTests };
}

/** Prepares all specs as one project's. @throws Error that lists each refused spec with its errors */
function prepareAll(specs: readonly ToolSpec[], profile: PlatformProfile): readonly PreparedTool[] {
  const whole = prepareTools(specs.map(toImportedTool), profile);
  if (whole.ok) return whole.value.tools;
  const refused = specs.flatMap((spec) => {
    const alone = prepareTools([spec].map(toImportedTool), profile);
    return alone.ok ? [] : [JSON.stringify({ spec, errors: alone.errors })];
  });
  throw new Error(refused.slice(0, 3).join('\n'));
}

/** The specs whose files are named in the compiler's output. */
function invalidSpecs(output: string, specs: readonly ToolSpec[]): readonly unknown[] {
  const named = [...output.matchAll(/^(\S+)\(\d+,\d+\): error/gm)].map(([, path]) => path ?? '');
  return [...new Set(named)].map((path) => {
    const file = /tools\/(.+?)(\.test)?\.ts$/.exec(path)?.[1];
    return { path, spec: specs.find(({ name }) => toolFile(name) === file) };
  });
}

interface CompiledTool {
  readonly name: string;
  readonly examples: readonly { readonly arguments: JsonObject; readonly expect: string }[];
}

async function compiledTools(directory: string): Promise<readonly CompiledTool[]> {
  const { tools } = await import(join(directory, 'dist/src/tools/index.js'));
  return tools;
}

function definitionOf({ examples: _, ...tool }: CompiledTool): JsonObject {
  return JSON.parse(JSON.stringify(tool));
}

function outcomeOf({ isError, structuredContent }: CallResult): string {
  if (isError) return 'fail';
  return structuredContent?.searchExhausted ? 'empty' : 'found';
}
