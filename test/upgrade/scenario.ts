import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { expect } from 'vitest';
import type { UpgradedFile } from '../../src/changes/upgrade/plan-upgrade.ts';
import { bins, compile, failuresOf, lendModules, prove, type Ran, run } from '../e2e/support.ts';
import { answering, inPath, openApi } from '../e2e/upstreams.ts';
import { randomSpecs } from '../reliability/random-specs.ts';
import { type OldVersion, oldProgram } from './old-program.ts';

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

/** How to make a project with an earlier version. */
interface OldProject {
  /** An absent directory. */
  readonly directory: string;
  readonly version: OldVersion;
  readonly flags?: readonly string[];
  /** Creates tools of random specs; tools of an API if absent. */
  readonly random?: () => number;
  /** Changes files as the author. */
  edit?(directory: string): void;
}

/** Makes a project with an earlier version, lets its author change it, and commits it. */
export async function makeOldProject(options: OldProject): Promise<void> {
  const { directory, version, flags = [], random = null } = options;
  await createWith(oldProgram(version).create, directory, flags, random);
  options.edit?.(directory);
  await git(directory, 'init', '--quiet');
  await git(directory, 'add', '--all');
  await git(directory, 'commit', '--quiet', '--message', 'before');
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

/** What an upgrade did with the files of a project, and how many rules the project passed after it. */
export interface UpgradeFigures {
  readonly kinds: readonly UpgradedFile['kind'][];
  readonly passedRules: number;
}

/**
 * Upgrades a project, and expects that the printed lines undo the upgrade to the byte, and that the upgraded project builds, passes its
 * tests and its self-check, and needs no second upgrade.
 */
export async function upgradeAndProve(directory: string): Promise<UpgradeFigures> {
  const before = bytesOf(directory);
  const first = await upgrade(directory);
  const { details, undo, files } = resultOf(first);
  expect(details, first.stderr).toEqual([]);
  for (const line of undo.filter((command) => command.startsWith('git ')))
    execFileSync('sh', ['-c', line], { cwd: directory });
  expect(bytesOf(directory)).toEqual(before);
  resultOf(await upgrade(directory));

  lendModules(directory);
  const built = await compile(directory);
  expect(built.status, built.stdout).toBe(0);
  const { report, unitTests } = await prove(directory);
  const rules = report.rules.filter(({ id, level }) => level === 'must' && !authorsOwn.test(id));
  expect(failuresOf({ rules })).toEqual([]);
  expect(unitTests.status, unitTests.stdout).toBe(0);
  rmSync(join(directory, 'node_modules'));

  const after = bytesOf(directory);
  const again = await upgrade(directory);
  expect(JSON.parse(again.stdout)).toMatchObject({ ok: true, files: [] });
  expect(bytesOf(directory)).toEqual(after);
  const passedRules = report.rules.filter(({ status }) => status === 'pass').length;
  return { kinds: files.map(({ kind }) => kind), passedRules };
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
  const { error } = JSON.parse(stdout);
  expect(error.code).toBe('UPGRADE_CONFLICTS');
  return error;
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
