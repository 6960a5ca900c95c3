import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { expect } from 'vitest';
import type { UpgradedFile } from '../../src/changes/upgrade/plan.ts';
import { bins, compile, failuresOf, lendModules, prove, type Ran, run } from '../e2e/support.ts';
import { answering, inPath, openApi } from '../e2e/upstreams.ts';
import { pick, randomFrom } from '../random.ts';
import { randomSpecs } from '../reliability/random-specs.ts';
import { type Edit, EditedProject, edits, formatterLast } from './edits.ts';
import { type OldVersion, oldProgram } from './old-program.ts';

/** The result of upgrading one project. */
export interface Outcome {
  readonly version: OldVersion;
  readonly project: string;
  readonly platform: string;
  readonly packageManager: string;
  readonly edits: readonly string[];
  readonly files: number;
  readonly merged: number;
}

/** Rules about texts that a random author may fail and no upgrade changes, and SHOULD rules about tools. */
const authorsOwn =
  /^(tool\.(description|distinct)|input\.(description|sample|placeholder)|output\.described)/;

/** Who commits. */
export const identity = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b.c',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b.c',
};

/** Where and how to make a project. The same numbers give the same project. */
interface Making {
  readonly root: string;
  readonly version: OldVersion;
  readonly index: number;
  readonly seed: number;
  /** Absent: random ones. */
  readonly chosen?: readonly Edit[];
}

/** Makes a project with an earlier version, edits it and commits it. */
export async function oldProject({ root, version, index, seed, chosen }: Making) {
  const random = randomFrom(seed * 1_000 + index);
  const platform = index % 2 === 0 ? 'generic' : 'context';
  const packageManager = index % 4 < 2 ? 'npm' : 'pnpm';
  const name = `project-${index}`;
  const directory = join(root, name);
  const flags = ['--platform', platform, '--package-manager', packageManager];
  const isOfApi = index % 5 === 2;
  await createWith(oldProgram(version).create, join(root, name), flags, isOfApi ? null : random);
  const tools = readdirSync(join(directory, 'src/tools')).filter((file) => file !== 'index.ts');
  const project = new EditedProject(directory, pick(random, tools).replace(/\.ts$/, ''));
  const made = chosen ?? distinctEdits(index, random);
  for (const edit of made) edit.make(project);
  await git(directory, 'init', '--quiet');
  await git(directory, 'add', '--all');
  await git(directory, 'commit', '--quiet', '--message', 'before');
  return { project, version, name, platform, packageManager, made };
}

const operationOf = (operationId: string, property: string) => {
  const value = { type: 'number', description: `The ${property} in US dollars.` };
  const schema = { type: 'object', required: [property], properties: { [property]: value } };
  const summary = `Returns the latest ${property} of a trading pair, in US dollars.`;
  const parameters = [{ ...inPath('symbol', 'Trading pair.', 'BTC'), in: 'query' }];
  return { get: { operationId, summary, parameters, responses: answering(schema, { [property]: 1.5 }) } };
};
const document = openApi('https://prices.example', 'Prices', {
  '/price': operationOf('getPrice', 'price'),
  '/volume': operationOf('getVolume', 'volume'),
});

/**
 * Creates a project with a program, of random tools or of an API. An earlier version may have fewer kinds of fields: a refused spec
 * is replaced by another one.
 */
export async function createWith(
  program: string,
  place: string,
  flags: readonly string[],
  random: (() => number) | null,
) {
  const file = `${place}.json`;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const content = random ? randomSpecs(2, Math.floor(random() * 2 ** 31)) : document;
    writeFileSync(file, JSON.stringify(content));
    const start = random
      ? ['--spec', file]
      : ['--from-openapi', file, '--operation', 'getPrice', '--operation', 'getVolume'];
    const args = [basename(place), ...start, '--yes', '--no-install', '--no-git', ...flags];
    const created = await run(process.execPath, [program, ...args], { cwd: dirname(place) });
    if (created.status === 0) return;
  }
  throw new Error(`${program} refuses ten specs in a row`);
}

/** Three to six edits, at most one per file. Forty projects have every kind of edit. */
function distinctEdits(index: number, random: () => number): readonly Edit[] {
  const given = [index, edits.length - 1 - index].flatMap((at) => edits[at] ?? []);
  const chosen = new Map<string, Edit>();
  const count = 3 + Math.floor(random() * 4);
  while (chosen.size < count) {
    const edit = given.shift() ?? pick(random, edits);
    const place = edit.name.replace(/[:,].*/, '').replace('test of a tool', 'tool');
    if (!chosen.has(place)) chosen.set(place, edit);
  }
  return [...chosen.values()].toSorted(formatterLast);
}

/**
 * Upgrades a project, and expects that no work of its author is lost, that the printed lines undo the upgrade to the byte, and that
 * the upgraded project builds and passes its tests and its self-check.
 */
export async function upgradeAndProve(old: Awaited<ReturnType<typeof oldProject>>): Promise<Outcome> {
  const { project, version, name, platform, packageManager, made } = old;
  const { directory } = project;
  const before = bytesOf(directory);
  const first = await upgrade(directory);
  const { files, details, undo } = resultOf(first);
  expect(details, `${name}: ${first.stderr}`).toEqual([]);
  expectKept(project);
  expectUntouched(project, before);
  for (const line of undo.filter((one) => one.startsWith('git ')))
    execFileSync('sh', ['-c', line], { cwd: directory });
  expect(bytesOf(directory)).toEqual(before);
  resultOf(await upgrade(directory));

  lendModules(directory);
  const built = await compile(directory);
  expect(built.status, `${name} (${made.map((edit) => edit.name).join('; ')})\n${built.stdout}`).toBe(0);
  const { report, unitTests } = await prove(directory);
  const broken = report.rules.filter(({ id, level }) => level === 'must' && !authorsOwn.test(id));
  expect(failuresOf({ rules: broken }), name).toEqual([]);
  expect(unitTests.status, unitTests.stdout).toBe(0);
  rmSync(join(directory, 'node_modules'));

  const after = bytesOf(directory);
  const again = await upgrade(directory);
  expect(JSON.parse(again.stdout), name).toMatchObject({ ok: true, files: [] });
  expect(bytesOf(directory)).toEqual(after);
  return {
    version,
    project: name,
    platform,
    packageManager,
    edits: made.map((edit) => edit.name),
    files: files.length,
    merged: files.filter(({ kind }) => kind === 'merged').length,
  };
}

/** `market-mcp upgrade` without an installation; the packages are linked. */
export function upgrade(directory: string, ...flags: readonly string[]): Promise<Ran> {
  const args = [bins.market, 'upgrade', '--no-install', '--json', ...flags];
  return run(process.execPath, args, { cwd: directory });
}

/** The upgrade's own description of the files, whether it is finished or waits for its author. */
export function resultOf({ status, stdout, stderr }: Ran): {
  readonly files: readonly UpgradedFile[];
  /** Conflicts and renamed exports. */
  readonly details: readonly string[];
  readonly undo: readonly string[];
} {
  expect([0, 1], stderr).toContain(status);
  if (status === 0) return { details: [], ...JSON.parse(stdout) };
  const { error } = JSON.parse(stderr);
  expect(error.code).toBe('UPGRADE_CONFLICTS');
  return error;
}

/** Expects the author's text in its file. */
function expectKept({ directory, kept, deleted }: EditedProject): void {
  for (const { path, text } of kept) {
    if (!deleted.has(path)) expect(readFileSync(join(directory, path), 'latin1'), path).toContain(text);
  }
  for (const path of deleted) expect(existsSync(join(directory, path)), path).toBe(false);
}

/** Expects tools, tests and the author's other files to be unchanged. */
function expectUntouched(
  { directory, untouchable }: EditedProject,
  before: ReadonlyMap<string, string>,
): void {
  const after = bytesOf(directory);
  const isOwn = (path: string) =>
    untouchable.has(path) || (/^(src|test)\/tools\//.test(path) && path !== 'src/tools/index.ts');
  for (const path of [...before.keys()].filter(isOwn)) expect(after.get(path), path).toBe(before.get(path));
}

/** Every file except git's and installed or built ones: its mode and bytes. */
export function bytesOf(directory: string): ReadonlyMap<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(directory, path), path] as const)
    .filter(([path]) => !/^(\.git|node_modules|dist)\//.test(path))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, place]) => [path, `${modeOf(place)} ${readFileSync(place, 'latin1')}`] as const);
  return new Map(files);
}

export async function git(directory: string, ...args: readonly string[]): Promise<void> {
  const ran = await run('git', args, { cwd: directory, env: identity });
  if (ran.status !== 0) throw new Error(ran.stderr);
}

/** What git knows of the mode of a file: an upgrade keeps all of it, and git restores this. */
function modeOf(place: string): string {
  return (statSync(place).mode & 0o100) === 0 ? 'a file' : 'a program';
}
