import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { expect } from 'vitest';
import type { UpgradedFile } from '../../src/changes/upgrade/model.ts';
import { bins, compile, failuresOf, lendModules, prove, type Ran, run } from '../e2e/support.ts';
import { pick, randomFrom } from '../random.ts';
import { randomSpecs } from '../reliability/random-specs.ts';
import { type Edit, EditedProject, editsOf, formatterLast } from './edits.ts';
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
  readonly overruled: number;
  /** Conflicts and open tasks. */
  readonly open: number;
}

/** Rules about texts that a random author may fail and no upgrade changes, and SHOULD rules about tools. */
const authorsOwn =
  /^(tool\.(description|distinct)|input\.(description|sample|placeholder)|output\.described)/;

/** Version 0.1.0 invented examples that ignored the format of their parameter (docs/upgrade.md). */
const inventedByOldProgram = /INVALID_ARGUMENTS.*must match format/;

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
  const api = asksApi(version, index);
  await createWith(oldProgram(version).create, join(root, name), flags, api ? null : random);
  const tools = readdirSync(join(directory, 'src/tools')).filter((file) => file !== 'index.ts');
  const project = new EditedProject(directory, pick(random, tools).replace(/\.ts$/, ''));
  const made = chosen ?? distinctEdits(version, index, random);
  for (const edit of made) edit.make(project);
  await git(directory, 'init', '--quiet');
  await git(directory, 'add', '--all');
  await git(directory, 'commit', '--quiet', '--message', 'before');
  return { project, version, name, platform, packageManager, made };
}

/** Whether a project calls an API, for which 0.2.0 writes the source kit. */
export function asksApi(version: OldVersion, index: number): boolean {
  return version === '0.2.0' && index % 5 === 2;
}

/** An operation of an OpenAPI document. */
function operation(operationId: string, property: string) {
  const value = { type: 'number', description: `The ${property} in US dollars.` };
  const schema = { type: 'object', required: [property], properties: { [property]: value } };
  return {
    operationId,
    summary: `Returns the latest ${property} of a trading pair, in US dollars.`,
    parameters: [
      {
        name: 'symbol',
        in: 'query',
        required: true,
        description: 'Trading pair.',
        schema: { type: 'string', examples: ['BTC'] },
      },
    ],
    responses: {
      200: {
        description: 'The answer.',
        content: { 'application/json': { schema, example: { [property]: 1.5 } } },
      },
    },
  };
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Prices', version: '1' },
  servers: [{ url: 'https://prices.example' }],
  paths: {
    '/price': { get: operation('getPrice', 'price') },
    '/volume': { get: operation('getVolume', 'volume') },
  },
};

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
function distinctEdits(version: OldVersion, index: number, random: () => number): readonly Edit[] {
  const [edits, all] = [false, asksApi(version, index)].map((api) => editsOf(version, api)) as [
    Edit[],
    Edit[],
  ];
  const given = [
    ...all.filter((edit) => !edits.includes(edit)),
    ...[index, edits.length - 1 - index].map((at) => edits[at] as Edit),
  ];
  const chosen = new Map<string, Edit>();
  const count = 3 + Math.floor(random() * 4);
  while (chosen.size < count) {
    const edit = given.shift() ?? pick(random, all);
    const place = edit.name.replace(/:.*/, '').replace('test of a tool', 'tool');
    if (!chosen.has(place)) chosen.set(place, edit);
  }
  return [...chosen.values()].toSorted(formatterLast);
}

/**
 * Upgrades a project, and expects that it builds, passes its tests and its self-check, that no work of its author is
 * lost, and that `--abort` undoes a conflict to the byte.
 */
export async function upgradeAndProve(old: Awaited<ReturnType<typeof oldProject>>): Promise<Outcome> {
  const { project, version, name, platform, packageManager, made } = old;
  const { directory } = project;
  const before = bytesOf(directory);
  const first = await upgrade(directory);
  const { files, details } = resultOf(first);
  const open = details.length;
  for (const { task = '' } of made) expect(details.join('\n'), name).toContain(task);
  await expectPatches(directory, files);
  if (open > 0) {
    expect(
      made.some(({ mayConflict, task }) => mayConflict || task),
      `${name}: ${first.stderr}`,
    ).toBe(true);
    expectKept(project, files);
    if (files.some(({ kind }) => kind === 'conflict')) {
      const refused = await upgrade(directory, '--continue');
      expect(refused.status, refused.stderr).toBe(1);
    }
    const aborted = await upgrade(directory, '--abort');
    expect(aborted.status, aborted.stderr).toBe(0);
    expect(bytesOf(directory)).toEqual(before);
    resultOf(await upgrade(directory));
    expectUntouched(project, files, before);
    resolveAll(directory, files);
    const finished = await upgrade(directory, '--continue');
    expect(finished.status, finished.stderr).toBe(0);
  } else {
    expectKept(project, files);
    expectUntouched(project, files, before);
  }

  lendModules(directory);
  const built = await compile(directory);
  expect(built.status, `${name} (${made.map((edit) => edit.name).join('; ')})\n${built.stdout}`).toBe(0);
  const { report, unitTests } = await prove(directory);
  const broken = report.rules.filter(({ id, level }) => level === 'must' && !authorsOwn.test(id));
  const failures = failuresOf({
    rules: broken.map((rule) => ({
      ...rule,
      problems: rule.problems.filter(({ actual }) => !inventedByOldProgram.test(String(actual))),
    })),
  }).filter((failure) => (failure as { problems: unknown[] }).problems.length > 0);
  expect(failures, `${name}: ${JSON.stringify(failures)}`).toEqual([]);
  // The tool's own tests make the same calls as the self-check, and fail with the same message.
  if (!inventedByOldProgram.test(JSON.stringify(broken))) expect(unitTests.status, unitTests.stdout).toBe(0);
  rmSync(join(directory, 'node_modules'));

  const after = bytesOf(directory);
  const again = await upgrade(directory, '--force');
  expect(JSON.parse(again.stdout), name).toMatchObject({ ok: true, files: [] });
  expect(bytesOf(directory)).toEqual(after);
  const count = (kind: UpgradedFile['kind']) => files.filter((file) => file.kind === kind).length;
  return {
    version,
    project: name,
    platform,
    packageManager,
    edits: made.map((edit) => edit.name),
    files: files.length,
    merged: count('merged') + count('imports'),
    overruled: count('overruled'),
    open,
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
  /** Conflicts and open tasks. */
  readonly details: readonly string[];
} {
  expect([0, 1], stderr).toContain(status);
  if (status === 0) return { files: JSON.parse(stdout).files, details: [] };
  const { error } = JSON.parse(stderr);
  expect(error.code).toBe('UPGRADE_CONFLICTS');
  return error;
}

/**
 * Expects each patch to apply to the commit before the upgrade: a proposal to the author's text, and a kept edit in reverse, as
 * the author's text contains it. What a patch of an edit leaves then is the text of the earlier version.
 */
async function expectPatches(directory: string, files: readonly UpgradedFile[]): Promise<void> {
  const patched = files.filter(({ patch, why }) => patch !== undefined && why !== 'other repository');
  if (patched.length === 0) return;
  const clone = `${directory}-before`;
  await git(directory, 'clone', '--quiet', '.', clone);
  for (const { path, kind, patch = '' } of patched) {
    const place = join(directory, patch);
    if (kind !== 'overruled') {
      await git(clone, 'apply', '--check', place);
      continue;
    }
    const before = readFileSync(join(clone, path));
    await git(clone, 'apply', '--reverse', place);
    await git(clone, 'apply', place);
    expect(readFileSync(join(clone, path)).equals(before), path).toBe(true);
  }
  rmSync(clone, { recursive: true });
}

/** Expects the author's text in its file, or in the patch that the upgrade names. */
function expectKept({ directory, kept, deleted }: EditedProject, files: readonly UpgradedFile[]): void {
  for (const { path, text } of kept) {
    if (deleted.has(path)) continue;
    const patch = files.find((file) => file.path === path)?.patch;
    const places = [path, ...(patch === undefined ? [] : [patch])].map((place) => join(directory, place));
    const texts = places.filter(existsSync).map((place) => readFileSync(place, 'latin1'));
    expect(
      texts.join('\n'),
      `${path}: ${JSON.stringify(files.find((file) => file.path === path))}`,
    ).toContain(text);
  }
  for (const path of deleted) expect(existsSync(join(directory, path)), path).toBe(false);
}

/** Expects tools, tests and the author's other files to be unchanged, except for imports of moved modules. */
function expectUntouched(
  { untouchable }: EditedProject,
  files: readonly UpgradedFile[],
  before: ReadonlyMap<string, string>,
): void {
  const after = bytesOf(directoryOf(before));
  const moved = files.filter(({ kind }) => kind === 'imports').map(({ path }) => path);
  const own = [...before.keys()].filter(
    (path) => untouchable.has(path) || (/^(src|test)\/tools\//.test(path) && path !== 'src/tools/index.ts'),
  );
  for (const path of own) if (!moved.includes(path)) expect(after.get(path), path).toBe(before.get(path));
}

const directories = new WeakMap<ReadonlyMap<string, string>, string>();

function directoryOf(files: ReadonlyMap<string, string>): string {
  return directories.get(files) ?? '';
}

/** Every file except git's and installed or built ones: its mode and bytes. */
export function bytesOf(directory: string): ReadonlyMap<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(directory, path), path] as const)
    .filter(([path]) => !/^(\.git|node_modules|dist)\//.test(path))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, place]) => [path, `${statSync(place).mode} ${readFileSync(place, 'latin1')}`] as const);
  const bytes = new Map(files);
  directories.set(bytes, directory);
  return bytes;
}

/** Resolves each conflict with this version's side, and removes what imports a removed module. */
function resolveAll(directory: string, files: readonly UpgradedFile[]): void {
  for (const { path, kind, why, patch = '' } of files) {
    if (why === 'other repository') execFileSync('git', ['apply', patch], { cwd: directory });
    if (kind !== 'conflict') continue;
    const place = join(directory, path);
    const text = readFileSync(place, 'latin1');
    writeFileSync(
      place,
      text.replace(/<<<<<<< yours\r?\n[\s\S]*?=======\r?\n([\s\S]*?)(?:>>>>>>> [^\n]*(?:\n|$))/g, '$1'),
      'latin1',
    );
  }
  rmSync(join(directory, 'src/lib/gone.ts'), { force: true });
}

async function git(directory: string, ...args: readonly string[]): Promise<void> {
  const ran = await run('git', args, { cwd: directory, env: identity });
  if (ran.status !== 0) throw new Error(ran.stderr);
}
