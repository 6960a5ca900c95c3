import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { failuresOf, prove, run, scaffold, scratch } from '../e2e/support.ts';
import { record } from './figures.ts';
import { installToolchain, nodeDirectory } from './toolchain.ts';

const root = scratch();
let directory: string;

beforeAll(installToolchain);
beforeAll(async () => {
  directory = (await scaffold(['nodes'], { cwd: root })).directory;
});

it.each([20, 22, 24] as const)('one generated server runs on Node %i', async (major) => {
  const node = join(nodeDirectory(major), 'node');
  const { stdout: version } = await run(node, ['--version']);
  expect(version).toMatch(new RegExp(`^v${major}\\.`));
  const { report, unitTests } = await prove(directory, node);
  expect(failuresOf(report)).toEqual([]);
  expect(unitTests, unitTests.stdout).toMatchObject({ status: 0 });
  record(`node-${major}`, { version: version.slice(1), passed: report.summary.passed });
});
