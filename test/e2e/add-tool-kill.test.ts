import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { planAddition } from '../../src/changes/addition.ts';
import { planRemoval } from '../../src/changes/removal.ts';
import { planRename } from '../../src/changes/rename.ts';
import type { SpecEntry } from '../../src/model/tool-model.ts';
import { sha256 } from '../../src/project/read/file-text.ts';
import { openProject, toolsNamed } from '../../src/project/read/open.ts';
import { changeProject } from '../../src/project/write/change.ts';
import { makeStaging } from '../../src/project/write/staging.ts';
import { type ProjectChange, steps } from '../../src/project/write/transaction.ts';
import { randomFrom, seed } from '../random.ts';
import { countWrites, endAt, type Moment, randomWrite } from './kill.ts';
import { bins, compile, lendModules, market, scaffold, scratch, tree } from './support.ts';

const kills = process.env.NIGHTLY ? 50 : 9;

const root = scratch();
const random = randomFrom(seed);
/** Hashes of the source states that compile. */
const compiled = new Set<string>();

const spec = join(root, 'three.json');
writeFileSync(
  spec,
  JSON.stringify(
    ['get_a', 'get_b', 'get_c'].map((name) => ({
      name,
      description: `Returns the ${name} of a chain, with its unit. Use it when a question asks for ${name}.`,
      input: [],
      output: [{ name: 'value', type: 'number', required: true, description: 'The value' }],
    })),
  ),
);
const add = ['add-tool', '--spec', spec, '--yes', '--no-check'];
const remove = ['remove-tool', 'get_a', 'get_b', '--yes', '--no-check'];

const rename = ['rename-tool', 'get_first', 'last_block', '--yes', '--no-check'];

/** A project before and after one of the commands. */
interface Case {
  readonly command: readonly string[];
  readonly before: string;
  readonly after: string;
  /** The number of changes that a whole run makes in the project. */
  readonly writes: number;
}

let cases: readonly Case[] = [];

beforeAll(async () => {
  const { directory: small } = await scaffold(['small', '--tool', 'get_first'], { cwd: root });
  rmSync(join(small, 'node_modules'));
  rmSync(join(small, 'dist'), { recursive: true });
  const added = await caseOf('added', small, add);
  cases = [added, await caseOf('removed', added.after, remove), await caseOf('renamed', added.after, rename)];
});

it(`a project killed at ${kills} random moments is unchanged or complete, and builds`, async () => {
  const seen = { before: 0, after: 0 };
  for (let i = 0; i < kills; i += 1) {
    const { command, before, after, writes } = cases[i % cases.length] as Case;
    const moment: Moment = { afterWrite: randomWrite(random, i, writes), signal: 'SIGKILL' };
    const killed = copy('killed', before);
    await endAt(bins.market, command, { cwd: killed, moment });
    const state = await settle(killed, before, after, {
      moment: JSON.stringify(moment),
      nextRun: anotherProgram,
    });
    seen[state] += 1;
  }
  console.log(
    `killed ${kills} times: ${seen.before} as before, ${seen.after} as after; ${compiled.size} states compiled`,
  );
  expect(seen.before).toBeGreaterThan(0);
});

it('so is one killed between any two renames', async () => {
  for (const { command, before, after } of cases) {
    const change = await changeOf(before, command);
    const count = change.files.size + change.removed.length;
    for (let done = 0; done <= count; done += 1) {
      const killed = copy('killed', before);
      const moves = steps(killed, abandonedStaging(killed), change);
      for (let i = 0; i < done; i += 1) moves.next();
      const moment = `${command[0]} after ${done} of ${count} renames`;
      const state = await settle(killed, before, after, { moment, nextRun: sameProgram });
      if (done === count) expect(state).toBe('after');
    }
  }
});

/** Expects that the files serve the tools of before or after and compile, and that the next run cleans up. */
async function settle(
  killed: string,
  before: string,
  after: string,
  { moment, nextRun }: { moment: string; nextRun(directory: string): Promise<void> },
): Promise<'before' | 'after'> {
  expect([await served(before), await served(after)], moment).toContainEqual(await served(killed));
  await expectToCompile(killed);
  await nextRun(killed);
  const files = filesOf(killed);
  expect([filesOf(before), filesOf(after)], moment).toContainEqual(files);
  expect(readdirSync(killed).filter((name) => name.startsWith('.create-market-mcp'))).toEqual([]);
  rmSync(killed, { recursive: true });
  return isDeepStrictEqual(files, filesOf(after)) ? 'after' : 'before';
}

async function anotherProgram(directory: string): Promise<void> {
  const { status, stderr } = await market(['list', '--mark-listed'], { cwd: directory });
  expect(status, stderr).toBe(0);
}

async function sameProgram(directory: string): Promise<void> {
  await changeProject(directory, async () => ({ change: null }));
}

async function changeOf(directory: string, [name]: readonly string[]): Promise<ProjectChange> {
  const project = await openProject(directory);
  if (name === 'rename-tool') return (await planRename(project, 'get_first', 'last_block')).change;
  const entries = JSON.parse(readFileSync(spec, 'utf8')).map((entry: SpecEntry) => ({
    entry,
    sampleAnswers: [],
    changes: [],
  }));
  const { change } =
    name === 'add-tool'
      ? await planAddition(project, entries)
      : await planRemoval(project, ['get_a', 'get_b'], false);
  if (!change) throw new Error('nothing to do');
  return change;
}

/** A staging directory of a process that has ended. */
function abandonedStaging(directory: string): string {
  const own = makeStaging(directory);
  const gone = spawnSync('true').pid;
  const abandoned = own.replace(`-${process.pid}-`, `-${gone}-`);
  renameSync(own, abandoned);
  return abandoned;
}

function copy(name: string, from: string): string {
  const to = join(root, name);
  cpSync(from, to, { recursive: true });
  return to;
}

/** Runs a command to its end in a copy of a project. */
async function caseOf(name: string, before: string, command: readonly string[]): Promise<Case> {
  const after = copy(name, before);
  const { result, writes } = await countWrites(bins.market, command, after);
  expect(result.status, result.stderr).toBe(0);
  return { command, before, after, writes };
}

/** The names of the tools that a project serves. */
async function served(directory: string): Promise<readonly string[]> {
  const { tools } = await openProject(directory);
  return toolsNamed(tools.filter((tool) => tool.isServed)).map(({ name }) => name);
}

/** All files except leftovers of killed runs, outputs of the build, and the record of the next run. */
function filesOf(directory: string): Record<string, unknown> {
  const files = [...tree(directory)].filter(
    ([path]) => !/^(\.create-market-mcp|dist|node_modules|listing\.json$)/.test(path),
  );
  return Object.fromEntries(files);
}

async function expectToCompile(directory: string): Promise<void> {
  const sources = Object.entries(filesOf(directory)).filter(([path]) => path.endsWith('.ts'));
  const state = sha256(JSON.stringify(sources));
  if (compiled.has(state)) return;
  lendModules(directory);
  const { status, stdout } = await compile(directory);
  expect(status, stdout).toBe(0);
  rmSync(join(directory, 'node_modules'));
  rmSync(join(directory, 'dist'), { recursive: true });
  compiled.add(state);
}
