import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mapConcurrently } from '../../packages/contract/src/wire/concurrency.ts';
import { commonFilesOf } from '../../src/changes/upgrade/common-files.ts';
import { version } from '../../src/plan/versions.ts';
import { readManifest } from '../../src/project/manifest/manifest.ts';
import { type Release, releaseIn } from '../../src/project/package/releases.ts';
import { importsIn } from '../../src/project/read/tools-index.ts';
import { bins, repository, scratch, tree } from '../e2e/support.ts';
import { randomFrom, seed } from '../random.ts';
import { edits } from './edits.ts';
import { oldProgram, oldVersions } from './old-program.ts';
import { createWith, identity, type Outcome, oldProject, upgradeAndProve } from './scenario.ts';
import { writeTable } from './table.ts';

/** All projects and the page only on request: `npm run docs upgrades`. */
const isWhole = process.env.UPGRADES_PAGE !== undefined;
/** The sample has one of each platform and package manager, and one of an API. */
const numbers = isWhole ? Array.from({ length: 40 }, (_, index) => index) : [1, 2];

const outcomes: Outcome[] = [];

it.each(oldVersions)(
  `upgrades ${numbers.length} randomly edited projects of version %s without a loss`,
  async (version) => {
    oldProgram(version);
    const root = scratch();
    const failures: string[] = [];
    await mapConcurrently(numbers, 2, async (index) => {
      const old = await oldProject({ root, version, index, seed });
      try {
        outcomes.push(await upgradeAndProve(old));
      } catch (error) {
        failures.push(
          `${old.name} (${old.made.map(({ name }) => name).join('; ')}): ${(error as Error).message}`,
        );
      }
    });
    expect(failures).toEqual([]);
    const upgraded = outcomes.filter((outcome) => outcome.version === version);
    const made = new Set(upgraded.flatMap((outcome) => outcome.edits));
    console.log(`${upgraded.length} of ${version} upgraded, ${made.size} of ${edits.length} kinds of edits`);
    if (isWhole) {
      expect([...made].toSorted()).toEqual(edits.map(({ name }) => name).toSorted());
      writeTable(outcomes, seed);
    }
  },
  1_800_000,
);

it.each(oldVersions)(
  'the archive of version %s gives exactly the files that its program writes',
  async (version) => {
    const root = scratch();
    for (const index of [1, 2]) {
      const { project } = await oldProject({ root, version, index, seed, chosen: [] });
      expectBase(project.directory);
    }
  },
);

it('an archive of this version gives exactly the files that it writes', async () => {
  const root = scratch();
  execFileSync(process.execPath, ['scripts/archive-release.js', commitOfFiles(root), root], {
    cwd: repository,
  });
  const release = releaseIn(readFileSync(join(root, `${version}.br`)));
  for (const [name, random] of [
    ['plain', randomFrom(seed)],
    ['api', null],
  ] as const) {
    await createWith(bins.create, join(root, name), [], random);
    expectBase(join(root, name), release);
  }
});

/** A commit of the working tree; it has an index of its own, since other tests lock that of the repository. */
function commitOfFiles(directory: string): string {
  const env = { ...process.env, ...identity, GIT_INDEX_FILE: join(directory, 'index') };
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: repository, env, encoding: 'utf8' }).trim();
  git('read-tree', 'HEAD');
  git('add', '--update');
  return git('commit-tree', git('write-tree'), '-p', 'HEAD', '-m', 'the working tree');
}

/** Expects the files that belong to no tool to be those of `base`, and all others to belong to tools, APIs or the program. */
function expectBase(directory: string, release?: Release): void {
  const files = tree(directory);
  const tools = importsIn(files.get('src/tools/index.ts') ?? '');
  const { base } = commonFilesOf(readManifest(directory), tools, release);
  for (const [path, { content }] of base) expect(Buffer.from(content).toString(), path).toBe(files.get(path));
  const rest = [...files.keys()].filter((path) => !base.has(path));
  const others =
    /^((src|test)\/tools\/|vendor\/|market-mcp\.json$|src\/(apis\/|env\.ts$)|test\/recordings\/)/;
  expect(rest.filter((path) => !others.test(path) && !path.startsWith('.git/'))).toEqual([]);
}
