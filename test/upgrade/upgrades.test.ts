import { expect, it } from 'vitest';
import { commonFilesOf } from '../../src/changes/upgrade/common-files.ts';
import { mapConcurrently } from '../../src/contract/concurrency.ts';
import { readAnyManifest } from '../../src/project/manifest.ts';
import { importsIn } from '../../src/project/tools-index.ts';
import { scratch } from '../e2e/support.ts';
import { seed } from '../random.ts';
import { edits } from './edits.ts';
import { oldProgram } from './old-program.ts';
import { bytesOf, type Outcome, oldProject, upgradeAndProve } from './scenario.ts';
import { writeTable } from './table.ts';

/** All projects and the page only on request: `npm run upgrades`. */
const isWhole = process.env.UPGRADES_PAGE !== undefined;
const projects = isWhole ? 40 : 6;

it(`upgrades ${projects} randomly edited projects of version 0.1.0 without a loss`, async () => {
  oldProgram();
  const root = scratch();
  const numbers = Array.from({ length: projects }, (_, index) => index);
  const failures: string[] = [];
  const outcomes = await mapConcurrently(numbers, 2, async (index): Promise<readonly Outcome[]> => {
    const old = await oldProject(root, index, seed);
    try {
      return [await upgradeAndProve(old)];
    } catch (error) {
      failures.push(
        `${old.name} (${old.made.map(({ name }) => name).join('; ')}): ${(error as Error).message}`,
      );
      return [];
    }
  }).then((all) => all.flat());
  expect(failures).toEqual([]);
  const made = new Set(outcomes.flatMap((outcome) => outcome.edits));
  console.log(`${outcomes.length} upgraded, ${made.size} of ${edits.length} kinds of edits`);
  if (isWhole) {
    expect([...made].toSorted()).toEqual(edits.map(({ name }) => name).toSorted());
    writeTable(outcomes, seed);
  }
}, 1_800_000);

it('the archive of version 0.1.0 gives exactly the files that its program writes', async () => {
  const root = scratch();
  for (const index of [0, 1, 2, 3]) {
    const { project } = await oldProject(root, index, seed, []);
    const { directory } = project;
    const tools = importsIn(project.text('src/tools/index.ts'));
    const { base } = commonFilesOf(readAnyManifest(directory), tools);
    for (const [path, { content }] of base)
      expect(Buffer.from(content).toString(), path).toBe(project.text(path));
    const rest = [...bytesOf(directory).keys()].filter((path) => !base.has(path));
    expect(rest.filter((path) => !/^((src|test)\/tools\/|market-mcp\.json$)/.test(path))).toEqual([]);
  }
});
